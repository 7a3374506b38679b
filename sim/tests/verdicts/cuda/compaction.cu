// Numbers that pass are written one after another, in places that warps reserve.
enum Twin { right, plain_counter, same_place, no_room };

template <Twin T> __global__ void compaction(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool keep = i < n && in[i] % 2 == 0;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    int base = 0;
    if (lane == 0) {
        if (T == plain_counter) base = *count, *count = base + __popc(votes);
        else base = atomicAdd(count, __popc(votes));
    }
    base = __shfl_sync(0xffffffff, base, 0);
    int at = base + __popc(votes & ((1u << lane) - 1));
    if (T == same_place) at = base;
    // Half the numbers pass, and there is room for as many.
    if (keep || (T == no_room && i < n)) out[T == no_room ? base + i : at] = in[i];
}
