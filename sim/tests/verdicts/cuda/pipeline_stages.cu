// cuda::pipeline with stages that the threads of a block share.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
enum Twin { right, no_wait, no_release, no_commit, early_release };

template <Twin T> __global__ void pipeline_stages(const int* in, int* out, int steps) {
    __shared__ int buffers[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, sum = 0;
    for (int k = 0, fetched = 0; k < steps; k++) {
        for (; fetched < steps && fetched < k + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffers[fetched % 2][t], in + fetched * 64 + t, sizeof(int), pipe);
            if (T != no_commit) pipe.producer_commit();
        }
        if (T != no_wait) pipe.consumer_wait();
        if (T == early_release) pipe.consumer_release();
        sum = sum * 5 + buffers[k % 2][t ^ 9];
        if (T != no_release && T != early_release) pipe.consumer_release();
    }
    out[t] = sum;
}
