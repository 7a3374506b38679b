// What a kernel prints and asserts.
extern "C" __device__ int printf(const char*, ...);
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, unsigned long);
#define assert(x) ((x) ? void(0) : __assertfail(#x, "speaking.cu", __LINE__, __func__, 1))
enum Twin { right, wrong_assertion };

template <Twin T> __global__ void speaking(const int* in, int* out) {
    int x = in[threadIdx.x];
    assert(x < (T == wrong_assertion ? 100 : 1000));
    if (threadIdx.x < 2) printf("thread %d has %d\n", threadIdx.x, x);
    out[threadIdx.x] = x + 1;
}
