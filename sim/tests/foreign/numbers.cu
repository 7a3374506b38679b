// The math library in single and double precision, half and bfloat16, and conversions: one function a thread block.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void singles(const float* x, const float* y, float* out, int n) {
    int i = threadIdx.x;
    float a = x[i], b = y[i], r = 0;
    switch (blockIdx.x) {
        case 0: r = sinf(a); break;
        case 1: r = cosf(a); break;
        case 2: r = expf(a); break;
        case 3: r = logf(b); break;
        case 4: r = powf(b, a); break;
        case 5: r = tanhf(a); break;
        case 6: r = erff(a); break;
        case 7: r = sqrtf(b); break;
        case 8: r = a / b; break;
        case 9: r = fmodf(a, b); break;
        case 10: r = atan2f(a, b); break;
        case 11: r = cbrtf(a); break;
        case 12: r = rintf(a) + floorf(b) + ceilf(a) + truncf(b) + roundf(a); break;
        case 13: r = __expf(a); break;
        case 14: r = __sinf(a); break;
        case 15: r = __logf(b); break;
        case 16: r = __fdividef(a, b); break;
        case 17: r = rsqrtf(b); break;
        case 18: r = tanf(a * 1000); break;
        case 19: r = log1pf(b) + expm1f(a); break;
        case 20: r = hypotf(a, b); break;
        case 21: r = lgammaf(b); break;
    }
    out[blockIdx.x * n + i] = r;
}

extern "C" __global__ void doubles(const double* x, const double* y, double* out, int n) {
    int i = threadIdx.x;
    double a = x[i], b = y[i], r = 0;
    switch (blockIdx.x) {
        case 0: r = sin(a); break;
        case 1: r = cos(a); break;
        case 2: r = exp(a); break;
        case 3: r = log(b); break;
        case 4: r = pow(b, a); break;
        case 5: r = tanh(a); break;
        case 6: r = erf(a); break;
        case 7: r = sqrt(b); break;
        case 8: r = a / b; break;
        case 9: r = fmod(a, b); break;
        case 10: r = atan2(a, b); break;
        case 11: r = cbrt(a); break;
        case 12: r = rint(a) + floor(b) + ceil(a) + trunc(b) + round(a); break;
        case 13: r = rsqrt(b); break;
        case 14: r = __dmul_rd(a, b) + __dadd_ru(a, b) + __fma_rz(a, b, a) + __ddiv_rd(a, b) + __dsqrt_ru(b); break;
    }
    out[blockIdx.x * n + i] = r;
}

extern "C" __global__ void halves(const __half* x, const __half* y, __half* out, int n) {
    int i = threadIdx.x;
    __half a = x[i], b = y[i], r = 0;
    switch (blockIdx.x) {
        case 0: r = a + b; break;
        case 1: r = a * b; break;
        case 2: r = __hfma(a, b, a); break;
        case 3: r = a / b; break;
        case 4: r = hexp(a); break;
        case 5: r = hlog(b); break;
        case 6: r = hsqrt(b); break;
        case 7: r = hsin(a); break;
        case 8: r = __hmin(a, b); break;
        case 9: r = __hmax(a, b); break;
        case 10: r = hrint(a) + hfloor(b); break;
        case 11: r = __hneg(__habs(a)) - b; break;
        case 12: r = __hlt(a, b) ? a : b; break;
        case 13: r = __int2half_rn(__half2int_rz(a * __float2half(100.0f))); break;
        case 14: r = __low2half(__hfma2(__halves2half2(a, b), __halves2half2(b, a), __halves2half2(b, b))); break;
        case 15: r = __hadd_sat(a, b); break;
        case 16: r = h2rcp(__halves2half2(a, b)).y; break;
        case 17: r = htanh_approx(a); break;
    }
    out[blockIdx.x * n + i] = r;
}

extern "C" __global__ void bfloats(const __nv_bfloat16* x, const __nv_bfloat16* y, __nv_bfloat16* out, int n) {
    int i = threadIdx.x;
    __nv_bfloat16 a = x[i], b = y[i], r = 0;
    switch (blockIdx.x) {
        case 0: r = a + b; break;
        case 1: r = a * b; break;
        case 2: r = __hfma(a, b, a); break;
        case 3: r = a / b; break;
        case 4: r = hexp(a); break;
        case 5: r = hsqrt(b); break;
        case 6: r = __hmin(a, b); break;
        case 7: r = __hgt(a, b) ? a : b; break;
        case 8: r = __high2bfloat16(__hmul2(__halves2bfloat162(a, b), __halves2bfloat162(b, b))); break;
        case 9: r = __float2bfloat16_rz(__bfloat162float(a) * 1.001f); break;
    }
    out[blockIdx.x * n + i] = r;
}

// Every conversion of a float or a double to an integer and back.
extern "C" __global__ void conversions(const float* x, const double* y, long long* out) {
    int i = threadIdx.x;
    float a = x[i];
    double b = y[i];
    long long* o = out + i * 12;
    o[0] = (int)a;
    o[1] = (unsigned)a;
    o[2] = (long long)a;
    o[3] = (unsigned long long)b;
    o[4] = (short)(int)b;
    o[5] = __float2int_rn(a);
    o[6] = __double2int_ru(b);
    o[7] = __float_as_int((float)(long long)b);
    o[8] = __double_as_longlong((double)(unsigned long long)b);
    o[9] = __float_as_int(__double2float_rd(b));
    o[10] = __float_as_int(__int2float_rz((int)a * 77777777));
    o[11] = __half_as_ushort(__double2half(b)) | (long long)__half_as_ushort(__float2half_ru(a)) << 16;
}
