// `barrier.sync` in branches: each half of a warp comes to its own barrier, or both come to one from two places.
enum Twin { right, aligned_places, too_many };

template <Twin T> __global__ void sub_barrier(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t % 32 < 16) {
        s[t] += 1;
        if (T == aligned_places) asm volatile("bar.sync 1, 64;" ::: "memory");
        else asm volatile("barrier.sync 1, %0;" ::"n"(T == too_many ? 96 : 64) : "memory");
    } else {
        s[t] += 2;
        if (T == aligned_places) asm volatile("bar.sync 1, 64;" ::: "memory");
        else asm volatile("barrier.sync 1, %0;" ::"n"(T == too_many ? 96 : 64) : "memory");
    }
    out[t] = s[t ^ 63];
}
