// Two blocks each raise a flag and look at the other's: with fences of sequential consistency one at least sees it.
#include <cuda/atomic>
enum Twin { right, plain_flags };

template <Twin T> __global__ void store_load(int* flags, int* seen) {
    int me = blockIdx.x;
    if (T == plain_flags) {
        flags[me] = 1;
        __threadfence();
        seen[me] = flags[me ^ 1];
    } else {
        cuda::atomic_ref<int, cuda::thread_scope_device>(flags[me]).store(1, cuda::memory_order_relaxed);
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
        seen[me] = cuda::atomic_ref<int, cuda::thread_scope_device>(flags[me ^ 1]).load(cuda::memory_order_relaxed);
    }
}
