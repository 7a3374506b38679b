// Sums of tiles that arrive by cp.async two steps ahead.
#include <cuda_pipeline.h>
enum Twin { right, no_wait, wait_too_few, no_sync, no_reuse_sync, no_commit };

template <Twin T> __global__ void copy_ring(const int* in, int* out, int steps) {
    __shared__ int ring[3][64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(&ring[k][t], in + k * 64 + t, 4);
        if (T != no_commit) __pipeline_commit();
    }
    for (int k = 0; k < steps; k++) {
        if (T != no_wait) __pipeline_wait_prior(T == wait_too_few ? 2 : 1);
        if (T != no_sync) __syncthreads();
        sum = sum * 3 + ring[k % 3][t ^ 5];
        if (T == no_reuse_sync && k + 2 < steps) __pipeline_memcpy_async(&ring[(k + 3) % 3][t], in + (k + 2) * 64 + t, 4);
        else if (k + 2 < steps) __pipeline_memcpy_async(&ring[(k + 2) % 3][t], in + (k + 2) * 64 + t, 4);
        if (T != no_commit) __pipeline_commit();
    }
    out[t] = sum;
}
