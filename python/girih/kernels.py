"""girih's kernels on arrays: matrix products, attention, and programs over tiles by name.

Tensors of torch, cupy and others on a GPU are worked on in place, on the caller's stream (see ``girih.cuda``); arrays of the host, those of
numpy among them, by the simulator, to which they are copied: the same PTX, for small sizes.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from . import _memory
from ._girih import Device, _attention, _gemm, _program, _programs
from .cuda import device_of, number_of

__tracebackhide__ = True
"""pytest then shows the line of the caller."""

__all__ = ["attention", "gemm", "program", "programs"]


@lru_cache(maxsize=4)
def _simulator(checks: bool, is_main: bool) -> Device:
    """Ctrl-C ends what the main thread runs: its device is of its own."""
    return Device.simulator(checks, 1)


def _shape_of(array: Any, what: str) -> tuple[int, ...]:
    try:
        return tuple(array.shape)
    except AttributeError:
        raise TypeError(f"{what} must be an array, not {type(array).__name__}") from None


def _in_stream(library: str, stream: Any, device: Any) -> Any:
    """What lets the library allocate in a stream: memory of the current one may still be used by what stands there."""
    cuda = sys.modules[library].cuda
    if stream is None:
        return contextlib.nullcontext()
    if library == "torch":
        if not isinstance(stream, cuda.Stream):
            # For the number 0 ExternalStream gives out a stream of torch's own, not the default one.
            number = number_of(stream)
            stream = cuda.ExternalStream(number, device=device) if number else cuda.default_stream(device)
        return cuda.stream(stream)
    return cuda.ExternalStream(number_of(stream))


def _like(array: Any, shape: tuple[int, ...], dtype: Any, stream: Any) -> Any:
    """A new array of the same library and place; the dtype is the library's."""
    library = _memory.library_of(array)
    dtype = array.dtype if dtype is None else dtype
    if library == "torch":
        if stream is None or not array.is_cuda:
            return array.new_empty(shape, dtype=dtype)
        with _in_stream(library, stream, array.device):
            return array.new_empty(shape, dtype=dtype)
    if library == "numpy":
        return sys.modules["numpy"].empty(shape, dtype)
    if library == "cupy":
        with _in_stream(library, stream, None):
            return sys.modules["cupy"].empty(shape, dtype)
    raise TypeError(f"girih makes no arrays of {library}: pass `out`")


def _given(named: Sequence[tuple[str, Any]], stream: Any, checks: bool) -> tuple[Device, list[_memory.Array]]:
    """The device that arrays are on, and what they are: of an array of the host its bytes."""
    number = None if stream is None else number_of(stream)
    described = [_memory.describe(array, name, number) for name, array in named]
    if any(array.device is not None for array in described):
        return device_of(described, [array for _, array in named], stream), described
    of_host = [
        known._replace(owner=_memory.host_bytes(array, name, known)) for (name, array), known in zip(named, described)
    ]
    return _simulator(checks, threading.current_thread() is threading.main_thread()), of_host


