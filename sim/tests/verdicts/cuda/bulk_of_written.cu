// A block writes global memory and fetches it back by a bulk copy.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
enum Twin { right, no_proxy_fence, wrong_space, no_sync, fence_before };

template <Twin T> __global__ void bulk_of_written(const int* in, int* scratch, int* out) {
    __shared__ alignas(128) int tile[64];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    if (T == fence_before) ptx::fence_proxy_async(ptx::space_global);
    scratch[t] = in[t] + 5;
    if (T == wrong_space) ptx::fence_proxy_async(ptx::space_shared);
    else if (T != no_proxy_fence && T != fence_before) ptx::fence_proxy_async(ptx::space_global);
    if (T != no_sync) __syncthreads();
    if (t == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, scratch, sizeof(tile), &bar);
    }
    if (T == no_sync) __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0));
    out[t] = tile[t ^ 3];
}
