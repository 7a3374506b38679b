"""Kernels of Triton that the tests check."""

import triton
import triton.language as tl


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + columns, mask=columns < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + columns, e / tl.sum(e, 0), mask=columns < n)


@triton.jit
def softmax_unmasked(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + columns)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + columns, e / tl.sum(e, 0), mask=columns < n)


@triton.jit
def total(out, x, n, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + columns, mask=columns < n, other=0.0), 0))


@triton.jit
def last(out, x, n, BLOCK: tl.constexpr):
    """All programs store to one number."""
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + columns, mask=columns < n, other=0.0), 0))


@triton.jit
def matmul(c, a, b, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + i[:, None] * K + k[None, :], mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + j[None, :], mask=(k[:, None] < K) & (j[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + i[:, None] * N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))
