// What makes PTX hard to read: device functions, tables, local arrays, 64-bit division, printf.

struct Pair { long long a; int b; };
struct Work { double x[3]; short tag; Pair pair; };

__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ unsigned long long counter = 1000;
__device__ const char* names[3] = {"zero", "one", "two"};

__device__ __noinline__ Pair mix(Pair p, const Work& w) {
    Pair r;
    r.a = p.a * 3 + (long long)w.x[p.b % 3];
    r.b = p.b ^ w.tag;
    return r;
}

__device__ __noinline__ float poly(const float* c, int n, float x) {
    float y = 0;
    for (int i = n - 1; i >= 0; i--) y = y * x + c[i];
    return y;
}

__device__ __noinline__ void swap_if(int* a, int* b) {
    if (*a > *b) { int t = *a; *a = *b; *b = t; }
}

__device__ __noinline__ unsigned char narrow(unsigned char x, short y, bool up) { return up ? x + y : x - y; }

extern "C" __global__ void calls(const int* in, long long* out) {
    int i = threadIdx.x;
    Work w = {{1.5 * i, 2.5 * i, 3.5 * i}, (short)(i * 7), {i, -i}};
    Pair p = mix(mix({in[i], i}, w), w);
    float c[5] = {1, 2, 3, 4, (float)i};
    out[2 * i] = p.a + narrow(in[i], i, i & 1);
    out[2 * i + 1] = p.b + (long long)poly(c, 2 + i % 4, 2.0f);
}

// Sorts eight values a thread in an array that the compiler can't keep in registers.
extern "C" __global__ void sort8(const int* in, int* out) {
    int v[8];
    for (int i = 0; i < 8; i++) v[(i * 5 + in[0]) % 8] = in[threadIdx.x * 8 + i];
    for (int i = 0; i < 8; i++)
        for (int j = i + 1; j < 8; j++) swap_if(&v[i], &v[j]);
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = v[i];
}

// An operation a thread: a dense switch becomes a table.
extern "C" __global__ void interpret(const int* code, const long long* x, const long long* y, long long* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long a = x[i], b = y[i], r;
    switch (code[i]) {
        case 0: r = a + b; break;
        case 1: r = a - b; break;
        case 2: r = a * b; break;
        case 3: r = a / b; break;
        case 4: r = a % b; break;
        case 5: r = (long long)((unsigned long long)a / (unsigned long long)b); break;
        case 6: r = (long long)((unsigned long long)a % (unsigned long long)b); break;
        case 7: r = a << (b & 63); break;
        case 8: r = a >> (b & 63); break;
        case 9: r = (long long)((unsigned long long)a >> (b & 63)); break;
        case 10: r = __mul64hi(a, b); break;
        case 11: r = (long long)__umul64hi(a, b); break;
        case 12: r = a < b ? a : b; break;
        case 13: r = __popcll(a) * 64 + __clzll(b); break;
        case 14: r = __ffsll(a) - __brevll(b); break;
        case 15: r = primes[a & 7] * b; break;
        default: r = -1;
    }
    out[i] = r;
}

extern "C" __global__ void tickets(unsigned long long* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(&counter, 3ull);
}

extern "C" __global__ void early(const int* in, int* out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    int x = in[i], steps = 0;
    while (x != 1) {
        if (steps > 500) { out[i] = -1; return; }
        x = x % 2 ? 3 * x + 1 : x / 2;
        steps++;
    }
    out[i] = steps;
}

extern "C" __device__ int printf(const char*, ...);

extern "C" __global__ void report(int n, double x) {
    int i = threadIdx.x;
    if (i >= n) return;
    printf("thread %d of %u: %5.2f|%-8s|%c|%08x|%lld|%%|%e\n", i, blockDim.x, x * i, names[i % 3], 'a' + i, 0xbeef + i,
           -10000000000ll * i, x);
    if (i == 1) printf("no arguments\n");
}
