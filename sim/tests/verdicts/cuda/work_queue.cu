// Blocks draw tiles from a counter until there are none.
enum Twin { right, no_sync, no_second_sync, plain_ticket };

template <Twin T> __global__ void work_queue(const int* in, int* out, int* next, int tiles) {
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) {
            if (T == plain_ticket) tile = (*next)++;
            else tile = atomicAdd(next, 1);
        }
        if (T != no_sync) __syncthreads();
        int mine = tile;
        if (T != no_second_sync) __syncthreads();
        if (mine >= tiles) break;
        out[mine * 64 + threadIdx.x] = in[mine * 64 + threadIdx.x] * mine;
    }
}
