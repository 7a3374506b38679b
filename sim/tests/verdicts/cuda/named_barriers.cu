// Two halves of a block hand on work through named barriers: one half arrives, the other waits.
enum Twin { right, no_arrive, wrong_count, wrong_barrier };

template <Twin T> __global__ void named_barriers(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = in[t] * 3;
        if (T != no_arrive) asm volatile("bar.arrive %0, %1;" ::"n"(T == wrong_barrier ? 2 : 1), "n"(128) : "memory");
    } else {
        asm volatile("bar.sync 1, %0;" ::"n"(T == wrong_count ? 64 : 128) : "memory");
        out[t - 64] = s[t - 64 ^ 33];
    }
}
