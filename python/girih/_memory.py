"""Arrays of numpy, torch, cupy and others, as what girih needs of them: address, shape, strides, dtype, device. Nothing is copied.

Arrays of numpy are read by numpy. All others say what they are by DLPack, whose structures (dlpack.h, version 0.8 and the unversioned part of
1.x) stand here.
"""

from __future__ import annotations

import ctypes
import math
import sys
from typing import Any, NamedTuple

# DLDeviceType
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
# DLDataTypeCode -> what girih calls a type of as many bits
_CODES = {0: "s", 1: "u", 2: "f", 4: "bf", 6: "bool"}
_FLOAT8 = {10: "e4m3", 12: "e5m2"}


class Array(NamedTuple):
    """What an array is."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    dtype: str
    """Such as 'f32', 'bf16', 's8'."""
    itemsize: int
    device: int | None
    """The number of the GPU; None for memory of the host."""
    owner: Any
    """Keeps the memory."""

    @property
    def nbytes(self) -> int:
        """Bytes from the first element to behind the last one."""
        if 0 in self.shape:
            return 0
        return (1 + sum((n - 1) * abs(d) for n, d in zip(self.shape, self.strides))) * self.itemsize


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _tensor_of(capsule: Any) -> _DLTensor:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _DLTensor.from_address(pointer(capsule, b"dltensor"))


def _dtype(tensor: _DLTensor) -> str:
    if tensor.lanes != 1 or tensor.bits % 8:
        raise TypeError(f"elements of {tensor.lanes} times {tensor.bits} bits are not supported")
    if tensor.code in _FLOAT8:
        return _FLOAT8[tensor.code]
    if tensor.code not in _CODES:
        raise TypeError(f"elements of DLPack's type {tensor.code} are not supported")
    name = _CODES[tensor.code]
    return name if name == "bool" else f"{name}{tensor.bits}"


def _by_dlpack(array: Any) -> Array:
    device, number = array.__dlpack_device__()
    if device not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise TypeError(f"memory of DLPack's device type {device} is not supported; the host's and that of NVIDIA's GPUs are")
    # torch refuses tensors that want a gradient: who calls a kernel does not ask for one.
    array = array.detach() if hasattr(array, "detach") else array
    try:
        # -1: nothing is to be waited for, since the kernel goes to the caller's own stream.
        capsule = array.__dlpack__(stream=-1) if device == CUDA else array.__dlpack__()
    except (BufferError, TypeError) as error:
        # torch had no 8-bit floats in DLPack; their bytes are what counts.
        name = str(getattr(array, "dtype", ""))
        eight = {"torch.float8_e4m3fn": "e4m3", "torch.float8_e5m2": "e5m2"}.get(name)
        if eight is None:
            raise
        import torch

        try:
            return _by_dlpack(array.view(torch.uint8))._replace(dtype=eight)
        except TypeError:
            raise error from None
    tensor = _tensor_of(capsule)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        # Without strides it is row-major.
        strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    address = (tensor.data or 0) + tensor.byte_offset
    # The capsule is not consumed: it gives the tensor up when it is dropped.
    return Array(address, shape, strides, _dtype(tensor), tensor.bits // 8, number if device == CUDA else None, capsule)


_NUMPY = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "bfloat16": "bf16", "bool": "bool"}


def _numpy_dtype(dtype: Any) -> str:
    if dtype.name in _NUMPY:
        return _NUMPY[dtype.name]
    if dtype.kind in "iuf":
        return f"{ {'i': 's', 'u': 'u', 'f': 'f'}[dtype.kind]}{dtype.itemsize * 8}"
    return dtype.name


def describe(array: Any, what: str = "an argument") -> Array:
    """An array as an ``Array``."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(array, numpy.ndarray):
        strides = tuple(step // array.itemsize if array.itemsize else 0 for step in array.strides)
        if any(step % max(array.itemsize, 1) for step in array.strides):
            raise ValueError(f"{what}: strides of {array.strides} bytes are no whole elements of {array.itemsize} bytes")
        if not array.dtype.isnative:
            raise TypeError(f"{what}: {array.dtype} has its bytes in the order that this machine does not have")
        return Array(array.ctypes.data, array.shape, strides, _numpy_dtype(array.dtype), array.itemsize, None, array)
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"{what} must be an array of numpy, or one that knows DLPack, not {type(array).__name__}")
    return _by_dlpack(array)


def is_array(value: object) -> bool:
    """Whether a value is an array, and not a number."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return isinstance(value, numpy.ndarray)
    return hasattr(value, "__dlpack__")


def host_bytes(array: Any, what: str = "an argument") -> Any:
    """The memory of an array of the host, in bytes and in the order in which it lies, without a copy."""
    import numpy as np

    if not isinstance(array, np.ndarray):
        described = describe(array, what)
        if described.device is not None:
            raise ValueError(f"{what} is on a GPU: the simulator works in the host's memory (`.cpu()`, `cupy.asnumpy`)")
        contiguous = _is_contiguous(described.shape, described.strides)
        if contiguous:
            if described.nbytes == 0:
                return np.empty(0, np.uint8)
            view: Any = (ctypes.c_uint8 * described.nbytes).from_address(described.address)
            view._owner = described.owner
            return np.frombuffer(view, np.uint8)
    else:
        contiguous = array.flags.c_contiguous or array.flags.f_contiguous
        if contiguous and array.dtype.hasobject:
            raise TypeError(f"{what}: an array of Python objects has no bytes that a kernel could use")
        if contiguous:
            return array.reshape(-1, order="A").view(np.uint8)
    raise ValueError(f"{what} is not contiguous: a kernel would also see what lies between its elements; pass its base, or a copy")


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    step = 1
    for d, n in sorted((d, n) for d, n in zip(strides, shape) if n != 1):
        if d != step:
            return False
        step *= n
    return True
