// A block tells its peer by an arrival at the peer's mbarrier that a word of it has come.
#include <cuda/ptx>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
enum Twin { right, no_wait, relaxed_arrive, block_acquire, no_first_barrier };

template <Twin T> __global__ void cluster_arrive(const int* in, int* out) {
    __shared__ int box[32];
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t == 0) {
        ptx::mbarrier_init(&bar, 32);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    if (T == no_first_barrier) __syncthreads();
    else cluster.sync();
    int peer = rank ^ 1;
    cluster.map_shared_rank(box, peer)[t] = in[rank * 32 + t] + rank;
    uint64_t* theirs = cluster.map_shared_rank(&bar, peer);
    if (T == relaxed_arrive) {
        unsigned address;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"((unsigned)__cvta_generic_to_shared(&bar)), "r"(peer));
        asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(address) : "memory");
    } else {
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, theirs);
    }
    if (T == block_acquire) while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &bar, 0));
    else if (T != no_wait) while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0));
    out[rank * 32 + t] = box[t ^ 7];
    cluster.sync();
}
