// One block changes a pair under a sequence number, others read it until they have seen an even number twice.
#include <cuda/atomic>
using namespace cuda::std;
enum Twin { right, plain_data, late_writer, plain_sequence };
template <class X> using shared_by_all = cuda::atomic_ref<X, cuda::thread_scope_device>;

template <Twin T> __global__ void seqlock(unsigned* seq, int* pair, int* out) {
    shared_by_all<unsigned> s(*seq);
    shared_by_all<int> a(pair[0]), b(pair[1]);
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (int i = 1; i <= 3; i++) {
            s.store(2 * i - 1, memory_order_relaxed);
            cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
            if (T == plain_data) pair[0] = i, pair[1] = -i;
            else a.store(i, memory_order_relaxed), b.store(-i, memory_order_relaxed);
            if (T == plain_sequence) *(unsigned*)seq = 2 * i;
            else s.store(2 * i, memory_order_release);
        }
        if (T == late_writer) pair[2] = 1;
    } else {
        unsigned before, after;
        int x, y;
        do {
            before = s.load(memory_order_acquire);
            x = T == plain_data ? pair[0] : a.load(memory_order_relaxed);
            y = T == plain_data ? pair[1] : b.load(memory_order_relaxed);
            cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
            after = s.load(memory_order_relaxed);
        } while (before != after || (before & 1) || before != 6);
        out[2 * blockIdx.x - 2] = x, out[2 * blockIdx.x - 1] = y;
        if (T == late_writer) pair[3] = pair[2];
    }
}
