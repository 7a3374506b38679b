// Rows of different lengths in steps of the block, with a barrier in each: the number of steps is the block's.
enum Twin { right, own_bound, early_exit, half_warp };

template <Twin T> __global__ void ragged_rows(const int* in, const int* lengths, int* out) {
    __shared__ int step[64];
    int t = threadIdx.x, length = lengths[blockIdx.x], sum = 0;
    // Threads behind the row's end leave, and never come to the barriers of those that stay.
    if (T == early_exit && t >= length % 64) return;
    int steps = T == own_bound ? (length - t + 63) / 64 : (length + 63) / 64;
    for (int k = 0; k < steps; k++) {
        int i = k * 64 + t;
        step[t] = i < length ? in[blockIdx.x * 256 + i] : 0;
        // A part of a warp leaves the barrier out.
        if (T != half_warp || t < 48) __syncthreads();
        sum += step[t ^ 1] * 2 + step[t];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sum;
}
