// Warps turn their numbers round through shared memory, with barriers of the warp alone.
enum Twin { right, no_syncwarp, half_mask, no_second };

template <Twin T> __global__ void warp_exchange(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, other = t ^ 31;
    s[t] = in[t];
    if (T == half_mask) __syncwarp(t % 32 < 16 ? 0xffff : 0xffff0000);
    else if (T != no_syncwarp) __syncwarp();
    int x = s[other];
    if (T != no_second) __syncwarp();
    s[t] = x * 2 + 1;
    __syncwarp();
    out[t] = x + s[t ^ 1];
}
