// st.async: words that come with the bytes that their mbarrier counts.
#include <cuda/ptx>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
enum Twin { right, no_wait, too_few_bytes, no_first_barrier };

template <Twin T> __global__ void remote_store(const int* in, int* out) {
    __shared__ int box[32];
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank(), peer = rank ^ 1;
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, T == too_few_bytes ? 124 : 128);
    }
    if (T == no_first_barrier) __syncthreads();
    else cluster.sync();
    ptx::st_async(cluster.map_shared_rank(&box[t], peer), in[rank * 32 + t] * 2, cluster.map_shared_rank(&bar, peer));
    if (T != no_wait) while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0));
    out[rank * 32 + t] = box[t ^ 5];
    cluster.sync();
}
