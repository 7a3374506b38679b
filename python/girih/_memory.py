"""Arrays of numpy, torch, cupy and others, as what girih needs of them: address, shape, strides, dtype, device. Nothing is copied.

Arrays of numpy and tensors of torch are asked for what they are. All others say it by DLPack, whose structures (dlpack.h 1.0, and the
unversioned part of it) stand here.
"""

from __future__ import annotations

import ctypes
import math
import sys
from functools import lru_cache
from typing import Any, NamedTuple

__tracebackhide__ = True
"""pytest then shows the line of the caller."""

# DLDeviceType
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
# DLDataTypeCode -> what girih calls a type of as many bits
_CODES = {0: "s", 1: "u", 2: "f", 4: "bf", 6: "bool"}
_FLOAT8 = {10: "e4m3", 12: "e5m2"}
# Flags of a versioned capsule
_READ_ONLY, _COPIED = 1, 2


class Array(NamedTuple):
    """What an array is. The extension module reads the fields by their places."""

    address: int
    """Of the first element."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    dtype: str
    """Such as 'f32', 'bf16', 's8'."""
    itemsize: int
    device: int | None
    """The number of the GPU; None for memory of the host."""
    readonly: bool
    owner: Any
    """Keeps the memory."""

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return math.prod(self.shape) * self.itemsize


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


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_has_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))


def _read(capsule: Any, what: str) -> tuple[_DLTensor, int]:
    """The tensor of a capsule, and its flags."""
    if _has_name(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer_of(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise TypeError(f"{what} says what it is by DLPack {versioned.major}.{versioned.minor}; 1.x and 0.x are supported")
        return versioned.tensor, versioned.flags
    return _DLTensor.from_address(_pointer_of(capsule, b"dltensor")), 0


def _dtype(tensor: _DLTensor, what: str) -> str:
    if tensor.lanes != 1 or tensor.bits % 8:
        raise TypeError(f"{what}: elements of {tensor.lanes} times {tensor.bits} bits are not supported")
    if tensor.code in _FLOAT8:
        return _FLOAT8[tensor.code]
    if tensor.code not in _CODES:
        raise TypeError(f"{what}: elements of DLPack's type {tensor.code} are not supported")
    name = _CODES[tensor.code]
    return name if name == "bool" else f"{name}{tensor.bits}"


def _capsule(array: Any, options: dict[str, int]) -> Any:
    """A capsule of version 1 of those that have it: only that says what must not be written."""
    try:
        return array.__dlpack__(max_version=(1, 0), **options)
    except TypeError:
        return array.__dlpack__(**options)


def _by_dlpack(array: Any, what: str, stream: int | None) -> Array:
    device, number = array.__dlpack_device__()
    if device not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise TypeError(f"{what}: memory of DLPack's device type {device} is not supported; the host's and that of NVIDIA's GPUs are")
    # -1: nothing is to be waited for. DLPack's number of the legacy default stream is 1.
    capsule = _capsule(array, {"stream": -1 if stream is None else stream or 1} if device == CUDA else {})
    tensor, flags = _read(capsule, what)
    if flags & _COPIED:
        raise TypeError(f"{what} ({type(array).__name__}) gives a copy of itself, in which nothing of what is written would be seen")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        # Without strides it is row-major.
        strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    address = (tensor.data or 0) + tensor.byte_offset
    gpu = number if device == CUDA else None
    # The capsule is not consumed: it gives the tensor up when it is dropped.
    return Array(address, shape, strides, _dtype(tensor, what), tensor.bits // 8, gpu, bool(flags & _READ_ONLY), capsule)


@lru_cache(maxsize=1)
def _torch_dtypes() -> dict[Any, tuple[str, int]]:
    """torch's dtypes -> girih's names, and bytes."""
    torch = sys.modules["torch"]
    names = {
        "float64": ("f64", 8),
        "float32": ("f32", 4),
        "float16": ("f16", 2),
        "bfloat16": ("bf16", 2),
        "float8_e4m3fn": ("e4m3", 1),
        "float8_e5m2": ("e5m2", 1),
        "bool": ("bool", 1),
        **{f"int{8 * n}": (f"s{8 * n}", n) for n in (1, 2, 4, 8)},
        **{f"uint{8 * n}": (f"u{8 * n}", n) for n in (1, 2, 4, 8)},
    }
    return {getattr(torch, name): of for name, of in names.items() if hasattr(torch, name)}


def _of_torch(torch: Any, tensor: Any, what: str) -> Array:
    dtype, itemsize = _torch_dtypes().get(tensor.dtype, (None, 0))
    if dtype is None:
        raise TypeError(f"{what}: elements of {tensor.dtype} are not supported")
    if tensor.layout is not torch.strided:
        raise TypeError(f"{what} is a tensor of layout {tensor.layout}; strided ones are supported")
    if tensor.is_neg():
        raise TypeError(f"{what} is a tensor whose elements are negated when they are read; pass what `resolve_neg()` returns")
    if tensor.is_cuda:
        device = tensor.get_device()
    elif tensor.device.type == "cpu":
        device = None
    else:
        raise TypeError(f"{what}: memory of torch's device '{tensor.device}' is not supported; the host's and that of NVIDIA's GPUs are")
    return Array(tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), dtype, itemsize, device, False, tensor)


_NUMPY = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "bfloat16": "bf16", "bool": "bool"}


def _numpy_dtype(dtype: Any) -> str:
    if dtype.name in _NUMPY:
        return _NUMPY[dtype.name]
    if dtype.kind in "iuf":
        return f"{ {'i': 's', 'u': 'u', 'f': 'f'}[dtype.kind]}{dtype.itemsize * 8}"
    return str(dtype.name)


def _is_native(array: Any, what: str) -> None:
    if not array.dtype.isnative:
        raise TypeError(f"{what}: {array.dtype.str} has its bytes in the order that this machine does not have; `astype` changes it")


def _of_numpy(array: Any, what: str) -> Array:
    itemsize = max(array.itemsize, 1)
    if any(step % itemsize for step in array.strides):
        raise ValueError(f"{what}: strides of {array.strides} bytes are no whole elements of {array.itemsize} bytes")
    _is_native(array, what)
    strides = tuple(step // itemsize for step in array.strides)
    dtype = _numpy_dtype(array.dtype)
    return Array(array.ctypes.data, array.shape, strides, dtype, array.itemsize, None, not array.flags.writeable, array)


def describe(array: Any, what: str = "an argument", stream: int | None = None) -> Array:
    """An array as an ``Array``. What a library other than numpy, torch and cupy has still to do with it is done before ``stream`` goes on."""
    torch = sys.modules.get("torch")
    if torch is not None and type(array) in (torch.Tensor, torch.nn.Parameter):
        return _of_torch(torch, array, what)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(array, numpy.ndarray):
        return _of_numpy(array, what)
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"{what} must be an array of numpy or of torch, or one that knows DLPack, not {type(array).__name__}")
    library = library_of(array)
    if library == "torch":
        # torch gives no capsules of tensors that want a gradient: who calls a kernel does not ask for one.
        array = array.detach()
    return _by_dlpack(array, what, None if library in ("torch", "cupy") else stream)


def library_of(array: Any) -> str:
    """The name of the library that an array is of, such as 'torch'."""
    for name, cls in (("torch", "Tensor"), ("numpy", "ndarray"), ("cupy", "ndarray")):
        module = sys.modules.get(name)
        if module is not None and isinstance(array, getattr(module, cls, ())):
            return name
    return type(array).__module__.partition(".")[0]


def is_array(value: object) -> bool:
    """Whether a value is an array, and not a number."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return isinstance(value, numpy.ndarray)
    return hasattr(value, "__dlpack__")


