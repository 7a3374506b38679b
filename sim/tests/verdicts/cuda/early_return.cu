// The threads that have nothing to do return before the barrier, which waits for the others.
enum Twin { right, no_sync, of_returned, half_barrier };

template <Twin T> __global__ void early_return(const int* in, int* out, int n) {
    __shared__ int s[96];
    int t = threadIdx.x;
    if (T != half_barrier && t >= n) return;
    s[t] = in[t];
    if (T == half_barrier) {
        // The barrier of a part of a warp, whose other threads have not returned.
        if (t < n) __syncthreads();
    } else if (T != no_sync) __syncthreads();
    out[t] = T == of_returned ? s[t + 1] : T == half_barrier ? s[95 - t] : s[n - 1 - t];
}
