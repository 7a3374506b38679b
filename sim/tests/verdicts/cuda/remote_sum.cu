// Blocks of a cluster send their sums to the first one by st.async, which waits for the bytes.
#include <cuda/ptx>
#include <cooperative_groups.h>
namespace ptx = cuda::ptx;
namespace cg = cooperative_groups;
enum Twin { right, no_wait, fewer_bytes, more_bytes, no_cluster_sync, early_exit };

template <Twin T> __global__ void __cluster_dims__(4, 1, 1) remote_sum(const int* in, int* out) {
    __shared__ int part[4];
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        if (rank == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, T == fewer_bytes ? 12 : T == more_bytes ? 20 : 16);
    }
    if (T == no_cluster_sync) __syncthreads();
    else cluster.sync();
    int x = __reduce_add_sync(~0u, in[blockIdx.x * 32 + t]);
    if (t == 0) ptx::st_async(cluster.map_shared_rank(&part[rank], 0), x, cluster.map_shared_rank(&bar, 0));
    if (rank == 0 && T != early_exit) {
        if (T != no_wait) while (!ptx::mbarrier_try_wait_parity(&bar, 0));
        if (t == 0) *out = part[0] + part[1] + part[2] + part[3];
    }
}
