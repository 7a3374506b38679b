"""What `peers.py` measures beside kernels with products of matrices: torch's ways (cuBLAS, cuDNN), Triton's, and references."""
import math

import torch
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention, silu

# Descriptors that kernels make need memory.
triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))


@triton.jit
def t_grouped(a, b, ends, y, M, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, MAPS: tl.constexpr):
    columns = tl.cdiv(N, BN)
    if MAPS:
        of_a = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
        of_b = tl.make_tensor_descriptor(b, shape=[G * K, N], strides=[N, 1], block_shape=[BK, BN])
    at, first, start = tl.program_id(0), 0, 0
    for g in range(G):
        end = tl.load(ends + g)
        tiles = tl.cdiv(end - start, BM) * columns
        while at < first + tiles:
            i, j = (at - first) // columns, (at - first) % columns
            rows, cols = start + i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.float32)
            for k in range(0, K, BK):
                if MAPS:
                    x, w = of_a.load([start + i * BM, k]), of_b.load([g * K + k, j * BN])
                else:
                    ks = k + tl.arange(0, BK)
                    x = tl.load(a + rows[:, None].to(tl.int64) * K + ks[None, :], mask=rows[:, None] < end, other=0.0)
                    w = tl.load(b + (g * K + ks)[:, None].to(tl.int64) * N + cols[None, :])
                acc = tl.dot(x, w, acc)
            tl.store(y + rows[:, None].to(tl.int64) * N + cols[None, :], acc.to(y.dtype.element_ty), mask=rows[:, None] < end)
            at += tl.num_programs(0)
        first += tiles
        start = end


def flops(row):
    """Multiplications and additions of a row; None of rows that memory bounds."""
    op, shape = row["op"], row["shape"]
    if op.startswith("attention"):
        batch, heads, length, d = shape
        return 4 * batch * heads * length * length * d / (2 if op == "attention_causal" else 1)
    if op == "grouped":
        m, n, k, _ = shape
        return 2 * m * n * k
    if op == "gated_mlp":
        m, n, k = shape
        return 4 * m * n * k
    return None


def attention(row, shape):
    causal = row["op"] == "attention_causal"
    batch, heads, length, d = shape
    scale = 1 / math.sqrt(d)

    def by_torch(t):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            scaled_dot_product_attention(t["q"], t["k"], t["v"], is_causal=causal, scale=scale)

    def reference(t):
        out = torch.empty(shape, device="cuda", dtype=torch.float64)
        mask = torch.ones(length, length, device="cuda", dtype=torch.bool).triu(1)
        for b in range(batch):
            for h in range(heads):
                scores = t["q"][b, h].double() @ t["k"][b, h].double().T * scale
                if causal:
                    scores.masked_fill_(mask, -math.inf)
                out[b, h] = torch.softmax(scores, -1) @ t["v"][b, h].double()
        return out
    return {name: tuple(shape) for name in "qkv"}, {"y": tuple(shape)}, by_torch, [], reference


def grouped(row, shape):
    m, n, k, groups = shape

    def ends():
        # The largest groups have seven times as many rows as the smallest.
        weights = torch.tensor([1 + g * 5 % 7 for g in range(groups)], device="cuda").cumsum(0)
        return (m * weights // weights[-1]).to(torch.int32)

    def make(*of):
        return lambda: (torch.randn(of, device="cuda") / math.sqrt(k)).to(torch.bfloat16)

    def way(bm, bn, bk, warps, stages, maps):
        return lambda t: t_grouped[(132,)](t["a"], t["b"], t["ends"], t["y"], m, n, k, groups, BM=bm, BN=bn, BK=bk, MAPS=maps,
                                           num_warps=warps, num_stages=stages)
    ways = [way(128, 256, 64, 8, 3, True), way(128, 256, 64, 8, 4, True), way(128, 128, 64, 4, 4, True), way(128, 256, 64, 8, 3, False),
            way(128, 128, 64, 8, 4, False)]

    def reference(t):
        out, start = torch.empty(m, n, device="cuda", dtype=torch.float32), 0
        for g, end in enumerate(t["ends"].tolist()):
            out[start:end] = t["a"][start:end].float() @ t["b"][g].float()
            start = end
        return out

    def by_torch(t):
        torch._grouped_mm(t["a"], t["b"], offs=t["ends"], out_dtype=torch.bfloat16)
    return {"a": make(m, k), "b": make(groups, k, n), "ends": ends}, {"y": (m, n)}, by_torch, ways, reference


def gated_mlp(row, shape):
    m, n, k = shape

    def make(*of):
        return lambda: (torch.randn(of, device="cuda") / math.sqrt(math.sqrt(k))).to(torch.bfloat16)

    def by_torch(t):
        silu(t["x"] @ t["gate"]) * (t["x"] @ t["up"])

    def reference(t):
        x = t["x"].float()
        return silu(x @ t["gate"].float()) * (x @ t["up"].float())
    return {"x": make(m, k), "gate": make(k, n), "up": make(k, n)}, {"y": (m, n)}, by_torch, [], reference


def operation(row):
    """As `operation` of `peers.py`; an input is a shape, or a function that makes it. None of other operations."""
    ways = {"attention": attention, "attention_causal": attention, "grouped": grouped, "gated_mlp": gated_mlp}
    return ways[row["op"]](row, row["shape"]) if row["op"] in ways else None
