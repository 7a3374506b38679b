// Keys take places in a table by compare and swap, and leave their values there; a second pass, after a barrier, looks up.
enum Twin { right, no_sync, plain_key, plain_value };

template <Twin T> __global__ void hash_insert(const int* keys, int* out) {
    __shared__ int key[128], value[128];
    int t = threadIdx.x, k = keys[t];
    key[t] = key[t + 64] = 0;
    value[t] = value[t + 64] = 0;
    __syncthreads();
    int at = k * 37 % 128;
    for (;; at = (at + 1) % 128) {
        int old = T == plain_key ? key[at] : atomicCAS(&key[at], 0, k);
        if (T == plain_key && old == 0) key[at] = k;
        if (old == 0 || old == k) break;
    }
    if (T == plain_value) value[at] += t;
    else atomicAdd(&value[at], t);
    if (T != no_sync) __syncthreads();
    k = keys[t ^ 21];
    for (at = k * 37 % 128; key[at] != k; at = (at + 1) % 128);
    out[t] = value[at];
}
