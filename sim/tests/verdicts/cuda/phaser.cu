// cuda::barrier between producers and consumers of a block: one says full, the other free.
#include <cuda/barrier>
enum Twin { right, no_free_wait, no_full_wait, no_free_arrive, fewer };
using barrier = cuda::barrier<cuda::thread_scope_block>;

template <Twin T> __global__ void phaser(const int* in, int* out, int n) {
    __shared__ int buffer[32];
    __shared__ barrier full, free_;
    int t = threadIdx.x % 32;
    if (threadIdx.x == 0) init(&full, T == fewer ? 32 : 64), init(&free_, 64);
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < n; i++) {
            if (T != no_free_wait) free_.arrive_and_wait();
            buffer[t] = in[i * 32 + t];
            (void)full.arrive();
        }
    } else {
        if (T != no_free_arrive && T != no_free_wait) (void)free_.arrive();
        for (int i = 0; i < n; i++) {
            if (T != no_full_wait) full.arrive_and_wait();
            else (void)full.arrive();
            out[i * 32 + t] = buffer[t ^ 3] + i;
            if (T != no_free_wait && i + 1 < n) (void)free_.arrive();
        }
    }
}
