// Blocks push nodes on a list by compare and swap; the last one walks it.
#include <cuda/atomic>
using namespace cuda::std;
enum Twin { right, relaxed_push, relaxed_count, next_late };

template <Twin T> __global__ void stack_push(int* next, int* value, int* head, unsigned* done, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> h(*head);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> d(*done);
    if (threadIdx.x) return;
    int me = blockIdx.x + 1;
    value[me] = me * me;
    int top = h.load(memory_order_relaxed);
    do {
        if (T != next_late) next[me] = top;
    } while (!h.compare_exchange_weak(top, me, T == relaxed_push ? memory_order_relaxed : memory_order_release, memory_order_relaxed));
    if (T == next_late) next[me] = top;
    auto order = T == relaxed_count || T == relaxed_push ? memory_order_relaxed : T == next_late ? memory_order_acquire : memory_order_acq_rel;
    if (d.fetch_add(1, order) == gridDim.x - 1) {
        int sum = 0;
        for (int i = h.load(T == relaxed_count ? memory_order_relaxed : memory_order_acquire); i; i = next[i]) sum += value[i];
        *out = sum;
    }
}
