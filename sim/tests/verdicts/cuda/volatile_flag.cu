// The second warp waits for a flag that the first one sets; each thread polls for itself, some come late.
enum Twin { right, no_fence, no_reader_fence, plain_flag };

template <Twin T> __global__ void volatile_flag(const int* in, int* out) {
    __shared__ int value[32];
    __shared__ volatile int ready;
    __shared__ int plain;
    int t = threadIdx.x;
    if (t == 0) ready = 0, plain = 0;
    __syncthreads();
    if (t < 32) {
        value[t] = in[t];
        if (T != no_fence) __threadfence_block();
        __syncwarp();
        if (t == 0) ready = 1;
        if (T == plain_flag && t == 0) plain = 1;
        if (t == 9) while (!ready);
        out[t] = t;
    } else {
        if (T == plain_flag) while (!*(volatile int*)&plain);
        else while (!ready);
        if (T != no_reader_fence) __threadfence_block();
        out[t] = value[t ^ 33] + 1;
    }
}
