// Blocks add their tiles to global memory by bulk reductions.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
enum Twin { right, no_proxy_fence, plain_store, weak_read };

template <Twin T> __global__ void bulk_reduce(const int* in, int* sums) {
    __shared__ alignas(128) int tile[64];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * 64 + t];
    if (T != no_proxy_fence) ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
        if (T == plain_store) ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, sums, tile, sizeof(tile));
        else ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sums, tile, sizeof(tile));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
    __syncthreads();
    if (T == weak_read) sums[64 + blockIdx.x * 64 + t] = sums[t];
}