def host_bytes(array: Any, what: str = "an argument", described: Array | None = None) -> Any:
    """The memory of an array of the host, in bytes and in the order in which it lies, without a copy."""
    import numpy as np

    if not isinstance(array, np.ndarray):
        described = described or describe(array, what)
        if described.device is not None:
            raise ValueError(f"{what} is on a GPU: the simulator works in the host's memory (`.cpu()`, `cupy.asnumpy`)")
        contiguous = _is_contiguous(described.shape, described.strides)
        if contiguous:
            if described.nbytes == 0:
                return np.empty(0, np.uint8)
            view: Any = (ctypes.c_uint8 * described.nbytes).from_address(described.address)
            view._owner = described.owner
            found = np.frombuffer(view, np.uint8)
            found.flags.writeable = not described.readonly
            return found
    else:
        contiguous = array.flags.c_contiguous or array.flags.f_contiguous
        if contiguous and array.dtype.hasobject:
            raise TypeError(f"{what}: an array of Python objects has no bytes that a kernel could use")
        if contiguous:
            _is_native(array, what)
            return np.asarray(array).reshape(-1, order="A").view(np.uint8)
    raise ValueError(f"{what} is not contiguous: a kernel would also see what lies between its elements; pass its base, or a copy")


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    if 0 in shape:
        return True
    step = 1
    for d, n in sorted((d, n) for d, n in zip(strides, shape) if n != 1):
        if d != step:
            return False
        step *= n
    return True
