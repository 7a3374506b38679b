// A lock guards two numbers: blocks take turns.
enum Twin { right, no_acquire, no_release, block_scope, plain_unlock };

template <Twin T> __global__ void spin_lock(int* lock, int* guarded) {
    if (threadIdx.x == 0) {
        if (T == block_scope) while (atomicCAS_block(lock, 0, 1) != 0);
        else while (atomicCAS(lock, 0, 1) != 0);
        if (T == block_scope) __threadfence_block();
        else if (T != no_acquire) __threadfence();
        guarded[0] += 1;
        guarded[1] += guarded[0];
        if (T == block_scope) __threadfence_block();
        else if (T != no_release) __threadfence();
        if (T == block_scope) atomicExch_block(lock, 0);
        else if (T == plain_unlock) *lock = 0;
        else atomicExch(lock, 0);
    }
}
