// A barrier of the whole grid, written by hand: all blocks count up and wait for the last. One block fits an SM.
enum Twin { right, no_fence, block_fence, no_barrier, weak_poll };

template <Twin T> __global__ void grid_barrier(int* data, unsigned* counter, int* out) {
    int t = threadIdx.x, blocks = gridDim.x;
    data[blockIdx.x * 32 + t] = blockIdx.x * 100 + t;
    if (T == block_fence) __threadfence_block();
    else if (T != no_fence) __threadfence();
    if (T != no_barrier) __syncwarp();
    if (t == 0) {
        atomicAdd(counter, 1);
        if (T == weak_poll) {
            while (__ldcg(counter) < blocks);
        } else {
            while (*(volatile unsigned*)counter < blocks);
        }
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 32 + t] = data[(blockIdx.x + 1) % blocks * 32 + t];
}
