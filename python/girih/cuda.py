"""GPUs: PTX, and girih's kernels, on the tensors of torch, cupy and others, on the caller's stream. No CUDA toolkit is needed.

The stream is torch's current stream for tensors of torch, cupy's for arrays of cupy, or what ``stream`` says: a number (``CUstream``), or
an object with ``cuda_stream`` (torch) or ``ptr`` (cupy). Nothing waits: what a kernel has written is there for what follows in that stream.
A stream that is passed must belong to the GPU's primary context, as those of torch and cupy do, and must exist as long as it is used.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from . import _memory
from ._girih import Device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sim import Extent

__all__ = ["launch"]


@lru_cache(maxsize=64)
def _device(index: int, stream: int) -> Device:
    return Device.cuda(index, stream)


# Kernels are unloaded while the driver, and the contexts of torch and cupy, are still there.
atexit.register(_device.cache_clear)


def _current_stream(arrays: Sequence[Any], index: int) -> int:
    kinds = {type(array).__module__.partition(".")[0] for array in arrays}
    if "torch" in kinds:
        return sys.modules["torch"].cuda.current_stream(index).cuda_stream
    if "cupy" in kinds or "cupy" in sys.modules:
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    raise ValueError(f"say which stream: arrays of {', '.join(sorted(kinds)) or 'no kind'} have no current one that girih knows")


def device_of(described: Sequence[_memory.Array], arrays: Sequence[Any], stream: Any = None) -> Device:
    """The device of arrays on one GPU, on a stream."""
    numbers = {array.device for array in described}
    index = next(iter(numbers), None)
    if len(numbers) != 1 or index is None:
        where = ", ".join("the host" if n is None else f"GPU {n}" for n in sorted(numbers, key=str)) or "nowhere"
        raise ValueError(f"all arrays must be on one GPU; these are on {where}")
    for attribute in ("cuda_stream", "ptr"):
        stream = getattr(stream, attribute, stream)
    return _device(index, int(_current_stream(arrays, index) if stream is None else stream))


def launch(
    ptx: str,
    kernel: str,
    grid: Extent,
    block: Extent,
    args: Sequence[Any] = (),
    *,
    stream: Any = None,
    shared: int = 0,
    cluster: Extent | None = None,
    cooperative: bool = False,
) -> None:
    """Launches a kernel of PTX text, as ``girih.sim.run`` does, on a GPU: what was judged there runs here as it is.

    ``args`` are in order. An array on the GPU is the address of its first element; ints, floats, scalars of numpy and bytes are as for the
    simulator. Nothing checks what the kernel accesses: run it on the simulator first. Raises ``DeviceError``.
    """
    from .sim import _triple

    arrays = [arg for arg in args if _memory.is_array(arg)]
    described = {id(array): _memory.describe(array) for array in arrays}
    device = device_of(list(described.values()), arrays, stream)
    values: list[Any] = []
    for arg in args:
        if id(arg) in described:
            values.append(described[id(arg)].address.to_bytes(8, "little"))
        elif isinstance(arg, bool):
            values.append(int(arg))
        else:
            values.append(arg.tobytes() if hasattr(arg, "tobytes") and hasattr(arg, "dtype") else arg)
    shape = None if cluster is None else _triple("cluster", cluster)
    device.launch(ptx, kernel, _triple("grid", grid), _triple("block", block), values, shared, shape, cooperative)
