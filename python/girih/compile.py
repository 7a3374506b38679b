"""PTX from CUDA C++ and from Triton, without a GPU: what the simulator, and a driver, take.

``cuda`` needs NVIDIA's packages ``cuda-bindings`` and ``nvidia-cuda-nvrtc``, ``triton`` needs Triton: ``pip install girih[nvrtc]`` and
``girih[triton]``.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import _memory
from ._girih import GirihError

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
    """Bytes of memory for each parameter that the compiler has added behind those of the source."""


def cuda(
    source: str, kernel: str | None = None, *, arch: str = "compute_90", name: str = "kernel.cu", options: Iterable[str] = ()
) -> Compiled:
    """CUDA C++ by NVRTC, with line numbers. ``kernel`` is the name of one with ``extern "C"``, or a C++ expression such as ``add<float>``;
    it may be left out where the source has a single kernel.
    """
    from cuda.bindings import nvrtc

    def checked(result: Any) -> Any:
        if result[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise CompileError(f"NVRTC: {nvrtc.nvrtcGetErrorString(result[0])[1].decode()}")
        return result[1] if len(result) > 1 else None

    def text(size: Any, fill: Any) -> str:
        buffer = b" " * checked(size(program))
        checked(fill(program, buffer))
        return buffer.rstrip(b"\0 ").decode()

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
    return Compiled(ptx, lowered or _only_kernel(ptx), None, 0, 1, ())


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
    "bool": "i1",
    **{f"s{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}


def _type_of(name: str, value: Any) -> str:
    if _memory.is_array(value):
        dtype = _memory.describe(value, name).dtype
        if dtype not in _TRITON:
            raise TypeError(f"{name}: Triton has no type for elements of {dtype}")
        return "*" + _TRITON[dtype]
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, float):
        return "fp32"
    if isinstance(value, int):
        if -(2**31) <= value < 2**31:
            return "i32"
        return "i64" if value < 2**63 else "u64"
    raise TypeError(f"{name} must be an array, an int, a float or a bool, not {type(value).__name__}")


def triton(
    kernel: Any, values: dict[str, Any], *, arch: int = 90, num_warps: int = 4, num_stages: int = 3, **options: Any
) -> Compiled:
    """A kernel of ``@triton.jit``, ahead of time, for arguments by name: constants as they are, the types of all others. Arguments are not
    specialised: an int that is 1, or divisible by 16, is like any other.
    """
    import triton as language
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    # Under autotuners and heuristics is the function itself.
    while not hasattr(kernel, "params"):
        kernel = kernel.fn
    constants = {p.name: values[p.name] for p in kernel.params if p.is_constexpr}
    types = {p.name: "constexpr" if p.is_constexpr else _type_of(p.name, values[p.name]) for p in kernel.params}
    source = ASTSource(kernel, signature=types, constexprs=constants)
    options = {"num_warps": num_warps, "num_stages": num_stages, **options}
    built = language.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
    data = built.metadata
    # Behind the source's parameters stand two for memory that the kernel may ask for.
    scratch = tuple(getattr(data, name, 0) for name in ("global_scratch_size", "profile_scratch_size"))
    clusters = getattr(data, "num_ctas", 1)
    return Compiled(built.asm["ptx"], data.name, data.num_warps * 32, data.shared, clusters, scratch)
