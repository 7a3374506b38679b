// Numbers of a warp that pass are moved to its front: each lane fetches the number of the lane that the ballot names.
// Lanes without one name a lane that need not take part, and use nothing.
enum Twin { right, wrong_mask, other_lane };

template <Twin T> __global__ void ballot_compact(const int* in, int* out, int* counts) {
    int t = threadIdx.x, lane = t % 32, x = in[t];
    unsigned keep = __ballot_sync(0xffffffff, x % 3 != 0);
    int n = __popc(keep), from = __fns(keep, 0, lane + 1), y;
    if (from < 0) from = 31;
    if (x % 3 != 0 || lane < n) {
        unsigned members = keep | ((n < 32 ? 1u << n : 0) - 1);
        y = __shfl_sync(T == wrong_mask ? keep : members, x, T == other_lane ? (from + 9) % 32 : from);
    }
    if (lane < n) out[t] = y;
    if (lane == 0) counts[t / 32] = n;
}
