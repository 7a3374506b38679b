// All threads of a warp store the same tile by bulk copies.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
enum Twin { right, elsewhere };

template <Twin T> __global__ void bulk_same(const int* in, int* out) {
    __shared__ alignas(128) int tile[128];
    int t = threadIdx.x;
    for (int i = t; i < 128; i += 32) tile[i] = in[i] * 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    // Different parts of the tile to one place, and not the same.
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, T == elsewhere ? tile + t % 2 * 64 : tile, 256);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
