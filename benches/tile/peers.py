#!/usr/bin/env python3
"""Tile kernels of girih's beside torch, Triton and the device-to-device copy rate, interleaved in one process.

  python3 peers.py FOLDER --seconds 300 -o rows.jsonl
  python3 peers.py --table rows.jsonl

FOLDER has what `tile_rows` wrote: PTX modules and manifest.json, whose rows name a module, its launch and the packed arguments.
Needs torch, triton and cuda-python. Inputs are random; several sets of buffers are rotated so that a round touches more than the L2; each
contestant's launches are captured in a graph; contestants take turns in slices, and the first part of each slice is discarded. Every
result is compared with an f64 or f32 reference before it is timed, in poisoned outputs.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time



def table(path):
    """The records of a file as a table."""
    records = [json.loads(line) for line in open(path)]
    print("| row | us | TFLOP/s | beside torch | beside Triton | spread |")
    print("|---|---:|---:|---:|---:|---:|")
    for record in (record for record in records if record.get("flops")):
        us, right = record["us"], "" if record["right"] else " WRONG"
        beside = lambda peers: f"{min(peers) / us['girih']:.3f}" if peers else "-"
        print(f"| {record['row']}{right} | {us['girih']:.2f} | {record['flops'] / us['girih'] / 1e6:.0f} | "
              f"{beside([us['torch']] if 'torch' in us else [])} | {beside([us[name] for name in us if name.startswith('triton')])} | "
              f"{100 * record['spread']:.1f} % |")
    print()
    print("| row | us | GB/s | of the copy rate | torch | Triton | spread |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for record in (record for record in records if not record.get("flops")):
        rate = record["rate"]
        best = max((rate[name] for name in rate if name.startswith("triton")), default=None)
        share = lambda peer: f"{peer / rate['copy']:.3f}" if peer else "-"
        right = "" if record["right"] else " WRONG"
        print(f"| {record['row']}{right} | {record['us']['girih']:.2f} | {rate['girih']:.0f} | {share(rate['girih'])} | "
              f"{share(rate.get('torch'))} | {share(best)} | {100 * record['spread']:.1f} % |")


if "--table" in sys.argv:
    table(sys.argv[-1])
    sys.exit()

import torch
import triton
import triton.language as tl
from cuda.bindings import driver as cu

# The module beside this folder.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import products
import wide
from launches import KINDS, address, capture, check, encoded, estimated, packed, prepared, timed

START = time.time()
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "s32": torch.int32, "f64": torch.float64}
# Torch has no arithmetic of unsigned numbers, and zeros are zeros.
DTYPES |= {"u8": torch.uint8, "u32": torch.int32, "u64": torch.int64}
ROTATED = 384 << 20


def tensor_map(tensor, axes, box, swizzle):
    """The map of a tensor whose dimensions are these axes of it, the innermost first; `swizzle` as the driver counts them."""
    kind = KINDS.get(tensor.dtype, cu.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_UINT8)
    strides = [tensor.stride(axis) * tensor.element_size() for axis in axes[1:]]
    return encoded(kind, tensor.data_ptr(), [tensor.shape[axis] for axis in axes], strides, box, swizzle)


class Girih:
    """One launch of a kernel of girih's."""

    loaded = {}

    def __init__(self, folder, row):
        path = os.path.join(folder, row["ptx"])
        if path not in Girih.loaded:
            begin = time.time()
            module = check(cu.cuModuleLoadData(open(path, "rb").read() + b"\0"))
            Girih.loaded[path] = (module, time.time() - begin)
        module, self.compiled = Girih.loaded[path]
        self.function = check(cu.cuModuleGetFunction(module, row["kernel"].encode()))
        self.row = row
        if row["shared"] > 48 << 10:
            attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            check(cu.cuFuncSetAttribute(self.function, attribute, row["shared"]))

    def call(self, tensors):
        values = []
        for param in self.row["params"]:
            if "pointer" in param:
                values.append(address(tensors[param["pointer"]]))
            elif "map" in param:
                values.append(tensor_map(tensors[param["map"]], **param["boxes"]))
            else:
                values.append(packed(param["bytes"]))
        return prepared(self.function, self.row, values)


