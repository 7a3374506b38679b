"""What `tile/peers.py` and `attention/peers.py` share: launches of girih's kernels by the driver, launches captured in graphs, and slices of time.

Needs torch and cuda-python.
"""
import time

import numpy as np
import torch
from cuda.bindings import driver as cu


def check(result):
    status, *values = result
    if status != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(cu.cuGetErrorString(status)[1])
    return values[0] if values else None


def encoded(kind, address, dims, strides, box, swizzle):
    """A tensor map: the innermost dimension first, strides in bytes of all dimensions but that one; `swizzle` as the driver counts them."""
    dims, strides = ([cu.cuuint64_t(n) for n in numbers] for numbers in (dims, strides))
    return check(cu.cuTensorMapEncodeTiled(
        kind, len(dims), address, dims, strides, [cu.cuuint32_t(n) for n in box], [cu.cuuint32_t(1)] * len(dims),
        cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE, cu.CUtensorMapSwizzle(swizzle),
        cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B, cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))


KINDS = {torch.bfloat16: cu.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, torch.float16: cu.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16}


def address(tensor):
    """A pointer to a tensor as an argument of a kernel."""
    return np.array([tensor.data_ptr()], dtype=np.uint64)


def packed(text):
    """The bytes of an argument of a kernel, which a manifest has in hexadecimal."""
    return np.frombuffer(bytes.fromhex(text), dtype=np.uint8).copy()


def prepared(function, launch, values, kept=()):
    """A function that launches a kernel with these arguments on torch's current stream; `launch` has grid, block and shared, and `kept` lives as long."""
    places = [value.ctypes.data if isinstance(value, np.ndarray) else int(value.getPtr()) for value in values]
    pointers = np.array(places, dtype=np.uint64)
    grid, block, shared = (launch[name] for name in ("grid", "block", "shared"))

    def run(keep=(values, pointers, kept)):
        stream = torch.cuda.current_stream().cuda_stream
        check(cu.cuLaunchKernel(function, *grid, *block, shared, stream, pointers.ctypes.data, 0))

    return run


def capture(calls, count):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        calls[0]()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for i in range(count):
                calls[i % len(calls)]()
    torch.cuda.synchronize()
    return graph


def estimated(calls):
    """About how many milliseconds a call takes."""
    first, last = torch.cuda.Event(True), torch.cuda.Event(True)
    first.record()
    for i in range(4):
        calls[i % len(calls)]()
    last.record()
    last.synchronize()
    return max(first.elapsed_time(last) / 4, 1e-3)


def timed(graph, milliseconds):
    """Milliseconds of each replay in a slice, without the first two fifths of the slice."""
    found, begin = [], time.time()
    while True:
        first, last = torch.cuda.Event(True), torch.cuda.Event(True)
        first.record()
        graph.replay()
        last.record()
        last.synchronize()
        spent = 1e3 * (time.time() - begin)
        if spent > 0.4 * milliseconds:
            found.append(first.elapsed_time(last))
        if spent > milliseconds:
            return found
