// Inclusive sums in one pass: each block looks back at the sums of those before it until one knows its whole prefix.
#include <cuda/atomic>
enum Twin { right, relaxed_flag, relaxed_poll, block_scope, flag_first, no_broadcast_sync };

template <Twin T> __global__ void lookback_scan(const int* in, int* out, int* aggregates, int* prefixes, int* flags) {
    __shared__ int s[64], before;
    constexpr auto scope = T == block_scope ? cuda::thread_scope_block : cuda::thread_scope_device;
    constexpr auto store = T == relaxed_flag ? cuda::memory_order_relaxed : cuda::memory_order_release;
    constexpr auto load = T == relaxed_poll ? cuda::memory_order_relaxed : cuda::memory_order_acquire;
    int t = threadIdx.x, block = blockIdx.x;
    s[t] = in[block * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int x = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += x;
        __syncthreads();
    }
    if (t == 0) {
        int sum = 0, total = s[63];
        cuda::atomic_ref<int, scope> mine(flags[block]);
        aggregates[block] = total;
        mine.store(1, store);
        for (int b = block - 1; b >= 0;) {
            cuda::atomic_ref<int, scope> flag(flags[b]);
            int state = flag.load(load);
            if (state == 2) {
                sum += prefixes[b];
                break;
            }
            if (state == 1) sum += aggregates[b], b--;
        }
        if (T == flag_first) mine.store(2, store);
        prefixes[block] = sum + total;
        if (T != flag_first) mine.store(2, store);
        before = sum;
    }
    if (T != no_broadcast_sync) __syncthreads();
    out[block * 64 + t] = s[t] + before;
}
