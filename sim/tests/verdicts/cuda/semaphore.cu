// At most one block at a time has the scratch buffer.
#include <cuda/semaphore>
enum Twin { right, no_acquire, block_scope };

template <Twin T> __global__ void semaphore(cuda::counting_semaphore<cuda::thread_scope_device, 8>* device,
                                            cuda::counting_semaphore<cuda::thread_scope_block, 8>* block, int* scratch, int* out) {
    if (threadIdx.x) return;
    if (T == block_scope) block->acquire();
    else if (T != no_acquire) device->acquire();
    for (int i = 0; i < 4; i++) scratch[i] += blockIdx.x + i;
    if (T == block_scope) block->release();
    else device->release();
}
