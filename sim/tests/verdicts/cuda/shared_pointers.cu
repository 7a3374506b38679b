// A pointer that goes through shared memory leads to shared memory, never to another thread's own.
enum Twin { right, local_pointer };

template <Twin T> __global__ void shared_pointers(const int* in, int* out) {
    __shared__ const int* pointer[32];
    __shared__ int values[32];
    int t = threadIdx.x;
    volatile int own[4] = {in[t], 0, 0, 0};
    values[t] = own[0];
    pointer[t] = T == local_pointer ? (const int*)own : &values[t];
    __syncthreads();
    out[t] = *(volatile const int*)pointer[t ^ 1];
}
