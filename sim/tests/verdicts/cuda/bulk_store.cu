// Tiles are made in shared memory and leave it by bulk copies.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
enum Twin { right, no_proxy_fence, no_sync, no_read_wait, no_commit, no_last_wait, wrong_space };

template <Twin T> __global__ void bulk_store(const int* in, int* out) {
    __shared__ alignas(128) int tile[128];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        tile[t] = in[k * 128 + t] * 2;
        if (T == wrong_space) ptx::fence_proxy_async(ptx::space_global);
        else if (T != no_proxy_fence) ptx::fence_proxy_async(ptx::space_shared);
        if (T != no_sync) __syncthreads();
        if (t == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + k * 128, tile, sizeof(tile));
            if (T != no_commit) ptx::cp_async_bulk_commit_group();
            if (T != no_read_wait && !(T == no_last_wait && k == 1)) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
}
