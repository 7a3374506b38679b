// Softmax of a row a block; the block's maximum and sum go through the same few words of shared memory.
enum Twin { right, no_sync_reuse, no_sync_result, infinite_tail };

template <Twin T, typename F> __device__ float whole(float x, float* part, F f) {
    for (int d = 16; d > 0; d /= 2) x = f(x, __shfl_xor_sync(0xffffffff, x, d));
    if (T != no_sync_reuse) __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    if (T != no_sync_result) __syncthreads();
    float y = part[0];
    for (int w = 1; w < blockDim.x / 32; w++) y = f(y, part[w]);
    return y;
}

template <Twin T> __global__ void softmax(const float* in, float* out, int columns) {
    __shared__ float part[4];
    int row = blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, in[row + i]);
    most = whole<T>(most, part, [](float a, float b) { return fmaxf(a, b); });
    // The last row's tail lies behind the matrix.
    int end = T == infinite_tail ? (columns + blockDim.x - 1) / blockDim.x * blockDim.x : columns;
    for (int i = threadIdx.x; i < end; i += blockDim.x) sum += __expf(in[row + i] - most);
    sum = whole<T>(sum, part, [](float a, float b) { return a + b; });
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[row + i] = __expf(in[row + i] - most) / sum;
}
