// The fragments of <mma.h>: each shape, type and layout. D = A B + C, a warp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;

template <int M, int N, int K, typename A, typename T, typename LA, typename LB, typename S, typename SA>
__device__ void product(const T* a, const T* b, const S* c, S* d, int lda, int ldb, layout_t lc) {
    fragment<matrix_a, M, N, K, A, LA> fa;
    fragment<matrix_b, M, N, K, A, LB> fb;
    fragment<accumulator, M, N, K, SA> fc;
    load_matrix_sync(fa, a, lda);
    load_matrix_sync(fb, b, ldb);
    load_matrix_sync(fc, c, lc == mem_row_major ? N : M, lc);
    mma_sync(fc, fa, fb, fc);
    store_matrix_sync(d, fc, lc == mem_row_major ? N : M, lc);
}

#define KERNEL(name, M, N, K, A, T, LA, LB, S, LC)                                                       \
    extern "C" __global__ void name(const T* a, const T* b, const S* c, S* d) {                          \
        product<M, N, K, A, T, LA, LB, S, S>(a, b, c, d, LA##_PITCH(M, K), LB##_PITCH(K, N), mem_##LC##_major); \
    }
#define row_major_PITCH(rows, columns) columns
#define col_major_PITCH(rows, columns) rows

KERNEL(f16_rrr, 16, 16, 16, __half, __half, row_major, row_major, float, row)
KERNEL(f16_rcc, 16, 16, 16, __half, __half, row_major, col_major, float, col)
KERNEL(f16_crr_wide, 8, 32, 16, __half, __half, col_major, row_major, __half, row)
KERNEL(f16_ccc_tall, 32, 8, 16, __half, __half, col_major, col_major, __half, col)
KERNEL(bf16_rcr, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, row_major, col_major, float, row)
KERNEL(bf16_crc_wide, 8, 32, 16, __nv_bfloat16, __nv_bfloat16, col_major, row_major, float, col)
KERNEL(tf32_rcr, 16, 16, 8, precision::tf32, float, row_major, col_major, float, row)
KERNEL(tf32_crc, 16, 16, 8, precision::tf32, float, col_major, row_major, float, col)
KERNEL(f64_rcr, 8, 8, 4, double, double, row_major, col_major, double, row)
KERNEL(f64_crc, 8, 8, 4, double, double, col_major, row_major, double, col)
KERNEL(s8_rcr, 16, 16, 16, signed char, signed char, row_major, col_major, int, row)
KERNEL(u8_crc_tall, 32, 8, 16, unsigned char, unsigned char, col_major, row_major, int, col)
KERNEL(s8_rrr_wide, 8, 32, 16, signed char, signed char, row_major, row_major, int, row)

extern "C" __global__ void s4_rcr(const int* a, const int* b, const int* c, int* d) {
    product<8, 8, 32, experimental::precision::s4, void, row_major, col_major, int, int>(a, b, c, d, 32, 32, mem_row_major);
}
extern "C" __global__ void u4_rcc(const int* a, const int* b, const int* c, int* d) {
    product<8, 8, 32, experimental::precision::u4, void, row_major, col_major, int, int>(a, b, c, d, 32, 32, mem_col_major);
}
extern "C" __global__ void b1_xor(const int* a, const int* b, const int* c, int* d) {
    fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> fa;
    fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> fb;
    fragment<accumulator, 8, 8, 128, int> fc;
    load_matrix_sync(fa, a, 128);
    load_matrix_sync(fb, b, 128);
    load_matrix_sync(fc, c, 8, mem_row_major);
    bmma_sync(fc, fa, fb, fc, experimental::bmmaBitOpXOR);
    store_matrix_sync(d, fc, 8, mem_row_major);
    bmma_sync(fc, fa, fb, fc, experimental::bmmaBitOpAND);
    store_matrix_sync(d + 64, fc, 8, mem_row_major);
}

// A tiled product of 64 x 64 x k through shared memory, four warps, with an epilogue on the fragment's elements.
extern "C" __global__ void gemm(const __half* a, const __half* b, float* c, int n, int k, float alpha) {
    __shared__ __half ta[64][24], tb[16][72];
    int warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
    fragment<accumulator, 16, 16, 16, float> sums[4];
    for (int i = 0; i < 4; i++) fill_fragment(sums[i], 0.0f);
    for (int t = 0; t < k; t += 16) {
        for (int i = threadIdx.x; i < 64 * 16; i += 128) {
            ta[i / 16][i % 16] = a[(row + i / 16) * k + t + i % 16];
            tb[i / 64][i % 64] = b[(t + i / 64) * n + column + i % 64];
        }
        __syncthreads();
        fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
        fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
        load_matrix_sync(fa, &ta[warp * 16][0], 24);
        for (int i = 0; i < 4; i++) {
            load_matrix_sync(fb, &tb[0][i * 16], 72);
            mma_sync(sums[i], fa, fb, sums[i]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < sums[i].num_elements; j++) sums[i].x[j] = alpha * sums[i].x[j] + 1.0f;
        store_matrix_sync(c + (row + warp * 16) * n + column + i * 16, sums[i], n, mem_row_major);
    }
}
