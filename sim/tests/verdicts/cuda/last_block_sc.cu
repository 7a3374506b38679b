// The same with fences of sequential consistency around plain atomics, and the barrier between them.
#include <cuda/atomic>
enum Twin { right, block_fence, one_fence };

template <Twin T> __global__ void last_block_sc(const int* in, int* parts, unsigned* ticket, int* out) {
    __shared__ bool last;
    int t = threadIdx.x;
    parts[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t] * 2;
    constexpr auto scope = T == block_fence ? cuda::thread_scope_block : cuda::thread_scope_device;
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, scope);
    __syncthreads();
    if (t == 0) last = atomicAdd(ticket, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        if (T != one_fence) cuda::atomic_thread_fence(cuda::memory_order_seq_cst, scope);
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += parts[b * 32 + t];
        out[t] = sum;
    }
}
