// Persistent blocks take tiles by tickets until none is left; the last block to stop sets the counters back to zero.
enum Twin { right, early_reset, plain_reset_early, no_ticket_sync, no_fence };

template <Twin T> __global__ void tickets_reset(int* ticket, int* stopped, int* data, int tiles) {
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
        __syncthreads();
        int mine = tile;
        if (T != no_ticket_sync) __syncthreads();
        if (mine >= tiles) break;
        data[mine * 32 + threadIdx.x] += mine;
    }
    if (threadIdx.x == 0) {
        if (T == early_reset) *ticket = 0;
        if (T != no_fence) __threadfence();
        int n = atomicAdd(stopped, 1);
        if (T != no_fence) __threadfence();
        if (T == plain_reset_early ? n == 0 : n == gridDim.x - 1) *ticket = 0, *stopped = 0;
    }
}
