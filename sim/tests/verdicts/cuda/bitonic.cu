// 128 numbers sorted by a bitonic network: exchanges within a warp need the warp alone.
enum Twin { right, no_syncwarp, warp_only };

template <Twin T> __global__ void bitonic(int* data) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int k = 2; k <= 128; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                int a = s[t], b = s[other];
                if (((t & k) == 0) == (a > b)) s[t] = b, s[other] = a;
            }
            if (T == warp_only || (j <= 16 && j > 1)) {
                if (T != no_syncwarp) __syncwarp();
            } else {
                __syncthreads();
            }
        }
    data[t] = s[t];
}
