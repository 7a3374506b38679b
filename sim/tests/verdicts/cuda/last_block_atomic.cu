// The same with an atomic of <cuda/atomic> that acquires and releases.
#include <cuda/atomic>
enum Twin { right, relaxed, block_scope, release_only };

template <Twin T> __global__ void last_block_atomic(const int* in, int* parts, unsigned* ticket, int* out) {
    __shared__ bool last;
    int t = threadIdx.x;
    parts[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t] * 2;
    __syncthreads();
    if (t == 0) {
        auto order = T == relaxed        ? cuda::memory_order_relaxed
                     : T == release_only ? cuda::memory_order_release
                                         : cuda::memory_order_acq_rel;
        unsigned before;
        if (T == block_scope)
            before = cuda::atomic_ref<unsigned, cuda::thread_scope_block>(*ticket).fetch_add(1, order);
        else
            before = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*ticket).fetch_add(1, order);
        last = before == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += parts[b * 32 + t];
        out[t] = sum;
    }
}
