"""PTX from CUDA C++ and from Triton, without a GPU: what the simulator, and a driver, take.

``cuda`` needs NVIDIA's packages ``cuda-bindings`` and ``nvidia-cuda-nvrtc``, ``triton`` needs Triton: ``pip install girih[nvrtc]`` and
``girih[triton]``.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from . import _memory
from ._girih import GirihError
from .sim import Uninitialised

__tracebackhide__ = True
"""pytest then shows the line of the caller."""

__all__ = ["CompileError", "Compiled", "cuda", "triton"]


class CompileError(GirihError):
    """What a compiler refused; ``log`` is what it said."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class Compiled(NamedTuple):
    """A kernel as PTX, with what a launch of it needs."""

    ptx: str
    kernel: str
    block: int | None
    """Threads of a block, if the compiler has decided that."""
    shared: int
    """Bytes of dynamic shared memory."""
    cluster: int
    """Blocks of a cluster."""
    scratch: tuple[int, ...]
    """Bytes that each block has in the memory behind each parameter that the compiler has added to those of the source."""
    arguments: dict[str, Any]
    """From Triton: what a launch passes, by the names of the PTX's parameters. What has become a constant is not among them."""


def cuda(
    source: str, kernel: str | None = None, *, arch: str = "compute_90", name: str = "kernel.cu", options: Iterable[str] = ()
) -> Compiled:
    """CUDA C++ by NVRTC, with line numbers. ``kernel`` is the name of one with ``extern "C"``, or a C++ expression such as ``add<float>``;
    it may be left out where the source has a single kernel.
    """
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise ImportError(f"CUDA C++ is compiled by NVIDIA's packages: `pip install girih[nvrtc]` ({error})") from error

    def checked(result: Any) -> Any:
        if result[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise CompileError(f"NVRTC: {nvrtc.nvrtcGetErrorString(result[0])[1].decode()}")
        return result[1] if len(result) > 1 else None

    def text(size: Any, fill: Any) -> str:
        buffer = b" " * checked(size(program))
        checked(fill(program, buffer))
        return str(buffer.rstrip(b"\0 ").decode())

    # So that reports of findings can show the lines, which stand in no file.
    path = os.path.abspath(name)
    if not os.path.exists(path):
        linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    program = checked(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    try:
        if kernel is not None:
            checked(nvrtc.nvrtcAddNameExpression(program, kernel.encode()))
        arguments = [option.encode() for option in (f"--gpu-architecture={arch}", "-lineinfo", *options)]
        (outcome,) = nvrtc.nvrtcCompileProgram(program, len(arguments), arguments)
        if outcome != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
            raise CompileError(f"{name} does not compile:\n{log}", log)
        ptx = text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
        lowered = None if kernel is None else checked(nvrtc.nvrtcGetLoweredName(program, kernel.encode())).decode()
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return Compiled(ptx, lowered or _only_kernel(ptx), None, 0, 1, (), {})


def _only_kernel(ptx: str) -> str:
    from ._girih import Program

    kernels = Program(ptx).kernels
    if len(kernels) != 1:
        raise ValueError(f"say which kernel: there are {', '.join(kernels) or 'none'}")
    return kernels[0]


# girih's names of types -> Triton's
_TRITON = {
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "e4m3": "fp8e4nv",
    "e5m2": "fp8e5",
    "bool": "u1",
    **{f"s{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}


class _Pointer:
    """What Triton asks of a tensor: the type of its elements, and where it begins."""

    def __init__(self, dtype: str, address: int) -> None:
        self.dtype, self._address = dtype, address

    def data_ptr(self) -> int:
        return self._address


def _seen(name: str, value: Any) -> Any:
    """An argument as Triton looks at it."""
    if isinstance(value, Uninitialised):
        value = value.array
    if isinstance(value, tuple):
        parts = [_seen(f"{name}[{i}]", part) for i, part in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if _memory.is_array(value):
        array = _memory.describe(value, name)
        if array.dtype not in _TRITON:
            raise TypeError(f"{name}: Triton has no type for elements of {array.dtype}")
        return _Pointer(_TRITON[array.dtype], array.address)
    if type(value).__name__ == "TensorDescriptor":
        raise TypeError(f"{name} is a TensorDescriptor of the host, which is not supported; make it in the kernel: tl.make_tensor_descriptor")
    if value is None or isinstance(value, (int, float)):
        return value
    raise TypeError(f"{name} must be an array, an int, a float, a bool, None or a tuple of them, not {type(value).__name__}")


def _passed(name: str, kind: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """What stands in the PTX for an argument of this type of Triton's: several for a tuple, nothing for a constant."""
    if isinstance(kind, tuple):
        for i, (part, element) in enumerate(zip(kind, value)):
            yield from _passed(f"{name}_{i}", part, element)
    elif kind != "constexpr":
        yield name, value


class _NoGpu:
    """What Triton asks of a driver before it launches."""

    def __init__(self, arch: int) -> None:
        self._arch = arch

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self._arch, 32)

    def get_current_device(self) -> Any:
        # Triton keeps what it has compiled by this.
        return ("girih", self._arch)

    def get_current_stream(self, device: Any) -> int:
        return 0


def jit_function(kernel: Any) -> Any:
    """The function of ``@triton.jit`` under autotuners and heuristics."""
    inner = kernel
    while not hasattr(inner, "params"):
        if not hasattr(inner, "fn"):
            raise TypeError(f"{kernel!r} is not a kernel of @triton.jit; with TRITON_INTERPRET=1 there is none")
        inner = inner.fn
    return inner


def _with_lines(ptx: str, path: str) -> str:
    """The text with its source lines put right. LLVM counts the lines of inline assembly, by which Triton loads and stores, as if they
    were lines of the source; the line before the assembly is the right one. And Triton keeps what it has compiled from a file that has
    moved since: now it is at ``path``.
    """
    moved = rf'(\.file\s+\d+\s+)"([^"]*[/\\])?{re.escape(os.path.basename(path))}"'
    ptx = re.sub(moved, lambda found: found[0] if os.path.exists(found[0].split('"')[1]) else f'{found[1]}"{path}"', ptx)
    assembly, lines = False, ptx.split("\n")
    for i, line in enumerate(lines):
        text = line.strip()
        assembly = text == "// begin inline asm" or assembly and text != "// end inline asm"
        if assembly and text.startswith(".loc"):
            lines[i] = ""
    return "\n".join(lines)


def _with_names(ptx: str, kernel: str, names: Iterable[str]) -> str:
    """The text with the source's names of parameters, but for those that it has already."""
    for position, name in enumerate(names):
        if not re.search(rf"(?<![\w$.%]){re.escape(name)}(?![\w$])", ptx, re.ASCII) and re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
            ptx = re.sub(rf"\b{re.escape(kernel)}_param_{position}\b", name, ptx)
    return ptx


def triton(kernel: Any, values: dict[str, Any], *, arch: int = 90, **options: Any) -> Compiled:
    """A kernel of ``@triton.jit``, ahead of time, for arguments by name. Triton specialises it for them as it does when it launches it: a
    number that is 1, and None, are constants, and that a number or an address is divisible by 16 is known. ``options`` are Triton's:
    ``num_warps``, ``num_stages`` and others.
    """
    try:
        from triton.runtime import driver
    except ImportError as error:
        raise ImportError(f"kernels of Triton are compiled by Triton: `pip install girih[triton]` ({error})") from error

    kernel = jit_function(kernel)
    seen = {p.name: values[p.name] if p.is_constexpr else _seen(p.name, values[p.name]) for p in kernel.params}
    state = dict(vars(driver))
    driver.set_active(_NoGpu(arch))
    try:
        built = kernel.warmup(**seen, grid=(1,), **options)
    finally:
        vars(driver).update(state)
    data, kinds = built.metadata, built.src.signature
    arguments = dict(pair for p in kernel.params for pair in _passed(p.name, kinds[p.name], values[p.name]))
    # Behind the source's parameters stand two for memory that the kernel may ask for.
    added = ("global_scratch_size", "profile_scratch_size")
    ptx = _with_names(_with_lines(built.asm["ptx"], kernel.fn.__code__.co_filename), data.name, [*arguments, *(name.removesuffix("_size") for name in added)])
    scratch = tuple(getattr(data, name, 0) for name in added)
    return Compiled(ptx, data.name, data.num_warps * 32, data.shared, getattr(data, "num_ctas", 1), scratch, arguments)
