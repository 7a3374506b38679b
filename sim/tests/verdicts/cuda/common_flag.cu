// Whoever finds what is looked for says so in one word: all write the same.
enum Twin { right, who };

template <Twin T> __global__ void common_flag(const int* in, int wanted, int* found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] == wanted) *found = T == who ? i : 1;
}
