// Weighted sums of three neighbours, with the tile and the weights in shared memory, one behind the other.
enum Twin { right, no_sync, overrun, halo_unset, input_overrun };

template <Twin T> __global__ void stencil(const int* in, int* out, int n) {
    __shared__ int tile[66];
    __shared__ int weights[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    weights[t] = t % 3 + 1;
    tile[t + 1] = in[i];
    if (t == 0) tile[0] = i > 0 ? in[i - 1] : 0;
    if (t == 63 && T != halo_unset) tile[65] = i + 1 < n || T == input_overrun ? in[i + 1] : 0;
    if (T != no_sync) __syncthreads();
    int next = T == overrun ? 3 : 2;
    out[i] = tile[t] * weights[(t + 1) & 63] + tile[t + 1] + tile[t + next] * weights[t];
}
