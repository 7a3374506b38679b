"""Triton's side of the kernels."""

import triton
import triton.language as tl


@triton.jit
def vadd(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(out, x, pitch, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * pitch + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * pitch + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def layernorm(x, y, w, b, pitch, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    keep = i < columns
    v = tl.load(x + row * pitch + i, mask=keep, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / columns
    d = tl.where(keep, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, axis=0) / columns + eps)
    v = d * scale * tl.load(w + i, mask=keep) + tl.load(b + i, mask=keep)
    tl.store(y + row * pitch + i, v.to(y.dtype.element_ty), mask=keep)


@triton.jit
def matmul(a, b, c, m, n, k, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TF32: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for t in range(0, tl.cdiv(k, BK)):
        kk = t * BK + rk
        x = tl.load(a + rm[:, None] * lda + kk[None, :], mask=(rm[:, None] < m) & (kk[None, :] < k), other=0.0)
        y = tl.load(b + kk[:, None] * ldb + rn[None, :], mask=(kk[:, None] < k) & (rn[None, :] < n), other=0.0)
        sums = tl.dot(x, y, sums, input_precision="tf32" if TF32 else None)
    tl.store(c + rm[:, None] * ldc + rn[None, :], sums.to(c.dtype.element_ty), mask=(rm[:, None] < m) & (rn[None, :] < n))


@triton.jit
def matmul_int8(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.int32)
    for t in range(0, k, BK):
        x = tl.load(a + rm[:, None] * k + (t + rk)[None, :])
        y = tl.load(b + (t + rk)[:, None] + rn[None, :] * k)
        sums += tl.dot(x, y, out_dtype=tl.int32)
    tl.store(c + rm[:, None] * BN + rn[None, :], sums)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    counts = tl.histogram(v, 64, mask=i < n)
    tl.atomic_add(bins + tl.arange(0, 64), counts)


@triton.jit
def reduce(x, sums, most, where, scan, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.atomic_add(sums, tl.sum(v, axis=0))
    value, at = tl.max(v, axis=0, return_indices=True)
    tl.atomic_max(most, value.to(tl.int32))
    tl.store(where, at)
    tl.store(scan + i, tl.cumsum(v, axis=0))


@triton.jit
def functions(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    b = tl.load(y + i)
    tl.store(out + i, tl.sin(a))
    tl.store(out + n + i, tl.log(b))
    tl.store(out + 2 * n + i, tl.exp2(a))
    tl.store(out + 3 * n + i, tl.rsqrt(b))
    tl.store(out + 4 * n + i, tl.erf(a))
    tl.store(out + 5 * n + i, tl.div_rn(a, b))
    tl.store(out + 6 * n + i, tl.floor(a) + tl.ceil(b))
    tl.store(out + 7 * n + i, tl.sigmoid(a) + tl.clamp(b, 1.0, 2.0))
    tl.device_print("value", a)


HALF = dict(a="*fp16", b="*fp16", c="*fp16", m="i32", n="i32", k="i32", lda="i32", ldb="i32", ldc="i32")
KERNELS = {
    "vadd": dict(kernel=vadd, signature=dict(a="*fp32", b="*fp32", c="*fp32", n="i32"), constants=dict(BLOCK=512)),
    "softmax": dict(
        kernel=softmax,
        signature=dict(out="*fp32", x="*fp32", pitch="i32", columns="i32"),
        constants=dict(BLOCK=1024),
    ),
    "layernorm": dict(
        kernel=layernorm,
        signature=dict(x="*bf16", y="*bf16", w="*fp32", b="*fp32", pitch="i32", columns="i32", eps="fp32"),
        constants=dict(BLOCK=512),
    ),
    "matmul_f16": dict(
        kernel=matmul, signature=HALF, constants=dict(BM=64, BN=64, BK=32, TF32=False), stages=3
    ),
    "matmul_tf32": dict(
        kernel=matmul,
        signature=HALF | dict(a="*fp32", b="*fp32", c="*fp32"),
        constants=dict(BM=64, BN=32, BK=32, TF32=True),
    ),
    "matmul_bf16": dict(
        kernel=matmul,
        signature=HALF | dict(a="*bf16", b="*bf16", c="*fp32"),
        constants=dict(BM=64, BN=64, BK=64, TF32=False),
    ),
    "matmul_int8": dict(
        kernel=matmul_int8,
        signature=dict(a="*i8", b="*i8", c="*i32", k="i32"),
        constants=dict(BM=64, BN=64, BK=64),
    ),
    "histogram": dict(kernel=histogram, signature=dict(x="*i32", bins="*i32", n="i32"), constants=dict(BLOCK=512)),
    "reduce": dict(
        kernel=reduce,
        signature=dict(x="*fp32", sums="*fp32", most="*i32", where="*i32", scan="*fp32"),
        constants=dict(BLOCK=512),
    ),
    "functions": dict(
        kernel=functions, signature=dict(x="*fp32", y="*fp32", out="*fp32", n="i32"), constants=dict(BLOCK=256)
    ),
}
