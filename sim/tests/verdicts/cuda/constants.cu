// Look-ups in constant memory, where a second table follows the first.
enum Twin { right, beyond };

__constant__ int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__constant__ int second[16] = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5};

template <Twin T> __global__ void constants(const int* in, int* out) {
    int i = in[threadIdx.x];
    out[threadIdx.x] = table[T == beyond ? i + 1 : i] * second[15 - i];
}
