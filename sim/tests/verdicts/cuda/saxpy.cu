// y = a x + y over any number of elements.
enum Twin { right, at_end, no_guard, before_begin, misaligned };

template <Twin T> __global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int step = T == no_guard ? n : gridDim.x * blockDim.x;
    int first = T == before_begin ? i - 1 : i, end = T == at_end ? n + 1 : T == no_guard ? 2 * n : n;
    if (T == misaligned) {
        float2 pair = *(const float2*)(x + i + 1);
        y[i] = a * pair.x + pair.y;
        return;
    }
    for (int k = first; k < end; k += step) y[k] = a * x[k] + y[k];
}
