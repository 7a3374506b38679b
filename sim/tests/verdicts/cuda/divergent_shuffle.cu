// One half of each warp adds up its numbers among itself, the other half does something else.
enum Twin { right, full_mask, outside };

template <Twin T> __global__ void divergent_shuffle(const int* in, int* out) {
    int t = threadIdx.x, x = in[t];
    if (t % 32 < 16) {
        unsigned members = T == full_mask ? 0xffffffff : 0xffff;
        for (int d = 8; d > 0; d /= 2) x += __shfl_xor_sync(members, x, T == outside ? d * 2 : d);
    } else {
        x *= 2;
    }
    __syncwarp();
    out[t] = x;
}
