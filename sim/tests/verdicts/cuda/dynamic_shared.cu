// Two arrays in the dynamic shared memory of a launch, the second behind the first.
enum Twin { right, no_sync, too_large };

template <Twin T> __global__ void dynamic_shared(const int* in, int* out, int n) {
    extern __shared__ int memory[];
    int *first = memory, *second = memory + n, t = threadIdx.x;
    first[t] = in[t];
    second[t + (T == too_large ? 1 : 0)] = in[t] * 2;
    if (T != no_sync) __syncthreads();
    out[t] = first[n - 1 - t] + second[T == too_large ? t | 1 : t ^ 1];
}
