// Results go out by bulk stores from two buffers in turn.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
enum Twin { right, no_read_wait, one_more_open, no_fence, no_sync, no_commit };

template <Twin T> __global__ void store_stages(const int* in, int* out, int n) {
    __shared__ alignas(128) int buffer[2][64];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        if (t == 0 && T != no_read_wait) {
            if (T == one_more_open) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<2>());
            else ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
        }
        __syncthreads();
        buffer[i & 1][t] = in[i * 64 + t] * 3;
        if (T != no_fence) ptx::fence_proxy_async(ptx::space_shared);
        if (T != no_sync) __syncthreads();
        if (t == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + i * 64, buffer[i & 1], 256);
            if (T != no_commit) ptx::cp_async_bulk_commit_group();
        }
    }
    if (t == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
