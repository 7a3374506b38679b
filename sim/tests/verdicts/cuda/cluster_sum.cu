// Every block of a cluster adds its sum into the first one's shared memory, which stays until all have.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum Twin { right, no_first_sync, no_last_sync, plain_add, no_zero };

template <Twin T> __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int* in, int* out) {
    __shared__ int total;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    if (T != no_zero && t == 0) total = 0;
    if (T == no_first_sync) __syncthreads();
    else cluster.sync();
    int* first = cluster.map_shared_rank(&total, 0);
    int x = in[blockIdx.x * 32 + t];
    if (T == plain_add) *first += x;
    else atomicAdd(first, x);
    if (T != no_last_sync) cluster.sync();
    else if (cluster.block_rank() == 0) __nanosleep(1000);
    if (cluster.block_rank() == 0 && t == 0) *out = total;
}
