// Distances in a graph: an atomic minimum, where a look before tells that it may lower the distance.
enum Twin { right, plain_update, told };

template <Twin T> __global__ void guarded_minimum(const int* to, const int* by, int* d, int* last, int edges) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= edges) return;
    int v = to[i], x = by[i], seen = d[v];
    if (seen > x) {
        if (T == plain_update) d[v] = x;
        else atomicMin(&d[v], x);
        // What the look has seen is told.
        if (T == told) last[i] = seen;
    }
}
