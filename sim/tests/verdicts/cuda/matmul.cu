// C = A B in f32 by tiles of 16 x 16 of shared memory.
enum Twin { right, no_sync_before, no_sync_after, unset_sum };

template <Twin T> __global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    // What the compiler must take for a value that is there.
    if (T == unset_sum) asm("" : "=f"(sum));
    for (int k = 0; k < n; k += 16) {
        ta[y][x] = a[row * n + k + x];
        tb[y][x] = b[(k + y) * n + column];
        if (T != no_sync_before) __syncthreads();
        for (int j = 0; j < 16; j++) sum += ta[y][j] * tb[j][x];
        if (T != no_sync_after) __syncthreads();
    }
    c[row * n + column] = sum;
}
