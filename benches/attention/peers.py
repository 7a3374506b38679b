#!/usr/bin/env python3
"""Attention of girih's beside cuDNN and FlashAttention-2 through torch, Triton, and FlashAttention-3 where its wheel is, interleaved in one process.

  python3 peers.py FOLDER --seconds 500 -o rows.jsonl
  python3 peers.py --table rows.jsonl
  python3 peers.py FOLDER --before OLD --rounds 50 -o pairs.jsonl

FOLDER has what `attention_modules` wrote. Needs torch, triton and cuda-python. Inputs are N(0,1); each contestant's launches over two sets of inputs are
captured in a graph of about 20 ms; contestants are shuffled in each round and take slices of 100 ms, of which the first 40 are discarded. Before and
after that, every result is compared with cuDNN's, and rows of three heads with f64, in outputs and logarithms that were filled with NaN. Of packed
sequences the kernels alone are compared, as the profiler times them.

With `--before`, girih's kernels are compared with those that an earlier commit's `attention_modules` wrote into another folder, and nothing else runs. Slices
take turns in the order after, before, before, after. The ratio is the mean over pairs of slices without the tenths at both ends; its standard error is
about 0.1 % with 50 pairs, where medians of a few slices differ by several percent from run to run.
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time


def table(path):
    """The records of a file as a table."""
    print("| row | us | TFLOP/s | beside cuDNN | beside FA-2 | beside FA-3 | beside Triton | spread |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for record in map(json.loads, open(path)):
        us = record["us"]
        if ways := [us[name] for name in us if name.startswith("triton")]:
            us["best of triton"] = min(ways)
        beside = lambda peer: f"{us[peer] / us['girih']:.3f}" if peer in us else "-"
        right = "" if record["right"] else " WRONG"
        print(f"| {record['row']}{right} | {us['girih']:.1f} | {record['flops'] / us['girih'] / 1e6:.0f} | {beside('cudnn')} | "
              f"{beside('fa2')} | {beside('fa3')} | {beside('best of triton')} | {100 * record['spread']:.1f} % |")
        others = sorted((micros, name) for name, micros in us.items() if name not in ("girih", "cudnn", "fa2", "fa3") and "triton" not in name)
        for micros, name in others[:3]:
            print(f"| &nbsp; {name} | {micros:.1f} | {record['flops'] / micros / 1e6:.0f} | {us.get('cudnn', math.nan) / micros:.3f} | | | | |")


if "--table" in sys.argv:
    table(sys.argv[-1])
    sys.exit()

import numpy as np
import torch
import triton
import triton.language as tl
from cuda.bindings import driver as cu
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile

# The module beside this folder.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from launches import KINDS, address, capture, check, encoded, estimated, packed, prepared, timed

try:
    from flash_attn_interface import flash_attn_func, flash_attn_varlen_func
except ImportError:
    flash_attn_func = flash_attn_varlen_func = None

START = time.time()
# Descriptors that kernels make need memory.
triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
SETS = 2


def tensor_map(tensor, param):
    """The map of a tensor as the manifest describes it, the innermost dimension first, strides in bytes."""
    return encoded(KINDS[tensor.dtype], tensor.data_ptr(), param["dims"], param["strides"], param["box"], param["swizzle"])


class Girih:
    """One launch of a kernel of girih's."""

    loaded = {}

    def __init__(self, folder, launch):
        path = os.path.join(folder, launch["ptx"])
        if path not in Girih.loaded:
            Girih.loaded[path] = check(cu.cuModuleLoadData(open(path, "rb").read() + b"\0"))
        self.function = check(cu.cuModuleGetFunction(Girih.loaded[path], launch["kernel"].encode()))
        self.folder, self.launch = folder, launch
        attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        check(cu.cuFuncSetAttribute(self.function, attribute, launch["shared"]))

    def call(self, tensors):
        values, kept = [], []
        for param in self.launch["params"]:
            if "pointer" in param:
                values.append(address(tensors[param["pointer"]]))
            elif "table" in param:
                words = np.fromfile(os.path.join(self.folder, param["table"]), dtype=np.int32)
                kept.append(torch.from_numpy(words).cuda())
                values.append(address(kept[-1]))
            elif "map" in param:
                values.append(tensor_map(tensors[param["map"]], param))
            else:
                values.append(packed(param["bytes"]))
        return prepared(self.function, self.launch, values, (kept, tensors))


