// The sum of 128 numbers of each block, by halves in shared memory.
enum Twin { right, no_sync_store, no_sync_loop, short_loop };

template <Twin T> __global__ void block_reduce(const int* in, int* out) {
    __shared__ int part[128];
    int i = threadIdx.x;
    part[i] = in[blockIdx.x * 128 + i];
    if (T != no_sync_store) __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (i < d) part[i] += part[i + d];
        if (T != no_sync_loop && !(T == short_loop && d <= 16)) __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = part[0];
}
