"""What `peers.py` measures beside kernels that work on everything in one launch: torch's ways, Triton's, and references."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def t_cumsum(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=0.0)
    tl.store(y + row * n + at, tl.cumsum(v, 0), mask=at < n)


@triton.jit
def t_histogram(x, y, n, BLOCK: tl.constexpr):
    found = tl.zeros((256,), tl.int32)
    for at in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        found += tl.histogram(tl.load(x + at + tl.arange(0, BLOCK)).to(tl.int32), 256)
    tl.atomic_add(y + tl.arange(0, 256), found)


def operation(row, dtype):
    """As `operation` of `peers.py`; an input is a shape, or a function that makes it."""
    op, shape = row["op"], row["shape"]
    size = math.prod(shape)
    if op == "cumsum":
        m, n = shape
        ways = [lambda t, w=w: t_cumsum[(m,)](t["x"], t["y"], n, BLOCK=triton.next_power_of_2(n), num_warps=w) for w in (8, 16, 32)]
        return {"x": (m, n)}, {"y": (m, n)}, lambda t: torch.cumsum(t["x"], 1, out=t["y"]), ways, lambda t: t["x"].double().cumsum(1)
    if op == "cumsum_all":
        def make():
            if dtype.is_floating_point:
                return torch.randn(size, device="cuda", dtype=torch.float32).to(dtype)
            return torch.randint(-1000, 1000, (size,), device="cuda", dtype=dtype)
        return {"x": make}, {"y": (size,)}, lambda t: torch.cumsum(t["x"], 0, out=t["y"]), [], lambda t: t["x"].double().cumsum(0)
    if op == "histogram":
        make = lambda: torch.randint(0, 256, (size,), device="cuda", dtype=torch.uint8)
        ways = [lambda t, b=b, w=w: t_histogram[(132 * 8,)](t["x"], t["y"], size, BLOCK=b, num_warps=w) for b, w in ((2048, 4), (8192, 8))]
        return {"x": make}, {"y": (256,)}, None, ways, lambda t: torch.bincount(t["x"], minlength=256)
    if op == "sum_all":
        return {"x": (size,)}, {"y": (1,)}, lambda t: torch.sum(t["x"]), [], lambda t: t["x"].double().sum().reshape(1)
    if op == "argmax_all":
        first = lambda t: (t["x"] == t["x"].max()).nonzero()[0]
        return {"x": (size,)}, {"y": (1,)}, lambda t: torch.argmax(t["x"]), [], first
    if op == "segment_sum":
        count = row["sizes"]["y"][0]

        def offsets():
            # Lengths that differ by two orders of magnitude, a quarter of them 0.
            lengths = torch.rand(count, device="cuda").mul_(6).exp_() * (torch.rand(count, device="cuda") > 0.25)
            ends = lengths.double().cumsum(0)
            ends = (ends / ends[-1] * size).round()
            return torch.cat([torch.zeros(1, device="cuda"), ends]).to(torch.int32)

        def reference(t):
            sums = torch.cat([torch.zeros(1, device="cuda", dtype=torch.float64), t["x"].double().cumsum(0)])
            return sums[t["offsets"][1:].long()] - sums[t["offsets"][:-1].long()]

        def by_torch(t):
            torch.segment_reduce(t["x"], "sum", offsets=t["offsets"], unsafe=True)
        return {"x": (size,), "offsets": offsets}, {"y": (count,)}, by_torch, [], reference
    raise ValueError(op)
