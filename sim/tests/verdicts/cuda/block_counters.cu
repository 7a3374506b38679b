// Counters that belong to a block are counted at the block's scope.
enum Twin { right, shared_counter };

template <Twin T> __global__ void block_counters(const int* in, int* counts, int* ranks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] & 1) ranks[i] = atomicAdd_block(&counts[T == shared_counter ? 0 : blockIdx.x], 1);
}