def _contiguous(array: Any) -> Any:
    """An array of the host without gaps: a copy, where it has some."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray) or array.flags.c_contiguous or array.flags.f_contiguous:
        return array
    return numpy.ascontiguousarray(array)


def gemm(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    out_dtype: Any = None,
    bias: Any = None,
    activation: str | None = None,
    tf32: bool = False,
    stream: Any = None,
    checks: bool = True,
) -> Any:
    """``activation(a @ b + bias)`` for ``a`` of M x K and ``b`` of K x N, whose rows or columns are contiguous.

    Elements are f32, f64, f16, bf16, 8-bit floats or s8, the same of both; sums are f32, of f64 f64, of s8 s32. ``out_dtype`` is a dtype
    of the library, and may be another one as docs of ``girih_kernels::gemm`` say (of f16 also f32, for example). ``tf32`` multiplies f32 by
    tensor cores. ``bias`` is a vector of N, ``activation`` 'relu', 'gelu', 'gelu_tanh' or 'silu'. Returns ``out``, which is made unless given.
    Raises ``KernelError``, ``DeviceError``.
    """
    if out is None:
        of_a, of_b = _shape_of(a, "a"), _shape_of(b, "b")
        if len(of_a) != 2 or len(of_b) != 2:
            raise ValueError(f"a and b must have two axes, not {len(of_a)} and {len(of_b)}")
        out = _like(a, (of_a[0], of_b[1]), out_dtype, stream)
    named = [("a", _contiguous(a)), ("b", _contiguous(b)), ("out", out)]
    if bias is not None:
        named.append(("bias", _contiguous(bias)))
    device, given = _given(named, stream, checks)
    _gemm(device, given[0], given[1], given[2], None if bias is None else given[3], activation, tf32)
    return out


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    out: Any = None,
    order: str = "bhsd",
    causal: bool | str = False,
    window: int | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Any = None,
    stream: Any = None,
    checks: bool = True,
) -> Any:
    """``softmax(scale q k^T) v`` for each head, of bf16, f16 or f32.

    ``order`` says which axes the tensors have: 'bhsd' (batch, head, sequence, dim), as torch's ``scaled_dot_product_attention``, or 'bshd',
    as FlashAttention. ``k`` and ``v`` may have fewer heads, each of which serves as many heads of ``q``. ``causal`` is True for as many
    queries as keys; else 'top_left' (query i sees keys up to i) or 'bottom_right' (the last query sees all keys). ``window`` is how many
    keys before its own a query sees. ``scale`` is ``1 / sqrt(dim)`` unless given; ``softcap`` bounds scores by ``cap * tanh(x / cap)``.
    ``sinks`` is a vector of f32, a logit of each head of ``q``, which joins the softmax's denominator.
    Returns ``out``, which is made unless given. Raises ``KernelError``, ``DeviceError``.
    """
    if order not in ("bhsd", "bshd"):
        raise ValueError(f"order must be 'bhsd' or 'bshd', not {order!r}")
    if causal is True:
        of_q, of_k = _shape_of(q, "q"), _shape_of(k, "k")
        sequence = 2 if order == "bhsd" else 1
        if len(of_q) == len(of_k) == 4 and of_q[sequence] != of_k[sequence]:
            raise ValueError(f"{of_q[sequence]} queries and {of_k[sequence]} keys: causal must be 'top_left' or 'bottom_right'")
        causal = "bottom_right"
    if causal not in (False, "top_left", "bottom_right"):
        raise ValueError(f"causal must be True, False, 'top_left' or 'bottom_right', not {causal!r}")
    if out is None:
        out = _like(q, tuple(_shape_of(q, "q")), None, stream)
    named = [("q", _contiguous(q)), ("k", _contiguous(k)), ("v", _contiguous(v)), ("out", out)]
    if sinks is not None:
        named.append(("sinks", _contiguous(sinks)))
    device, given = _given(named, stream, checks)
    of_sinks = given[4] if sinks is not None else None
    _attention(device, given[:4], order == "bshd", str(causal) if causal else None, window, scale, softcap, of_sinks)
    return out


def program(name: str, *arrays: Any, stream: Any = None, checks: bool = True, **sizes: int) -> None:
    """Runs a kernel of girih's programs over tiles: arrays that it reads, then arrays that it writes, as ``programs()`` lists them.

    Extents are free where the list has sizes, dtypes and ranks are not. A size that stands in no extent by itself is named, such as
    ``height=9``. Numbers that are no arrays are those of the list. Raises ``KernelError``, ``DeviceError``.
    """
    device, given = _given([(f"array {i}", array) for i, array in enumerate(arrays)], stream, checks)
    _program(device, name, given, list(sizes.items()))


def programs() -> dict[str, dict[str, Any]]:
    """The programs over tiles: for each name its arrays, (dtype, extents at small sizes, 'in' or 'out'), and the names of its sizes."""
    return {name: {"arrays": arrays, "sizes": sizes} for name, arrays, sizes in _programs()}
