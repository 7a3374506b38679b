// Cooperative groups: tiles of 8 threads share words of shared memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
enum Twin { right, no_tile_sync, smaller_tile };

template <Twin T> __global__ void tiles(const int* in, int* out) {
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto waiting = cg::tiled_partition<4>(block);
    int t = block.thread_rank();
    s[t] = in[t];
    if (T == smaller_tile) waiting.sync();
    else if (T != no_tile_sync) tile.sync();
    int x = s[t ^ 7];
    int sum = cg::reduce(tile, x, cg::plus<int>());
    if (x > 50) {
        auto active = cg::coalesced_threads();
        sum += active.shfl(x, 0) * active.size();
    }
    out[t] = sum + tile.meta_group_rank();
}
