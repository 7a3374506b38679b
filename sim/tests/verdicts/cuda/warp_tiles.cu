// wmma: tiles come to shared memory by all warps, each multiplies its own.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
enum Twin { right, no_sync, no_late_sync, wrong_pitch };

template <Twin T> __global__ void warp_tiles(const half* a, const half* b, float* c, int k) {
    __shared__ half sa[2 * 16 * 24], sb[16 * 24];
    int t = threadIdx.x, w = t / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int i = 0; i < k; i += 16) {
        for (int j = t; j < 512; j += 64) sa[j / 16 * 24 + j % 16] = a[j / 16 * k + i + j % 16];
        for (int j = t; j < 256; j += 64) sb[j / 16 * 24 + j % 16] = b[j / 16 * k + i + j % 16];
        if (T != no_sync) __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
        wmma::load_matrix_sync(fa, sa + w * 16 * 24, T == wrong_pitch ? 32 : 24);
        wmma::load_matrix_sync(fb, sb, 24);
        wmma::mma_sync(sum, fa, fb, sum);
        if (T != no_late_sync) __syncthreads();
    }
    wmma::store_matrix_sync(c + w * 256, sum, 16, wmma::mem_row_major);
}
