"""Triton's side: kernels, their broken twins, and how they are compiled."""

import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, scale, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, MASK: tl.constexpr):
    # Softmax(q k^T scale) v of one head a second program index, with a running maximum.
    base = tl.program_id(1) * S * D
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    x = tl.load(q + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < S, other=0.0)
    most = tl.full((BM,), -1e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BM, S) if CAUSAL else S
    for start in range(0, end, BN):
        rn = start + tl.arange(0, BN)
        keep = rn[:, None] < S if MASK else rn[:, None] >= 0
        y = tl.load(k + base + rn[:, None] * D + rd[None, :], mask=keep, other=0.0)
        z = tl.load(v + base + rn[:, None] * D + rd[None, :], mask=keep, other=0.0)
        s = tl.dot(x, tl.trans(y)) * scale
        s = tl.where(rn[None, :] < S, s, -1e30)
        if CAUSAL:
            s = tl.where(rn[None, :] <= rm[:, None], s, -1e30)
        new = tl.maximum(most, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(p, axis=1)
        sums = sums * shrink[:, None] + tl.dot(p.to(z.dtype), z)
        most = new
    sums = sums / total[:, None]
    tl.store(out + base + rm[:, None] * D + rd[None, :], sums.to(tl.float16), mask=rm[:, None] < S)


@triton.jit
def tma_matmul(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # A, B and C by tensor descriptors of the host.
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for t in range(0, k, BK):
        sums = tl.dot(a.load([m, t]), b.load([n, t]).T, sums)
    c.store([m, n], sums.to(tl.float16))


@triton.jit
def tma_copy(a, b, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    b.store([m, n], a.load([m, n]) + 1.0)


@triton.jit
def made_descriptor(x, y, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    # The descriptor is made by the kernel.
    d = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BM, BN])
    v = d.load([tl.program_id(0) * BM, 0])
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(y + rm[:, None] * BN + tl.arange(0, BN)[None, :], v * 2.0)


@triton.jit
def lookback(x, y, sums, flags, BLOCK: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr, ORDERED: tl.constexpr):
    # Inclusive sums: each program waits for the whole sum of the one before it.
    i = tl.program_id(0)
    v = tl.load(x + i * BLOCK + tl.arange(0, BLOCK))
    total = tl.sum(v, axis=0)
    before = 0
    if i > 0:
        while tl.atomic_add(flags + i - 1, 0, sem=SEM, scope=SCOPE) == 0:
            pass
        before = tl.load(sums + i - 1)
    if ORDERED:
        tl.store(sums + i, before + total)
        tl.debug_barrier()
        tl.atomic_xchg(flags + i, 1, sem=SEM, scope=SCOPE)
    else:
        tl.atomic_xchg(flags + i, 1, sem=SEM, scope=SCOPE)
        tl.store(sums + i, before + total)
    tl.store(y + i * BLOCK + tl.arange(0, BLOCK), tl.cumsum(v, axis=0) + before)


@triton.jit
def split_k(a, b, c, lock, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, LOCKED: tl.constexpr):
    # Programs share K and add their parts to C under a lock.
    rm, rn = tl.arange(0, BM), tl.arange(0, BN)
    rk = tl.program_id(0) * BK + tl.arange(0, BK)
    sums = tl.dot(tl.load(a + rm[:, None] * k + rk[None, :]), tl.load(b + rn[:, None] * k + rk[None, :]).T)
    at = c + rm[:, None] * BN + rn[None, :]
    if LOCKED:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.debug_barrier()
    tl.store(at, tl.load(at) + sums)
    if LOCKED:
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0)


@triton.jit
def rows_softmax(out, x, pitch, columns, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    keep = i < columns
    if MASKED:
        v = tl.load(x + row * pitch + i, mask=keep, other=-float("inf"))
    else:
        v = tl.where(keep, tl.load(x + row * pitch + i), -float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * pitch + i, e / tl.sum(e, axis=0), mask=keep)


@triton.jit
def transposed(x, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + rm[:, None] * n + rn[None, :])
    tl.store(y + rn[:, None] * m + rm[None, :], tl.trans(v))


@triton.jit
def sorted_rows(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.sort(tl.load(x + i)))


@triton.jit
def counted(x, bins, count, BLOCK: tl.constexpr, ATOMIC: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + i, mask=i < count, other=0), 64, mask=i < count)
    at = bins + tl.arange(0, 64)
    if ATOMIC:
        tl.atomic_add(at, counts)
    else:
        tl.store(at, tl.load(at) + counts)


@triton.jit
def updated(x, BLOCK: tl.constexpr):
    # Half of the threads have copies of what the others store.
    at = x + tl.arange(0, BLOCK)
    tl.store(at, tl.load(at) * 2 + 1)


@triton.jit
def dropped(x, y, count, seed, BLOCK: tl.constexpr, GUARD: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > 0.5
    inside = i < count
    v = tl.load(x + i, mask=inside)
    tl.store(y + i, tl.where(keep, v * 2, 0.0), mask=inside if GUARD else i < count + 1)


@triton.jit
def gathered(x, index, y, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < count, other=0)
    tl.store(y + i, tl.load(x + at, mask=i < count), mask=i < count)


@triton.jit
def bf16_matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for t in range(0, k, BK):
        x = tl.load(a + rm[:, None] * k + (t + rk)[None, :])
        y = tl.load(b + (t + rk)[:, None] * n + rn[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(c + rm[:, None] * n + rn[None, :], sums)


def case(kernel, signature, target=90, warps=4, stages=2, **constants):
    return dict(kernel=kernel, signature=signature, target=target, warps=warps, stages=stages, constants=constants)


HEADS = dict(q="*fp16", k="*fp16", v="*fp16", out="*fp16", scale="fp32", S="i32")
SCAN = dict(x="*i32", y="*i32", sums="*i32", flags="*i32")
SPLIT = dict(a="*fp16", b="*fp16", c="*fp32", lock="*i32", k="i32")
SOFT = dict(out="*fp32", x="*fp32", pitch="i32", columns="i32")
COUNT = dict(x="*i32", bins="*i32", count="i32")
DROP = dict(x="*fp32", y="*fp32", count="i32", seed="i32")
PRODUCT = dict(a="*bf16", b="*bf16", c="*fp32", m="i32", n="i32", k="i32")

# Files, and the entries of each.
KERNELS = {
    "triton_attention": {
        "right": case(attention, HEADS, target=80, D=64, BM=64, BN=32, CAUSAL=False, MASK=True),
        "unmasked": case(attention, HEADS, target=80, D=64, BM=64, BN=32, CAUSAL=False, MASK=False),
    },
    "triton_attention_causal": {
        "right": case(attention, HEADS, D=64, BM=64, BN=32, CAUSAL=True, MASK=True),
    },
    "triton_tma_matmul": {
        "right": case(tma_matmul, dict(a="tensordesc<fp16[64,64]>", b="tensordesc<fp16[64,64]>", c="tensordesc<fp16[64,64]>", k="i32"), stages=3, BM=64, BN=64, BK=64),
    },
    "triton_tma_copy": {
        "right": case(tma_copy, dict(a="tensordesc<fp32[32,32]>", b="tensordesc<fp32[32,32]>"), BM=32, BN=32),
    },
    "triton_made_descriptor": {
        "right": case(made_descriptor, dict(x="*fp32", y="*fp32", rows="i32", columns="i32"), BM=16, BN=32),
    },
    "triton_lookback": {
        "right": case(lookback, SCAN, BLOCK=256, SEM="acq_rel", SCOPE="gpu", ORDERED=True),
        "relaxed": case(lookback, SCAN, BLOCK=256, SEM="relaxed", SCOPE="gpu", ORDERED=True),
        "block_scope": case(lookback, SCAN, BLOCK=256, SEM="acq_rel", SCOPE="cta", ORDERED=True),
        "flag_first": case(lookback, SCAN, BLOCK=256, SEM="acq_rel", SCOPE="gpu", ORDERED=False),
    },
    "triton_split_k": {
        "right": case(split_k, SPLIT, target=80, BM=32, BN=32, BK=32, LOCKED=True),
        "unlocked": case(split_k, SPLIT, target=80, BM=32, BN=32, BK=32, LOCKED=False),
    },
    "triton_softmax": {
        "right": case(rows_softmax, SOFT, BLOCK=512, MASKED=True),
        "unmasked": case(rows_softmax, SOFT, BLOCK=512, MASKED=False),
    },
    "triton_transposed": {"right": case(transposed, dict(x="*i32", y="*i32", m="i32", n="i32"), BM=32, BN=32)},
    "triton_sorted": {"right": case(sorted_rows, dict(x="*i32", y="*i32"), BLOCK=128)},
    "triton_counted": {
        "right": case(counted, COUNT, BLOCK=256, ATOMIC=True),
        "plain": case(counted, COUNT, BLOCK=256, ATOMIC=False),
    },
    "triton_updated": {"right": case(updated, dict(x="*i32"), BLOCK=64)},
    "triton_dropped": {
        "right": case(dropped, DROP, BLOCK=256, GUARD=True),
        "unguarded": case(dropped, DROP, BLOCK=256, GUARD=False),
    },
    "triton_gathered": {"right": case(gathered, dict(x="*i32", index="*i32", y="*i32", count="i32"), BLOCK=256)},
    "triton_matmul": {"right": case(bf16_matmul, PRODUCT, target=80, stages=3, BM=32, BN=32, BK=32)},
    "triton_wgmma": {"right": case(bf16_matmul, PRODUCT, stages=3, BM=64, BN=64, BK=32)},
}
