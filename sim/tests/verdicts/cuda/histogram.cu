// Counts of 64 values: a part for each block in shared memory, added to the whole. Several numbers a thread.
enum Twin { right, no_sync_zero, no_sync_flush, plain_increment, plain_flush, unzeroed };

template <Twin T> __global__ void histogram(const int* in, int* bins, int n) {
    __shared__ int local[64];
    if (T != unzeroed && threadIdx.x < 64) local[threadIdx.x] = 0;
    if (T != no_sync_zero) __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (T == plain_increment) local[in[i]]++;
        else atomicAdd(&local[in[i]], 1);
    }
    if (T != no_sync_flush) __syncthreads();
    if (threadIdx.x < 64) {
        if (T == plain_flush) bins[threadIdx.x] += local[threadIdx.x];
        else atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
    }
}
