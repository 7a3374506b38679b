// A sum of doubles by compare and swap, which begins with a look.
enum Twin { right, no_swap, told };

template <Twin T> __global__ void swapped_sum(const double* in, unsigned long long* sum, double* out) {
    double x = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned long long seen = *sum, first = seen, old;
    do {
        old = seen;
        unsigned long long next = __double_as_longlong(x + __longlong_as_double(old));
        if (T == no_swap) { *sum = next; break; }
        seen = atomicCAS(sum, old, next);
    } while (seen != old);
    if (T == told) out[blockIdx.x * blockDim.x + threadIdx.x] = __longlong_as_double(first);
}
