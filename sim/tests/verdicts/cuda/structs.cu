// Structures with padding are copied whole: nothing looks at what lies in the gaps.
enum Twin { right, unset_field };

struct alignas(16) Item {
    char tag;
    int value;
    short more;
};

template <Twin T> __global__ void structs(const int* in, Item* out, int* sums) {
    __shared__ Item items[64];
    int t = threadIdx.x;
    Item mine;
    mine.tag = (char)t;
    if (T != unset_field || t != 5) mine.value = in[t];
    mine.more = (short)(2 * t);
    items[t] = mine;
    __syncthreads();
    Item other = items[63 - t];
    out[t] = other;
    sums[t] = other.value + other.more;
}
