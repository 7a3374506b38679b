// A lock that serves blocks in the order of their tickets guards a counter and the list of who has been served.
#include <cuda/atomic>
enum Twin { right, relaxed_wait, relaxed_pass, block_scope, weak_pass };

template <Twin T> __global__ void ticket_lock(unsigned* next, unsigned* serving, int* count, int* order) {
    constexpr auto scope = T == block_scope ? cuda::thread_scope_block : cuda::thread_scope_device;
    cuda::atomic_ref<unsigned, scope> now(*serving);
    if (threadIdx.x == 0) {
        unsigned ticket = atomicAdd(next, 1);
        while (now.load(T == relaxed_wait ? cuda::std::memory_order_relaxed : cuda::std::memory_order_acquire) != ticket);
        int n = *count;
        order[n] = blockIdx.x;
        *count = n + 1;
        if (T == weak_pass) *serving = ticket + 1;
        else now.store(ticket + 1, T == relaxed_pass ? cuda::std::memory_order_relaxed : cuda::std::memory_order_release);
    }
}
