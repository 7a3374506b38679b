// A block hands numbers to another through a ring of four slots in global memory.
#include <cuda/atomic>
using namespace cuda::std;
enum Twin { right, relaxed_head, relaxed_tail, no_room_check, block_scope, one_early };

template <Twin T> __global__ void block_ring(int* slots, unsigned* head, unsigned* tail, const int* in, int* out, int n) {
    constexpr auto scope = T == block_scope ? cuda::thread_scope_block : cuda::thread_scope_device;
    cuda::atomic_ref<unsigned, scope> h(*head), t(*tail);
    int lane = threadIdx.x;
    for (int i = 0; i < n; i++) {
        if (blockIdx.x == 0) {
            if (T != no_room_check) while (i - (int)t.load(T == relaxed_tail ? memory_order_relaxed : memory_order_acquire) >= 4);
            slots[i % 4 * 32 + lane] = in[i * 32 + lane];
            __syncwarp();
            if (lane == 0) h.store(i + 1, T == relaxed_head ? memory_order_relaxed : memory_order_release);
        } else {
            while ((int)h.load(memory_order_acquire) <= (T == one_early ? i - 1 : i));
            out[i * 32 + lane] = slots[i % 4 * 32 + (lane ^ 1)] + 1;
            __syncwarp();
            if (lane == 0) t.store(i + 1, memory_order_release);
        }
    }
}
