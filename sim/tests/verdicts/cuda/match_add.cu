// Counts by value: lanes with the same value elect one that adds for all of them.
enum Twin { right, any_leader, masks_differ, own_read };

template <Twin T> __global__ void match_add(const int* in, int* counts, int* ranks) {
    int t = threadIdx.x, lane = t % 32, x = in[t], base = 0;
    unsigned peers = __match_any_sync(0xffffffff, x);
    int leader = T == any_leader ? 0 : __ffs(peers) - 1;
    if (T == own_read) {
        if (lane == leader) base = counts[x], counts[x] = base + __popc(peers);
    } else if (lane == leader) {
        base = atomicAdd(&counts[x], __popc(peers));
    }
    unsigned members = T == masks_differ ? (lane == leader ? peers : 0xffffffff) : peers;
    base = __shfl_sync(members, base, leader);
    ranks[t] = base + __popc(peers & ((1u << lane) - 1));
}