# ------------------------------------------------------------------------------------------------ Triton
@triton.jit
def t_softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + at, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=at < n)


@triton.jit
def t_norm(x, w, b, y, n, eps, LAYER: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    if LAYER:
        v = tl.where(at < n, v - tl.sum(v, 0) / n, 0.0)
    scale = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    out = v * scale * tl.load(w + at, mask=at < n, other=0.0).to(tl.float32)
    if LAYER:
        out += tl.load(b + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + row * n + at, out.to(y.dtype.element_ty), mask=at < n)


@triton.jit
def t_add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def t_transpose(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(1) * A + tl.arange(0, A)
    j = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i[:, None].to(tl.int64) * n + j[None, :])
    tl.store(y + j[:, None].to(tl.int64) * m + i[None, :], tl.trans(v))


@triton.jit
def t_row_sum(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), tl.float32)
    for at in range(0, n, BLOCK):
        acc += tl.load(x + row * n + at + tl.arange(0, BLOCK))
    tl.store(y + row, tl.sum(acc, 0))


@triton.jit
def t_column_sum(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    j = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((A, B), tl.float32)
    for at in range(0, m, A):
        acc += tl.load(x + (at + tl.arange(0, A))[:, None].to(tl.int64) * n + j[None, :])
    tl.store(y + j, tl.sum(acc, 0))


def warps(n):
    return 4 if n <= 2048 else 8 if n <= 8192 else 16 if n <= 32768 else 32


# ------------------------------------------------------------------------------------------------ operations
# Each gives: names and shapes of inputs and outputs, torch's way, Triton's ways, and the reference.
def operation(row):
    op, shape, dtype = row["op"], row["shape"], DTYPES[row["dtype"]]
    if found := products.operation(row):
        return found
    m, n = (shape + [1])[:2] if len(shape) < 2 else shape
    triton_ways, eps = [], 1e-5
    if op in ("softmax", "rmsnorm", "layernorm"):
        block = triton.next_power_of_2(n)
        inputs = {"x": (m, n)}
        if op != "softmax":
            inputs["w"] = (n,)
        if op == "layernorm":
            inputs["b"] = (n,)
        for w in sorted({warps(n), min(32, 2 * warps(n))}):
            if op == "softmax":
                triton_ways.append(lambda t, w=w: t_softmax[(m,)](t["x"], t["y"], n, BLOCK=block, num_warps=w))
            else:
                layer = op == "layernorm"
                triton_ways.append(lambda t, w=w: t_norm[(m,)](
                    t["x"], t["w"], t.get("b", t["w"]), t["y"], n, eps, LAYER=layer, BLOCK=block, num_warps=w))

        def reference(t):
            x = t["x"].double()
            if op == "softmax":
                return torch.softmax(x, -1)
            if op == "rmsnorm":
                return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * t["w"].double()
            return torch.nn.functional.layer_norm(x, (n,), t["w"].double(), t["b"].double(), eps)

        def by_torch(t):
            if op == "softmax":
                torch.softmax(t["x"], -1, out=t["y"])
            elif op == "rmsnorm":
                torch.nn.functional.rms_norm(t["x"], (n,), t["w"], eps)
            else:
                torch.nn.functional.layer_norm(t["x"], (n,), t["w"], t["b"], eps)
        return inputs, {"y": (m, n)}, by_torch, triton_ways, reference
    size = math.prod(shape)
    if op == "copy":
        return {"x": (size,)}, {"y": (size,)}, lambda t: t["y"].copy_(t["x"]), [], lambda t: t["x"]
    if op == "add":
        for block in (1024, 4096):
            triton_ways.append(lambda t, b=block: t_add[(triton.cdiv(size, b),)](t["x"], t["y"], t["z"], size, BLOCK=b))
        inputs = {"x": (size,), "y": (size,)}
        return inputs, {"z": (size,)}, lambda t: torch.add(t["x"], t["y"], out=t["z"]), triton_ways, lambda t: t["x"] + t["y"]
    if op == "transpose":
        for a, b in ((64, 64), (32, 128), (128, 32)):
            triton_ways.append(lambda t, a=a, b=b: t_transpose[(n // b, m // a)](t["x"], t["y"], m, n, A=a, B=b))
        return {"x": (m, n)}, {"y": (n, m)}, lambda t: t["y"].copy_(t["x"].t()), triton_ways, lambda t: t["x"].t()
    if op == "row_sum":
        for block in (2048, 8192):
            triton_ways.append(lambda t, b=block: t_row_sum[(m,)](t["x"], t["y"], n, BLOCK=b, num_warps=8))
        return {"x": (m, n)}, {"y": (m,)}, lambda t: torch.sum(t["x"], 1, out=t["y"]), triton_ways, lambda t: t["x"].double().sum(1)
    if op == "column_sum":
        for a, b in ((64, 32), (128, 64)):
            triton_ways.append(lambda t, a=a, b=b: t_column_sum[(n // b,)](t["x"], t["y"], m, n, A=a, B=b))
        return {"x": (m, n)}, {"y": (n,)}, lambda t: torch.sum(t["x"], 0, out=t["y"]), triton_ways, lambda t: t["x"].double().sum(0)
    if op == "full_sum":
        return {"x": (m, n) if len(shape) > 1 else (size,)}, {"y": (1,)}, lambda t: torch.sum(t["x"]), [], lambda t: t["x"].double().sum().reshape(1)
    return wide.operation(row, dtype)


# ------------------------------------------------------------------------------------------------ measurement
def contest(contestants, slices, milliseconds):
    """Median microseconds and the medians of slices of each contestant, `{name: calls}`, that take turns."""
    graphs = {}
    for name, calls in contestants.items():
        for call in calls[:2]:
            call()
        torch.cuda.synchronize()
        count = math.ceil(min(400, max(len(calls), 8 / estimated(calls))) / len(calls)) * len(calls)
        graphs[name] = (capture(calls, count), count)
    found = {name: [] for name in graphs}
    for _ in range(slices):
        for name, (graph, count) in graphs.items():
            replays = timed(graph, milliseconds)
            found[name].append(1e3 * statistics.median(replays) / count)
    return {name: (statistics.median(each), each) for name, each in found.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--slices", type=int, default=3)
    parser.add_argument("--milliseconds", type=float, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("-o", "--output", default="tile-rows.jsonl")
    args = parser.parse_args()
    torch.manual_seed(int(time.time()))
    manifest = json.load(open(os.path.join(args.folder, "manifest.json")))
    query = "--query-gpu=name,driver_version"
    gpu, driver = subprocess.check_output(["nvidia-smi", query, "--format=csv,noheader"], text=True).strip().split(", ")
    print(f"{gpu}, driver {driver}, torch {torch.__version__}, triton {triton.__version__}")
    source = torch.randn(1 << 28, device="cuda")
    target = torch.empty_like(source)
    copy = {"copy": [lambda: target.copy_(source)]}
    micros, _ = contest(copy, args.slices, args.milliseconds)["copy"]
    print(f"device-to-device copy of 1 GiB: {2 * source.nbytes / micros / 1e3:.0f} GB/s")
    # What stands in the record is not measured again: the same command goes on.
    done = {json.loads(line)["row"] for line in open(args.output)} if os.path.exists(args.output) else set()
    out = open(args.output, "a")
    for row in manifest["rows"]:
        if args.only not in row["name"] or row["name"] in done:
            continue
        if time.time() - START > args.seconds:
            print(f"the time is over before {row['name']}")
            sys.exit(3)
        try:
            measure(args, row, (gpu, driver), (source, target), manifest.get("commit"), out)
        except Exception as error:  # One row that fails must not end the others.
            print(f"{row['name']}: {type(error).__name__}: {str(error)[:300]}")
            torch.cuda.synchronize()


def measure(args, row, machine, buffers, commit, out):
    inputs, outputs, by_torch, triton_ways, reference = operation(row)
    dtype = DTYPES[row["dtype"]]
    result = DTYPES[row.get("result") or row["dtype"]]

    def fresh():
        tensors = {}
        for name, spec in inputs.items():
            tensors[name] = spec() if callable(spec) else torch.randn(spec, device="cuda", dtype=torch.float32).to(dtype)
        tensors |= {name: torch.empty(shape, device="cuda", dtype=result) for name, shape in outputs.items()}
        state = row.get("state", {}).items()
        return tensors | {name: torch.zeros(of["shape"], device="cuda", dtype=DTYPES[of["dtype"]]) for name, of in state}

    sets = [fresh()]
    moved = sum(sets[0][name].nbytes for name in [*inputs, *outputs])
    while len(sets) < min(64, math.ceil(ROTATED / moved)):
        sets.append(fresh())
    kernel = Girih(args.folder, row)
    # Right first: a poisoned output, then every element is compared.
    name = next(iter(outputs))
    tensors = sets[0]
    tensors[name].fill_(float("nan") if result.is_floating_point else -77)
    for zeroed in row.get("zeroed", []):
        tensors[zeroed].zero_()
    kernel.call(tensors)()
    torch.cuda.synchronize()
    wanted = reference(tensors).double()
    difference = (tensors[name].double() - wanted).abs()
    # Of a row, since rows of causal attention are means of one value to thousands.
    scale = wanted.abs() + wanted.square().mean(-1, keepdim=True).sqrt()
    # Counts and places are exact.
    worst = (difference / scale).max().item() if result.is_floating_point else difference.max().item()
    bound = {torch.bfloat16: 1.2e-2, torch.float16: 1.5e-3}.get(result, 1e-5 if row["op"] not in ("full_sum", "sum_all", "segment_sum") else 1e-4)
    right = worst <= bound and not math.isnan(worst)
    contestants = {"girih": [kernel.call(t) for t in sets], "torch": [lambda t=t: by_torch(t) for t in sets]}
    if row.get("alone") or by_torch is None:
        del contestants["torch"]
    if row.get("alone"):
        triton_ways = []
    for i, way in enumerate(triton_ways):
        contestants[f"triton{i}"] = [lambda t=t, way=way: way(t) for t in sets]
    source, target = buffers
    contestants["copy"] = [lambda: target.copy_(source)]
    for broken in [name for name in contestants if name not in ("girih", "copy")]:
        try:
            contestants[broken][0]()
            torch.cuda.synchronize()
        except Exception as error:
            print(f"  {broken} is left out: {str(error)[:80]}")
            del contestants[broken]
    found = contest(contestants, args.slices, args.milliseconds)
    rate = {name: moved / micros / 1e3 for name, (micros, _) in found.items()}
    # A small copy is slower: the rate to be reached is that of a large one, beside each row.
    rate["copy"] = 2 * source.nbytes / found["copy"][0] / 1e3
    best = max((r for name, r in rate.items() if name.startswith("triton")), default=float("nan"))
    spread = (max(found["girih"][1]) - min(found["girih"][1])) / found["girih"][0]
    record = {
        "row": row["name"], "op": row["op"], "dtype": row["dtype"], "shape": row["shape"], "right": right, "worst": worst,
        "us": {name: round(micros, 3) for name, (micros, _) in found.items()},
        "slices": {name: [round(m, 3) for m in each] for name, (_, each) in found.items()},
        "bytes": moved, "flops": products.flops(row), "rate": {name: round(r, 1) for name, r in rate.items()}, "spread": round(spread, 4),
        "jit_ms": round(1e3 * kernel.compiled, 1), "gpu": machine[0], "driver": machine[1], "torch": torch.__version__,
        "triton": triton.__version__, "commit": commit, "date": time.strftime("%Y-%m-%d"),
    }
    out.write(json.dumps(record) + "\n")
    out.flush()
    if flops := record["flops"]:
        fast = {name: flops / micros / 1e6 for name, (micros, _) in found.items() if name != "copy"}
        print(f"{row['name']:44} {'right' if right else 'WRONG'} {found['girih'][0]:9.2f} us  TFLOP/s: "
              + " ".join(f"{name} {rate:.0f}" for name, rate in fast.items()) + f"  spread {100 * spread:.1f} %")
        return
    print(f"{row['name']:44} {'right' if right else 'WRONG'} {found['girih'][0]:9.2f} us  of copy: girih {rate['girih'] / rate['copy']:.3f} "
          f"torch {rate.get('torch', math.nan) / rate['copy']:.3f} triton {best / rate['copy']:.3f}  spread {100 * spread:.1f} %")


main()
