// Blocks of a cluster read one another's shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum Twin { right, no_first_barrier, no_last_barrier, block_barrier, next_rank };

template <Twin T> __global__ void cluster_exchange(const int* in, int* out) {
    __shared__ int s[64];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    if (T == block_barrier) __syncthreads();
    else if (T != no_first_barrier) cluster.sync();
    int rank = cluster.block_rank() ^ 1;
    int* peer = cluster.map_shared_rank(s, T == next_rank ? rank + 2 : rank);
    out[i] = peer[63 - t];
    if (T != no_last_barrier) cluster.sync();
}
