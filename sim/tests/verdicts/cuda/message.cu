// One block hands numbers to the next through a volatile flag.
enum Twin { right, no_fence, no_reader_fence, block_fence, weak_flag, no_barrier };

template <Twin T> __global__ void message(const int* in, int* box, volatile int* flag, int* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = in[t] + 1;
        if (T == block_fence) __threadfence_block();
        else if (T != no_fence) __threadfence();
        if (T != no_barrier) __syncthreads();
        if (t == 0) {
            if (T == weak_flag) *(int*)flag = 1;
            else *flag = 1;
        }
    } else {
        if (t == 0) {
            while (*flag == 0);
            if (T == block_fence) __threadfence_block();
            else if (T != no_reader_fence) __threadfence();
        }
        __syncthreads();
        out[t] = box[t ^ 1];
    }
}
