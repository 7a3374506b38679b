// Layer normalisation of a row of 96 a block of three warps; the warps' sums are added by one warp.
enum Twin { right, unset_partials, no_sync, no_sync_scale };

__device__ float warp_sum(float x) {
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    return x;
}

template <Twin T> __global__ void layernorm(const float* in, float* out) {
    __shared__ float sums[32], squares[32];
    __shared__ float mean, scale;
    int t = threadIdx.x;
    float x = in[blockIdx.x * 96 + t];
    float s = warp_sum(x), q = warp_sum(x * x);
    if (t % 32 == 0) sums[t / 32] = s, squares[t / 32] = q;
    if (T != no_sync) __syncthreads();
    if (t < 32) {
        bool there = T == unset_partials || t < 3;
        s = warp_sum(there ? sums[t] : 0);
        q = warp_sum(there ? squares[t] : 0);
        if (t == 0) mean = s / 96, scale = rsqrtf(q / 96 - s / 96 * (s / 96) + 1e-5f);
    }
    if (T != no_sync_scale) __syncthreads();
    out[blockIdx.x * 96 + t] = (x - mean) * scale;
}
