// The last steps of a sum in one warp, with volatile accesses as old code has them, and with the barriers it lacks.
enum Twin { right, no_syncwarp };

template <Twin T> __global__ void warp_volatile(const int* in, int* out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 32] = in[t + 32];
    if (T != no_syncwarp) __syncwarp();
    for (int d = 32; d > 0; d /= 2) {
        int x = s[t + (t < d ? d : 0)];
        if (t < d) s[t] += x;
        if (T != no_syncwarp) __syncwarp();
    }
    if (t == 0) out[0] = s[0];
}
