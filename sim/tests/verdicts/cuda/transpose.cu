// A transposed matrix by tiles of 32 x 32, with one column of padding. 32 x 8 threads.
enum Twin { right, no_sync, unpadded, rows_missing };

template <Twin T> __global__ void transpose(const int* in, int* out, int n) {
    // Without its padding the tile is too short for the pitch that it is used with.
    __shared__ int tile[32 * (T == unpadded ? 32 : 33)];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < (T == rows_missing ? 24 : 32); j += 8)
        tile[(threadIdx.y + j) * 33 + threadIdx.x] = in[(y + j) * n + x];
    if (T != no_sync) __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x * 33 + threadIdx.y + j];
}
