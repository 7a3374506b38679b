// What a bulk copy has stored is read by another block that a flag tells.
#include <cuda/atomic>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
enum Twin { right, no_wait, read_wait, relaxed_flag };

template <Twin T> __global__ void bulk_store_flag(const int* in, int* box, int* flag, int* out) {
    __shared__ alignas(128) int tile[64];
    int t = threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        tile[t] = in[t] * 3;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (t == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, box, tile, sizeof(tile));
            ptx::cp_async_bulk_commit_group();
            if (T == read_wait) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
            else if (T != no_wait) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
            ready.store(1, T == relaxed_flag ? cuda::memory_order_relaxed : cuda::memory_order_release);
            if (T == no_wait) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        }
    } else {
        if (t == 0) while (ready.load(cuda::memory_order_acquire) == 0);
        __syncthreads();
        out[t] = box[63 - t];
    }
}
