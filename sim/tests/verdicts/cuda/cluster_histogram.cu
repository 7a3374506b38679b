// Bins that are spread over the blocks of a cluster are counted from all of them.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum Twin { right, no_first_barrier, own_zeroes, no_last_barrier, plain_add };

template <Twin T> __global__ void cluster_histogram(const int* in, int* bins, int n) {
    __shared__ int part[32];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t < 32 && T != own_zeroes) part[t] = 0;
    if (T == no_first_barrier) __syncthreads();
    else cluster.sync();
    for (int i = rank * 64 + t; i < n; i += 128) {
        int* bin = cluster.map_shared_rank(part, in[i] / 32) + in[i] % 32;
        if (T == plain_add) *bin += 1;
        else atomicAdd(bin, 1);
    }
    if (T == no_last_barrier) __syncthreads();
    else cluster.sync();
    if (t < 32) bins[rank * 32 + t] = part[t];
}
