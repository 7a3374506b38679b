// How threads work together: groups, votes, matches, atomics, asynchronous copies, barriers with reductions.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

// A sum over a tile of threads.
template <typename Tile, typename T> __device__ T sum_of(Tile tile, T x) {
    for (int d = tile.size() / 2; d > 0; d /= 2) x += tile.shfl_xor(x, d);
    return x;
}

extern "C" __global__ void groups(const int* in, int* out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int x = in[block.thread_rank()];
    int sum = sum_of(tile, x);
    int before = tile.shfl_up(x, 1);
    int odd = 0;
    if (x & 1) {
        auto active = cg::coalesced_threads();
        odd = active.size() * 100 + active.thread_rank();
    }
    block.sync();
    int* o = out + block.thread_rank() * 6;
    o[0] = sum;
    o[1] = tile.thread_rank() ? before : -1;
    o[2] = odd;
    o[3] = tile.any(x > 90) * 2 + tile.all(x > 5);
    o[4] = tile.match_any(x & 3);
    o[5] = tile.ballot(x & 1);
}

extern "C" __global__ void votes(const int* in, int* out) {
    int x = in[threadIdx.x];
    int* o = out + threadIdx.x * 8;
    o[0] = __syncthreads_count(x & 1);
    o[1] = __syncthreads_and(x > 0);
    o[2] = __syncthreads_or(x > 98);
    o[3] = __ballot_sync(0xffffffff, x > 50);
    o[4] = __reduce_add_sync(0xffffffff, x);
    o[5] = __reduce_max_sync(0xffffffff, x - 50);
    int all;
    o[6] = __match_all_sync(0xffffffff, x >> 8, &all) + all;
    o[7] = __fns(__ballot_sync(0xffffffff, x & 1), 0, threadIdx.x % 8 + 1);
}

extern "C" __global__ void atomics(const int* in, unsigned* words, unsigned long long* longs, double* sums, __half2* pairs) {
    int i = threadIdx.x, x = in[i];
    atomicAdd(&words[0], x);
    atomicSub(&words[1], x);
    atomicMin((int*)&words[2], x);
    atomicMax(&words[3], x);
    atomicAnd(&words[4], ~(1u << (x & 31)));
    atomicOr(&words[5], 1u << (x & 31));
    atomicXor(&words[6], x);
    atomicInc(&words[7], 20);
    atomicDec(&words[8], 20);
    atomicAdd((float*)&words[9], (float)x);
    unsigned old = words[10], seen;
    do {
        seen = old;
        old = atomicCAS(&words[10], seen, seen * 3 + 1);
    } while (seen != old);
    atomicMax(&longs[0], (unsigned long long)x << 33);
    atomicAdd(&longs[1], (unsigned long long)x * x << 20);
    atomicExch(&longs[2], 77ull);
    atomicAdd(&sums[0], 0.5 * x);
    atomicAdd(pairs, __floats2half2_rn(1.0f, 2.0f));
    __nv_atomic_fetch_add(&words[11], (unsigned)x, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
}

// Every block adds its sum; the last one to finish writes the total.
extern "C" __global__ void last_block(const float* in, float* sums, unsigned* done, float* total, int n) {
    __shared__ bool last;
    float x = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x += in[i];
    x = sum_of(cg::tiled_partition<32>(cg::this_thread_block()), x);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = x;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned i = 0; i < gridDim.x; i++) all += ((volatile float*)sums)[i];
        *total = all;
    }
}

// Blocks of 32 threads: two tiles of four words a thread in flight.
extern "C" __global__ void pipeline(const int4* in, int4* out, int tiles) {
    __shared__ int4 stage[2][32];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&stage[0][i], &in[i], 16);
    __pipeline_commit();
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles) __pipeline_memcpy_async(&stage[(t + 1) % 2][i], &in[(t + 1) * 32 + i], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        int4 x = stage[t % 2][31 - i];
        x.x += t;
        out[t * 32 + i] = x;
        __syncthreads();
    }
}

extern "C" __global__ void bits(const unsigned* x, const unsigned* y, unsigned* out) {
    int i = threadIdx.x;
    unsigned a = x[i], b = y[i];
    unsigned* o = out + i * 20;
    o[0] = __dp4a((int)a, (int)b, 5);
    o[1] = __dp4a(a, b, 5u);
    o[2] = __dp2a_lo((int)a, (int)b, 7);
    o[3] = __funnelshift_l(a, b, a);
    o[4] = __funnelshift_rc(a, b, 40);
    o[5] = __byte_perm(a, b, b);
    o[6] = __brev(a);
    o[7] = __clz(a) * 33 + __ffs(b);
    o[8] = __popc(a ^ b);
    o[9] = __sad((int)a, (int)b, 9);
    o[10] = __mul24((int)a, (int)b) + __umul24(a, b);
    o[11] = __mulhi((int)a, (int)b) ^ __umulhi(a, b);
    o[12] = __vadd4(a, b);
    o[13] = __vabsdiffu4(a, b);
    o[14] = __vmaxs2(a, b);
    o[15] = __vcmpgtu4(a, b);
    o[16] = __rhadd((int)a, (int)b) + __uhadd(a, b);
    o[17] = __vsadu4(a, b);
    o[18] = a / (b | 1) + a % (b | 1);
    o[19] = (unsigned)((int)a / (int)(b | 1)) ^ (unsigned)((int)a % (int)(b | 1));
}

__global__ void spin(long long* out) {
    long long start = clock64();
    while (clock64() - start < 100) __nanosleep(10);
    out[threadIdx.x] = __isShared(out) + 2 * __isGlobal(out);
}
template <int N> __global__ void scale(float* x) { x[threadIdx.x] *= N; }
template __global__ void scale<3>(float*);
