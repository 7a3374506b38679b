// Sums of rows of a ragged matrix, a warp a row; partial sums of long rows go through shared memory.
enum Twin { right, no_sync, partial_mask, uneven_shuffle };

template <Twin T> __global__ void segments(const int* begin, const int* in, int* out) {
    __shared__ int part[4];
    int row = blockIdx.x, lane = threadIdx.x % 32, w = threadIdx.x / 32, sum = 0;
    for (int i = begin[row] + threadIdx.x; i < begin[row + 1]; i += 128) {
        int x = in[i];
        if (T == uneven_shuffle) x += 0 * __shfl_sync(~0u, x, 0);
        sum += x;
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(T == partial_mask && d == 4 ? 0xffff : ~0u, sum, d);
    if (lane == 0) part[w] = sum;
    if (T != no_sync) __syncthreads();
    if (threadIdx.x == 0) out[row] = part[0] + part[1] + part[2] + part[3];
}
