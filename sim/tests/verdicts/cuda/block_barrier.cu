// cuda::barrier: threads arrive, do something of their own, and wait.
#include <cuda/barrier>
enum Twin { right, no_wait, too_many_expected, no_init_sync, old_phase };

template <Twin T> __global__ void block_barrier(const int* in, int* out) {
    __shared__ int s[64];
    __shared__ alignas(8) cuda::barrier<cuda::thread_scope_block> bar;
    int t = threadIdx.x;
    if (t == 0) init(&bar, T == too_many_expected ? 65 : 64);
    if (T != no_init_sync) __syncthreads();
    for (int k = 0; k < 2; k++) {
        s[t] = in[k * 64 + t];
        auto token = bar.arrive();
        int own = in[k * 64 + t] * 7;
        if (T != no_wait && !(T == old_phase && k == 1)) bar.wait(std::move(token));
        out[k * 64 + t] = own + s[t ^ 63];
        bar.arrive_and_wait();
    }
}
