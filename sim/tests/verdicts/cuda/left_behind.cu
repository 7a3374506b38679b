// Warps return after they have written what the first warp reads behind a barrier, which does not wait for them.
enum Twin { right, no_sync, named };

template <Twin T> __global__ void left_behind(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t] * 2;
    if (t >= 32) return;
    if (T == named) asm volatile("bar.sync 1, 32;" ::: "memory");
    else if (T != no_sync) __syncthreads();
    out[t] = s[t] + s[t + 32] + s[t + 64] + s[t + 96];
}
