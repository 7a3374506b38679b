// One block of a cluster loads a tile into the shared memory of all (sm_90a).
#include <cuda/ptx>
#include <cooperative_groups.h>
namespace ptx = cuda::ptx;
namespace cg = cooperative_groups;
enum Twin { right, no_first_sync, no_wait, one_block, others_expect_none };

template <Twin T> __global__ void __cluster_dims__(2, 1, 1) multicast(const int* in, int* out) {
    __shared__ alignas(128) int tile[64];
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        if (T != others_expect_none || rank == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 256);
    }
    if (T == no_first_sync) __syncthreads();
    else cluster.sync();
    if (rank == 0 && t == 0) ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, 256, &bar, T == one_block ? (uint16_t)1 : (uint16_t)3);
    if (T != no_wait) while (!ptx::mbarrier_try_wait_parity(&bar, 0));
    out[blockIdx.x * 64 + t] = tile[t ^ 5] + rank;
    cluster.sync();
}
