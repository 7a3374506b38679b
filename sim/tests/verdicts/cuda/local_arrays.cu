// An array of a thread's own that is indexed by data lives in local memory.
enum Twin { right, unset_element, beyond };

template <Twin T> __global__ void local_arrays(const int* in, int* out) {
    int counts[8], others[8];
    for (int i = 0; i < (T == unset_element ? 7 : 8); i++) counts[i] = 0;
    for (int i = 0; i < 8; i++) others[i] = i;
    for (int i = 0; i < 32; i++) counts[in[threadIdx.x * 32 + i]]++;
    for (int i = 0; i < 32; i++) others[in[threadIdx.x * 32 + i]] *= 3;
    int at = in[threadIdx.x * 32];
    out[threadIdx.x] = counts[T == beyond ? at + 16 : at] * 1000 + others[at];
}
