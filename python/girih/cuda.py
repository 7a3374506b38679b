"""GPUs: PTX, and girih's kernels, on the tensors of torch, cupy and others, on the caller's stream. No CUDA toolkit is needed.

The stream is torch's current stream for tensors of torch, cupy's for arrays of cupy, or what ``stream`` says: a number (``CUstream``), or
an object with ``cuda_stream`` (torch) or ``ptr`` (cupy). Nothing waits: what a kernel has written is there for what follows in that stream.
A stream that is passed must belong to the GPU's primary context, as those of torch and cupy do. An object is kept; a number must stand
for a stream that exists until the process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import operator
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from . import _memory
from ._girih import Device, GirihError

__tracebackhide__ = True
"""pytest then shows the line of the caller."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sim import Extent

__all__ = ["launch"]


# Devices with the kernels that were loaded on them, each with what keeps its stream.
_devices: OrderedDict[tuple[int, int], tuple[Device, Any]] = OrderedDict()
_lock = threading.Lock()
# The most streams whose devices are kept.
_MOST = 64


def _device(index: int, number: int, owner: Callable[[], Any]) -> Device:
    """The device of a stream, which an object keeps."""
    key = (index, number)
    found = _devices.get(key)
    if found is not None:
        if len(_devices) > _MOST // 2:
            with _lock:
                if key in _devices:
                    _devices.move_to_end(key)
        return found[0]
    made = (Device.cuda(index, number), owner())
    with _lock:
        found = _devices.setdefault(key, made)
        oldest = _devices.popitem(last=False)[1] if len(_devices) > _MOST else None
    if oldest is not None:
        _drop(*oldest)
    return found[0]


def _drop(device: Device, owner: Any) -> None:
    """Waits for a device's kernels, and frees its memory in its stream before that goes."""
    with contextlib.suppress(GirihError):
        # Dropping it waits, too, but keeps the interpreter from working, which functions of the host in the stream may need.
        device.synchronize()
    del device, owner


@atexit.register
def _drop_all() -> None:
    """Unloads kernels while the driver, and the contexts of torch and cupy, are still there."""
    while _devices:
        _drop(*_devices.popitem(last=False)[1])


def number_of(stream: Any) -> int:
    """A stream's ``CUstream``."""
    for attribute in ("cuda_stream", "ptr"):
        stream = getattr(stream, attribute, stream)
    try:
        number = operator.index(stream)
    except TypeError:
        raise TypeError(f"a stream must be a number, or an object of torch's or cupy's, not {type(stream).__name__}") from None
    if not 0 <= number < 2**64:
        raise ValueError(f"no stream has the number {number}")
    return number


def _of_current_stream(arrays: Sequence[Any], index: int) -> Device:
    """The device of the current stream of the arrays' library."""
    torch = sys.modules.get("torch")
    if torch is not None and all(isinstance(array, torch.Tensor) for array in arrays):
        # What compilers of kernels ask torch for: an object for the stream takes longer than all else that is done here.
        quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        number = quick(index) if quick else torch.cuda.current_stream(index).cuda_stream
        return _device(index, number, lambda: torch.cuda.current_stream(index))
    libraries = {_memory.library_of(array) for array in arrays}
    if libraries == {"cupy"}:
        stream = sys.modules["cupy"].cuda.get_current_stream()
        return _device(index, stream.ptr, lambda: stream)
    names = " and ".join(sorted(libraries)) or "no library"
    raise ValueError(f"say which stream: arrays of {names} have no current one in common that girih knows")


def device_of(described: Sequence[_memory.Array], arrays: Sequence[Any], stream: Any = None) -> Device:
    """The device of arrays on one GPU, on a stream."""
    numbers = {array.device for array in described}
    index = next(iter(numbers), None)
    if len(numbers) != 1 or index is None:
        where = ", ".join("the host" if n is None else f"GPU {n}" for n in sorted(numbers, key=str)) or "nowhere"
        raise ValueError(f"all arrays must be on one GPU; these are on {where}")
    if stream is None:
        return _of_current_stream(arrays, index)
    return _device(index, number_of(stream), lambda: stream)


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

    arrays = {i: arg for i, arg in enumerate(args) if _memory.is_array(arg)}
    number = None if stream is None else number_of(stream)
    described = {i: _memory.describe(array, f"argument {i}", number) for i, array in arrays.items()}
    device = device_of(list(described.values()), list(arrays.values()), stream)
    values: list[Any] = []
    for i, arg in enumerate(args):
        if i in described:
            values.append(described[i].address.to_bytes(8, "little"))
        elif isinstance(arg, bool):
            values.append(int(arg))
        else:
            values.append(arg.tobytes() if hasattr(arg, "tobytes") and hasattr(arg, "dtype") else arg)
    shape = None if cluster is None else _triple("cluster", cluster)
    device.launch(ptx, kernel, _triple("grid", grid), _triple("block", block), values, shared, shape, cooperative)
