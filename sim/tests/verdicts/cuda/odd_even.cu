// 64 numbers sorted by exchanges of neighbours, until no thread has anything to exchange.
enum Twin { right, no_sync, part_votes, no_vote_sync };

template <Twin T> __global__ void odd_even(int* data) {
    __shared__ int s[130];
    __shared__ int moved;
    int t = threadIdx.x;
    s[t] = data[t], s[t + 64] = data[t + 64];
    __syncthreads();
    for (int go = 1; go;) {
        int swapped = 0;
        for (int odd = 0; odd < 2; odd++) {
            int i = 2 * t + odd;
            if (i + 1 < 128 && s[i] > s[i + 1]) {
                int x = s[i];
                s[i] = s[i + 1], s[i + 1] = x, swapped = 1;
            }
            if (T != no_sync) __syncthreads();
        }
        if (T == part_votes) {
            // A part of the threads votes, while the others wait at the next barrier.
            go = 0;
            if (swapped) go = __syncthreads_or(swapped);
            __syncthreads();
        } else if (T == no_vote_sync) {
            if (t == 0) moved = 0;
            __syncthreads();
            if (swapped) moved = 1;
            go = moved;
        } else {
            go = __syncthreads_or(swapped);
        }
    }
    data[t] = s[t], data[t + 64] = s[t + 64];
}