@triton.jit
def t_turns(x, of_k, of_v, most, total, acc, first, stop, row, scale, BM: tl.constexpr, BN: tl.constexpr, MASKED: tl.constexpr):
    for j in tl.range(first, stop, BN):
        scores = tl.dot(x, of_k.load([j, 0]).T)
        if MASKED:
            seen = row + tl.arange(0, BM)[:, None] >= j + tl.arange(0, BN)[None, :]
            scores = tl.where(seen, scores, -float("inf"))
        new = tl.maximum(most, tl.max(scores, 1) * scale)
        p = tl.exp2(scores * scale - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(x.dtype), of_v.load([j, 0]), acc * shrink[:, None])
        most = new
    return most, total, acc


@triton.jit
def t_attention(q, k, v, o, S, group, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    row = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM
    head = tl.program_id(1).to(tl.int64)
    mine, theirs = head * S * D, head // group * S * D
    of_q = tl.make_tensor_descriptor(q + mine, shape=[S, D], strides=[D, 1], block_shape=[BM, D])
    of_o = tl.make_tensor_descriptor(o + mine, shape=[S, D], strides=[D, 1], block_shape=[BM, D])
    of_k = tl.make_tensor_descriptor(k + theirs, shape=[S, D], strides=[D, 1], block_shape=[BN, D])
    of_v = tl.make_tensor_descriptor(v + theirs, shape=[S, D], strides=[D, 1], block_shape=[BN, D])
    x = of_q.load([row, 0])
    most, total = tl.full([BM], -float("inf"), tl.float32), tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    whole = row if CAUSAL else S
    most, total, acc = t_turns(x, of_k, of_v, most, total, acc, 0, whole, row, scale, BM, BN, False)
    if CAUSAL:
        most, total, acc = t_turns(x, of_k, of_v, most, total, acc, whole, row + BM, row, scale, BM, BN, True)
    of_o.store([row, 0], (acc / total[:, None]).to(x.dtype))


def by_triton(row, bm, bn, warps, stages):
    """A way of Triton's, for heads that lie in rows of a power of two of columns, of lengths that tiles divide."""
    def run(t):
        batch, heads, length, dim = t["q"].shape
        t_attention[(length // bm, batch * heads)](
            t["q"], t["k"], t["v"], t["o"], length, heads // row["kv_heads"], row["scale"] * math.log2(math.e), D=dim, BM=bm, BN=bn,
            CAUSAL=row["causal"], num_warps=warps, num_stages=stages)
        return t["o"]
    return run


def inputs(row):
    """Q, K and V as the row's order has them, and NaN for what is written."""
    batch, length, dim, kind = row["batch"], row["length"], row["dim"], DTYPES[row["dtype"]]

    def shape(heads):
        return (batch, heads, length, dim) if row["order"] == "bhsd" else (batch, length, heads, dim)
    out = {name: torch.randn(shape(heads), device="cuda").to(kind) for name, heads in
           [("q", row["heads"]), ("k", row["kv_heads"]), ("v", row["kv_heads"])]}
    out["o"] = torch.full(shape(row["heads"]), math.nan, device="cuda", dtype=kind)
    out["lse"] = torch.full((batch, row["heads"], length), math.nan, device="cuda")
    return out


def heads_first(row, tensor):
    return tensor if row["order"] == "bhsd" else tensor.transpose(1, 2)


def peers(row):
    """The other contestants: functions of tensors that return O, (Batch,Head,Row,HeadDim)."""
    causal, scale, grouped = row["causal"], row["scale"], row["heads"] != row["kv_heads"]
    qkv = lambda t: [heads_first(row, t[name]) for name in "qkv"]

    def by(backend):
        def run(t):
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(*qkv(t), is_causal=causal, scale=scale, enable_gqa=grouped)
        return run
    if not row["begins"]:
        out = {"cudnn": by(SDPBackend.CUDNN_ATTENTION), "fa2": by(SDPBackend.FLASH_ATTENTION)}
        if row["order"] == "bhsd" and row["dim"].bit_count() == 1:
            shapes = [(128, 128, 8, 3), (128, 64, 8, 3), (128, 64, 4, 3), (64, 64, 4, 3)]
            out |= {f"triton {bm}x{bn} {w} warps {s} stages": by_triton(row, bm, bn, w, s) for bm, bn, w, s in shapes}
        if flash_attn_func:
            def fa3(t):
                found = flash_attn_func(*[x.transpose(1, 2) for x in qkv(t)], softmax_scale=scale, causal=causal)
                return (found[0] if isinstance(found, tuple) else found).transpose(1, 2)
            out["fa3"] = fa3
        return out
    begins = torch.tensor(row["begins"], device="cuda", dtype=torch.int32)
    longest = max(b - a for a, b in zip(row["begins"], row["begins"][1:]))
    one = lambda t: [t[name][0] for name in "qkv"]
    back = lambda o: o[None].transpose(1, 2)

    def cudnn(t):
        found = torch.ops.aten._cudnn_attention_forward(
            *one(t), None, begins, begins, longest, longest, True, 0.0, causal, False, scale=scale)
        return back(found[0])

    def fa2(t):
        found = torch.ops.aten._flash_attention_forward(*one(t), begins, begins, longest, longest, 0.0, causal, False, scale=scale)
        return back(found[0])
    out = {"cudnn": cudnn, "fa2": fa2}
    if flash_attn_varlen_func:
        def fa3(t):
            found = flash_attn_varlen_func(*one(t), begins, begins, longest, longest, softmax_scale=scale, causal=causal)
            return back(found[0] if isinstance(found, tuple) else found)
        out["fa3"] = fa3
    return out


def reference(row, t, head, rows):
    """O and the logarithms of these rows of a head of batch 0 in f64."""
    q, k, v = (heads_first(row, t[name])[0] for name in "qkv")
    group = head * row["kv_heads"] // row["heads"]
    scores = q[head, rows].double() @ k[group].double().T * row["scale"]
    at, keys = rows[:, None], torch.arange(row["length"], device="cuda")[None]
    hidden = keys > at if row["causal"] else torch.zeros_like(keys > at)
    if row["begins"]:
        ends = torch.tensor(row["begins"][1:], device="cuda")
        of = lambda places: torch.bucketize(places, ends, right=True)
        hidden = hidden | (of(at) != of(keys))
    scores = scores.masked_fill(hidden, -math.inf)
    return torch.softmax(scores, -1) @ v[group].double(), torch.logsumexp(scores, -1)


def judged(row, t, cudnn):
    """Whether O and the logarithms are right: the errors of O and of cuDNN's relative to f64 and of the logarithms, and the difference to cuDNN."""
    o, found = heads_first(row, t["o"]), {"o": 0.0, "lse": 0.0, "cudnn": 0.0}
    rows = torch.randperm(row["length"], device="cuda")[:512].sort().values
    for head in {0, row["heads"] // 2, row["heads"] - 1}:
        wanted, lse = reference(row, t, head, rows)
        error = (o[0, head, rows].double() - wanted).norm() / wanted.norm()
        # NaN is no error that max keeps.
        found["o"] = max(found["o"], math.inf if error.isnan() else error.item())
        if cudnn is not None:
            found["cudnn"] = max(found["cudnn"], ((cudnn[0, head, rows].double() - wanted).norm() / wanted.norm()).item())
        error = (t["lse"][0, head, rows].double() - lse).abs().max()
        found["lse"] = max(found["lse"], math.inf if error.isnan() else error.item())
    if cudnn is not None:
        error = (o.float() - cudnn.float()).norm() / cudnn.float().norm()
        found["beside"] = math.inf if error.isnan() else error.item()
    found["right"] = found["o"] < 4e-3 and found["lse"] < 1e-3 and found.get("beside", 0) < 6e-3
    return found


def alone(contestants, rounds):
    """The microseconds of each contestant's longest kernel by the profiler, the medians of rounds, for those that no graph can hold: what torch does on
    the host for packed sequences takes much longer than the kernel. The card idles between calls."""
    found = {name: [] for name in contestants}
    order = list(contestants)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            with profile(activities=[ProfilerActivity.CUDA]) as profiled:
                for call in contestants[name]:
                    call()
                    torch.cuda.synchronize()
            times = sorted(event.device_time_total for event in profiled.events())
            found[name].append(statistics.mean(times[-len(contestants[name]):]))
    return found


def contest(contestants, rounds, milliseconds):
    """The medians of the slices of each contestant in microseconds; contestants are shuffled in each round."""
    graphs = {}
    for name, calls in contestants.items():
        calls[0]()
        count = max(1, round(20 / estimated(calls) / len(calls))) * len(calls)
        graphs[name] = (capture(calls, count), count)
    found, order = {name: [] for name in graphs}, list(graphs)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            graph, count = graphs[name]
            found[name].append(1e3 * statistics.median(timed(graph, milliseconds)) / count)
    return found


def measure(args, row, machine, out):
    sets = [inputs(row) for _ in range(SETS)]
    ways, contestants = peers(row), {}
    for name, way in list(ways.items()):
        try:
            way(sets[0])
            torch.cuda.synchronize()
            contestants[name] = [lambda t=t, way=way: way(t) for t in sets]
        except Exception as error:
            print(f"  {name} is left out: {str(error)[:120]}")
            del ways[name]
    kernels = {}
    for i, launch in enumerate(row["launches"]):
        name = "girih" if i == 0 else launch["name"]
        try:
            kernels[name] = Girih(args.folder, launch)
            contestants[name] = [kernels[name].call(t) for t in sets]
        except Exception as error:
            print(f"  {name} is left out: {str(error)[:120]}")
    cudnn = ways["cudnn"](sets[0]) if "cudnn" in ways else None

    def judge():
        verdicts = {}
        for name in kernels:
            sets[0]["o"].fill_(math.nan)
            sets[0]["lse"].fill_(math.nan)
            contestants[name][0]()
            torch.cuda.synchronize()
            verdicts[name] = judged(row, sets[0], cudnn)
        return verdicts
    before = judge()
    for name, verdict in before.items():
        if not verdict["right"]:
            print(f"  {name} is WRONG: {verdict}")
    found = alone(contestants, 5 * args.rounds) if row["begins"] else contest(contestants, args.rounds, args.milliseconds)
    after = judge()
    us = {name: statistics.median(each) for name, each in found.items()}
    right = all(verdict["right"] for verdict in [before["girih"], after["girih"]])
    spread = (max(found["girih"]) - min(found["girih"])) / us["girih"]
    record = {
        "row": row["name"], "right": right, "errors": before["girih"], "flops": row["flops"],
        "us": {name: round(micros, 3) for name, micros in us.items()},
        "slices": {name: [round(m, 3) for m in each] for name, each in found.items()}, "spread": round(spread, 4),
        "wrong": [name for name in kernels if not (before[name]["right"] and after[name]["right"])],
        "gpu": machine[0], "driver": machine[1], "torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
        "date": time.strftime("%Y-%m-%d"),
    }
    out.write(json.dumps(record) + "\n")
    out.flush()
    rates = " ".join(f"{name} {row['flops'] / micros / 1e6:.0f}" for name, micros in sorted(us.items(), key=lambda pair: pair[1])[:8])
    beside = f"{us['cudnn'] / us['girih']:.3f}" if "cudnn" in us else "-"
    print(f"{row['name']:32} {'right' if right else 'WRONG'} {us['girih']:9.1f} us  of cuDNN {beside}  TFLOP/s: {rates}  spread {100 * spread:.1f} %")


def beside_before(args, row, old, machine, out):
    """The time of girih's kernel in relation to that of the launch `old`."""
    sets, graphs, kept = [inputs(row) for _ in range(SETS)], {}, []
    for name, folder, launch in [("after", args.folder, row["launches"][0]), ("before", args.before, old)]:
        calls = [Girih(folder, launch).call(t) for t in sets]
        # What the calls refer to lives as long as the graph.
        kept.append(calls)
        calls[0]()
        torch.cuda.synchronize()
        verdict = judged(row, sets[0], None)
        if not verdict["right"]:
            print(f"  {name} is WRONG: {verdict}")
        count = max(1, round(20 / estimated(calls) / len(calls))) * len(calls)
        graphs[name] = (capture(calls, count), count)
    found = {name: [] for name in graphs}
    for i in range(-2, args.rounds):
        for name in ["after", "before"][:: 1 if i % 2 == 0 else -1]:
            graph, count = graphs[name]
            us = 1e3 * statistics.mean(timed(graph, args.milliseconds)) / count
            # The first pairs warm the card up.
            if i >= 0:
                found[name].append(us)
    ratios = sorted(math.log(after / before) for after, before in zip(found["after"], found["before"]))
    cut = len(ratios) // 10
    ratio = math.exp(statistics.mean(ratios[cut:len(ratios) - cut]))
    error = statistics.stdev(ratios) / math.sqrt(len(ratios))
    us = {name: round(statistics.median(each), 2) for name, each in found.items()}
    slices = {name: [round(m, 3) for m in each] for name, each in found.items()}
    record = {"row": row["name"], "ratio": round(ratio, 4), "error": round(error, 4), "us": us, "slices": slices, "gpu": machine[0],
              "driver": machine[1], "date": time.strftime("%Y-%m-%d")}
    out.write(json.dumps(record) + "\n")
    out.flush()
    print(f"{row['name']:32} {us['after']:9.1f} us, before {us['before']:9.1f} us, after / before {ratio:.4f} +- {error:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--before", metavar="OLD", help="the folder of an earlier commit's kernels")
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--milliseconds", type=float, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("-o", "--output", default="attention-rows.jsonl")
    args = parser.parse_args()
    manifest = json.load(open(os.path.join(args.folder, "manifest.json")))
    old = json.load(open(os.path.join(args.before, "manifest.json"))) if args.before else {"rows": []}
    old = {row["name"]: row["launches"][0] for row in old["rows"]}
    query = "--query-gpu=name,driver_version"
    machine = subprocess.check_output(["nvidia-smi", query, "--format=csv,noheader"], text=True).strip().splitlines()[0].split(", ")
    print(f"{', driver '.join(machine)}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    torch.zeros(1, device="cuda")
    # What stands in the record is not measured again: the same command goes on.
    done = {json.loads(line)["row"] for line in open(args.output)} if os.path.exists(args.output) else set()
    with open(args.output, "a") as out:
        for row in manifest["rows"]:
            if args.only not in row["name"] or row["name"] in done:
                continue
            if time.time() - START > args.seconds:
                print(f"the time is over before {row['name']}")
                sys.exit(3)
            try:
                if args.before:
                    beside_before(args, row, old[row["name"]], machine, out)
                else:
                    measure(args, row, machine, out)
            except Exception as error:  # One row that fails must not end the others.
                print(f"{row['name']}: {type(error).__name__}: {str(error)[:300]}")
                torch.cuda.synchronize()


main()
