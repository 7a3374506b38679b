// Loads through the read-only path are for what the kernel does not write.
enum Twin { right, after_write };

template <Twin T> __global__ void read_only(const int* in, int* scratch, int* out) {
    int t = threadIdx.x;
    scratch[t] = in[t] * 2;
    __syncthreads();
    int other = t ^ 33;
    out[t] = (T == after_write ? __ldg(scratch + other) : scratch[other]) + __ldg(in + other);
}
