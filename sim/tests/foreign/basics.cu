// The kernels that every CUDA course begins with.
#include <cuda_fp16.h>
#include <math_constants.h>

extern "C" __global__ void vadd(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __ldg(a + i) + b[i];
}

__device__ float warp_sum(float x) {
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffff, x, d);
    return x;
}

__device__ float warp_max(float x) {
    for (int d = 16; d > 0; d /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, d));
    return x;
}

// Sums x, or takes its maximum, over a block of at most 1024 threads.
template <bool MAX> __device__ float block_reduce(float x) {
    __shared__ float part[32];
    int warps = blockDim.x / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    x = MAX ? warp_max(x) : warp_sum(x);
    if (lane == 0) part[warp] = x;
    __syncthreads();
    x = lane < warps ? part[lane] : MAX ? -CUDART_INF_F : 0.0f;
    x = MAX ? warp_max(x) : warp_sum(x);
    __syncthreads();
    return x;
}

// A row a block.
extern "C" __global__ void softmax(const float* in, float* out, int columns) {
    in += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    float most = -CUDART_INF_F;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, in[i]);
    most = block_reduce<true>(most);
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(in[i] - most);
    sum = block_reduce<false>(sum);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = expf(in[i] - most) / sum;
}

extern "C" __global__ void layernorm(const __half* in, const float* gain, const float* bias, __half* out, int columns,
                                     float epsilon) {
    in += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += __half2float(in[i]);
    float mean = block_reduce<false>(sum) / columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float x = __half2float(in[i]) - mean;
        squares += x * x;
    }
    float scale = rsqrtf(block_reduce<false>(squares) / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[i] = __float2half((__half2float(in[i]) - mean) * scale * gain[i] + bias[i]);
}

extern "C" __global__ void reduce(const int* in, int* out, int n) {
    int x = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x += in[i];
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, x);
}

// 256 bins, counted in shared memory first.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

// Tiles of 16 x 16, blocks of 16 x 16 threads; any m, n, k.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float ta[16][16], tb[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < k; t += 16) {
        int ka = t + threadIdx.x, kb = t + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        tb[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// A tile of 32 x 32 through dynamic shared memory, whose pitch is a parameter.
extern "C" __global__ void transpose(const double* in, double* out, int n, int pitch) {
    extern __shared__ double tile[];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y)
        if (x < n && y + j < n) tile[j * pitch + threadIdx.x] = in[(size_t)(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y)
        if (x < n && y + j < n) out[(size_t)(y + j) * n + x] = tile[threadIdx.x * pitch + j];
}
