// Tiles come by cp.async two ahead of those that are computed, each thread's own part; neighbours read them.
#include <cuda_pipeline.h>
enum Twin { right, one_more_open, no_sync, no_late_sync, no_commit };

template <Twin T> __global__ void async_stages(const int* in, int* out, int tiles) {
    __shared__ alignas(16) int ring[3][64 * 4];
    int t = threadIdx.x, sum = 0;
    auto fetch = [&](int i) {
        if (i < tiles) __pipeline_memcpy_async(&ring[i % 3][4 * t], in + (i * 64 + t) * 4, 16);
        if (T != no_commit) __pipeline_commit();
    };
    fetch(0), fetch(1);
    for (int i = 0; i < tiles; i++) {
        fetch(i + 2);
        __pipeline_wait_prior(T == one_more_open ? 3 : 2);
        if (T != no_sync) __syncthreads();
        for (int k = 0; k < 4; k++) sum += ring[i % 3][4 * (t ^ 17) + k] * (i + 1);
        if (T != no_late_sync) __syncthreads();
    }
    out[t] = sum;
}
