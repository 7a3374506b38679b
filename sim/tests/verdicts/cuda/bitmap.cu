// Threads set bits of a bitmap in shared memory and count those below their own.
enum Twin { right, plain_or, no_sync, no_clear_sync };

template <Twin T> __global__ void bitmap(const int* in, int* out) {
    __shared__ unsigned bits[8];
    int t = threadIdx.x, x = in[t];
    if (t < 8) bits[t] = 0;
    if (T != no_clear_sync) __syncthreads();
    if (T == plain_or) bits[x / 32] |= 1u << x % 32;
    else atomicOr(&bits[x / 32], 1u << x % 32);
    if (T != no_sync) __syncthreads();
    int n = 0;
    for (int w = 0; w < x / 32; w++) n += __popc(bits[w]);
    out[t] = n + __popc(bits[x / 32] & ((1u << x % 32) - 1));
}
