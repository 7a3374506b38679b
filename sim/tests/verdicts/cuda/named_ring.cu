// Two warps fill two buffers in turn, two others empty them; named barriers say when one is full and when it is free.
enum Twin { right, one_barrier, no_free_wait, swapped, short_count };
__device__ void sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ void arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }

template <Twin T> __global__ void named_ring(const int* in, int* out, int n) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x % 64, count = T == short_count ? 64 : 128;
    bool fills = threadIdx.x < 64;
    for (int i = 0; i < n; i++) {
        int b = i & 1, full = 1 + b, free = 3 + (T == one_barrier ? 0 : b);
        if (fills) {
            if (i >= 2 && T != no_free_wait) sync(free, 128);
            buffer[b][t] = in[i * 64 + t];
            if (T == swapped) sync(full ^ 3, 128);
            else arrive(full, count);
        } else {
            sync(full, count);
            out[i * 64 + t] = buffer[b][t ^ 33];
            if (i + 2 < n) arrive(free, 128);
        }
    }
}
