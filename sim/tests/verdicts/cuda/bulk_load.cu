// A tile comes by a bulk copy that an mbarrier announces.
#include <cuda/ptx>
#include <cuda/std/cstdint>
namespace ptx = cuda::ptx;
enum Twin { right, no_wait, wrong_bytes, wrong_parity, no_init_fence, no_init_sync, misaligned, overlap };

template <Twin T> __global__ void bulk_load(const int* in, int* out) {
    __shared__ alignas(128) int tile[128];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1);
        if (T != no_init_fence) ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    if (T != no_init_sync) __syncthreads();
    for (int k = 0; k < 2; k++) {
        if (t == 0) {
            uint32_t bytes = sizeof(tile);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, T == wrong_bytes ? bytes + 16 : bytes);
            const int* from = in + k * 128 + (T == misaligned ? 1 : 0);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, from, bytes, &bar);
        }
        if (T != no_wait) while (!ptx::mbarrier_try_wait_parity(&bar, T == wrong_parity ? ~k & 1 : k & 1));
        out[k * 128 + t] = tile[127 - t] + k;
        if (T != overlap) __syncthreads();
    }
}
