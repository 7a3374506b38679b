"""girih's kernels on arrays: matrix products, attention, and programs over tiles by name.

Tensors of torch, cupy and others on a GPU are worked on in place, on the caller's stream (see ``girih.cuda``); arrays of the host, those of
numpy among them, by the simulator, to which they are copied: the same PTX, for small sizes.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from . import _memory
from ._girih import Device, _attention, _gemm, _program, _programs

__all__ = ["attention", "gemm", "program", "programs"]


@lru_cache(maxsize=4)
def _simulator(checks: bool) -> Device:
    return Device.simulator(checks, 1)


def _like(array: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """A new array of the same library and place; the dtype is the library's."""
    kind = type(array).__module__.partition(".")[0]
    if kind == "torch":
        return array.new_empty(shape, dtype=dtype or array.dtype)
    module = sys.modules["cupy"] if kind == "cupy" else sys.modules.get("numpy")
    if kind not in ("cupy", "numpy") or module is None:
        raise TypeError(f"girih makes no arrays of {kind}: pass `out`")
    return module.empty(shape, dtype or array.dtype)


class _Call:
    """Arrays of one call: where they are, and the device for them."""

    def __init__(self, arrays: list[tuple[str, Any]], stream: Any, checks: bool) -> None:
        described = [_memory.describe(array, name) for name, array in arrays]
        self.arrays = [array for _, array in arrays]
        if all(array.device is None for array in described):
            self.device = _simulator(checks)
            self.given = [self._on_host(name, array) for name, array in arrays]
        else:
            from .cuda import device_of

            self.device = device_of(described, self.arrays, stream)
            self.given = [self._fields(array, None) for array in described]
        # What describes an array keeps its memory.
        self.described = described

    @staticmethod
    def _fields(array: _memory.Array, host: Any) -> _Given:
        return _Given(array.dtype, list(array.shape), list(array.strides), array.address, array.nbytes, host)

    def _on_host(self, name: str, array: Any) -> _Given:
        described = _memory.describe(array, name)
        return self._fields(described, _memory.host_bytes(array, name))


class _Given:
    def __init__(self, dtype: str, shape: list[int], strides: list[int], address: int, nbytes: int, host: Any) -> None:
        self.dtype, self.shape, self.strides = dtype, shape, strides
        self.address, self.nbytes, self.host = address, nbytes, host


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
        if len(a.shape) != 2 or len(b.shape) != 2:
            raise ValueError(f"a and b must have two axes, not {len(a.shape)} and {len(b.shape)}")
        out = _like(a, (a.shape[0], b.shape[1]), out_dtype)
    arrays = [("a", _contiguous(a)), ("b", _contiguous(b)), ("out", out)]
    if bias is not None:
        arrays.append(("bias", _contiguous(bias)))
    call = _Call(arrays, stream, checks)
    ours = call.given
    _gemm(call.device, ours[0], ours[1], ours[2], ours[3] if bias is not None else None, activation, tf32)
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
    stream: Any = None,
    checks: bool = True,
) -> Any:
    """``softmax(scale q k^T) v`` for each head, of bf16, f16 or f32.

    ``order`` says which axes the tensors have: 'bhsd' (batch, head, sequence, dim), as torch's ``scaled_dot_product_attention``, or 'bshd',
    as FlashAttention. ``k`` and ``v`` may have fewer heads, each of which serves as many heads of ``q``. ``causal`` is True for as many
    queries as keys; else 'top_left' (query i sees keys up to i) or 'bottom_right' (the last query sees all keys). ``window`` is how many
    keys before its own a query sees. ``scale`` is ``1 / sqrt(dim)`` unless given; ``softcap`` bounds scores by ``cap * tanh(x / cap)``.
    Returns ``out``, which is made unless given. Raises ``KernelError``, ``DeviceError``.
    """
    if order not in ("bhsd", "bshd"):
        raise ValueError(f"order must be 'bhsd' or 'bshd', not {order!r}")
    sequence = 2 if order == "bhsd" else 1
    if causal is True:
        if q.shape[sequence] != k.shape[sequence]:
            raise ValueError(
                f"{q.shape[sequence]} queries and {k.shape[sequence]} keys: causal must be 'top_left' or 'bottom_right'"
            )
        causal = "bottom_right"
    if causal not in (False, "top_left", "bottom_right"):
        raise ValueError(f"causal must be True, False, 'top_left' or 'bottom_right', not {causal!r}")
    if out is None:
        out = _like(q, tuple(q.shape))
    call = _Call([("q", _contiguous(q)), ("k", _contiguous(k)), ("v", _contiguous(v)), ("out", out)], stream, checks)
    _attention(call.device, call.given, order == "bshd", str(causal) if causal else None, window, scale, softcap)
    return out


def program(name: str, *arrays: Any, stream: Any = None, checks: bool = True, **sizes: int) -> None:
    """Runs a kernel of girih's programs over tiles: arrays that it reads, then arrays that it writes, as ``programs()`` lists them.

    Extents are free where the list has sizes, dtypes and ranks are not. A size that stands in no extent by itself is named, such as
    ``height=9``. Numbers that are no arrays are those of the list. Raises ``KernelError``, ``DeviceError``.
    """
    call = _Call([(f"array {i}", array) for i, array in enumerate(arrays)], stream, checks)
    _program(call.device, name, call.given, list(sizes.items()))


def programs() -> dict[str, dict[str, Any]]:
    """The programs over tiles: for each name its arrays, (dtype, extents at small sizes, 'in' or 'out'), and the names of its sizes."""
    return {name: {"arrays": arrays, "sizes": sizes} for name, arrays, sizes in _programs()}
