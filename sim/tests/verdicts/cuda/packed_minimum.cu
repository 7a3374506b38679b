// The least number and where it stands, in 64 bits that change as one; after a barrier of the block as two halves.
enum Twin { right, half_access, half_poll };

template <Twin T> __global__ void packed_minimum(const int* in, unsigned long long* least, int* out) {
    int t = threadIdx.x;
    unsigned long long mine = (unsigned long long)in[t] << 32 | (unsigned)t;
    atomicMin(least, mine);
    if (T == half_access && t % 32 == 1) atomicOr((unsigned*)least, 1u);
    if (T != half_poll) __syncthreads();
    if (t % 32 == 0) {
        const volatile int* halves = (const volatile int*)least;
        out[t / 32 * 2] = halves[0];
        out[t / 32 * 2 + 1] = halves[1];
    }
}
