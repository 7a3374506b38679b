// The grid's barrier of cooperative groups.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum Twin { right, no_sync, block_sync };

template <Twin T> __global__ void grid_sync(int* data, int* out) {
    auto grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int round = 0; round < 2; round++) {
        data[i] = i * (round + 1);
        if (T == block_sync) cg::this_thread_block().sync();
        else if (T != no_sync) grid.sync();
        out[i] += data[grid.size() - 1 - i];
        grid.sync();
    }
}
