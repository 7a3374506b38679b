"""GPUs: PTX, and girih's kernels, on the tensors of torch, cupy and others, on the caller's stream. No CUDA toolkit is needed.

The stream is torch's current stream for tensors of torch, cupy's for arrays of cupy, or what ``stream`` says: a number (``CUstream``), or
an object with ``cuda_stream`` (torch) or ``ptr`` (cupy). Nothing waits: what a kernel has written is there for what follows in that stream.
A stream that is passed must belong to the GPU's primary context, as those of torch and cupy do. An object is kept; a number must stand
for a stream that exists until the process ends.
"""

from __future__ import annotations

import atexit
import sys
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from . import _memory
from ._girih import Device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sim import Extent

__all__ = ["launch"]


# Devices with the kernels that were loaded on them, each with what keeps its stream.
_devices: OrderedDict[tuple[int, int], list[Any]] = OrderedDict()


def _device(index: int, stream: int, owner: Any) -> Device:
    key = (index, stream)
    if key not in _devices:
        _devices[key] = [Device.cuda(index, stream), owner]
        if len(_devices) > 64:
            _drop_oldest()
    _devices.move_to_end(key)
    return _devices[key][0]


def _drop_oldest() -> None:
    entry = _devices.popitem(last=False)[1]
    # The device frees its memory in its stream: before the stream goes.
    del entry[0]


@atexit.register
def _drop_all() -> None:
    """Unloads kernels while the driver, and the contexts of torch and cupy, are still there."""
    while _devices:
        _drop_oldest()


def _current_stream(arrays: Sequence[Any], index: int) -> Any:
    kinds = {type(array).__module__.partition(".")[0] for array in arrays}
    if "torch" in kinds:
        return sys.modules["torch"].cuda.current_stream(index)
    if "cupy" in kinds or "cupy" in sys.modules:
        return sys.modules["cupy"].cuda.get_current_stream()
    raise ValueError(f"say which stream: arrays of {', '.join(sorted(kinds)) or 'no kind'} have no current one that girih knows")


def device_of(described: Sequence[_memory.Array], arrays: Sequence[Any], stream: Any = None) -> Device:
    """The device of arrays on one GPU, on a stream."""
    numbers = {array.device for array in described}
    index = next(iter(numbers), None)
    if len(numbers) != 1 or index is None:
        where = ", ".join("the host" if n is None else f"GPU {n}" for n in sorted(numbers, key=str)) or "nowhere"
        raise ValueError(f"all arrays must be on one GPU; these are on {where}")
    owner = number = _current_stream(arrays, index) if stream is None else stream
    for attribute in ("cuda_stream", "ptr"):
        number = getattr(number, attribute, number)
    return _device(index, int(number), owner)


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
