// Stream-K: a tile's sum is split between blocks; all but the first leave a partial sum and a flag, the first adds them up.
enum Twin { right, no_fence, flag_first, no_wait, no_sync, no_wait_fence };

template <Twin T> __global__ void fixup(const int* in, int* partial, int* flags, int* out) {
    int t = threadIdx.x, b = blockIdx.x, tile = b / 3, part = b % 3;
    int sum = in[b * 128 + t] + in[b * 128 + 64 + t];
    if (part) {
        if (T == flag_first && t == 0) atomicExch(&flags[b], 1);
        partial[b * 64 + t] = sum;
        if (T != no_fence) __threadfence();
        if (T != no_sync) __syncthreads();
        if (T != flag_first && t == 0) atomicExch(&flags[b], 1);
    } else {
        for (int other = b + 1; other < b + 3; other++) {
            if (t == 0) {
                if (T != no_wait) while (atomicAdd(&flags[other], 0) == 0);
                if (T != no_wait_fence) __threadfence();
            }
            __syncthreads();
            sum += partial[other * 64 + t];
        }
        out[tile * 64 + t] = sum;
    }
}
