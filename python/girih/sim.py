"""The simulator: runs PTX on arrays of the host, and says what is wrong with it.

Kernels read and write the arrays in place. What hardware lets pass is found besides: data races, reads of what nobody has written,
accesses out of bounds, missing fences and waits, barriers that can't complete. docs/simulator.md says what each finding means.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from . import _memory
from ._girih import Finding, LaunchError, Program, PtxError, Report, Site, Verdict, _judge

__tracebackhide__ = True
"""pytest then shows the line of the caller."""

__all__ = ["Finding", "LaunchError", "Program", "PtxError", "Report", "Site", "Uninitialised", "Verdict", "judge", "run"]

Extent = int | Sequence[int]
"""Of a grid, a block or a cluster: an int, or up to three."""
Arguments = Sequence[Any] | Mapping[str, Any]


class Uninitialised:
    """An array whose elements count as elements that nobody has written: a kernel that uses one before it has written it is reported."""

    def __init__(self, array: Any) -> None:
        self.array = array


def _triple(what: str, value: Extent) -> tuple[int, int, int]:
    values = (value,) if not isinstance(value, (tuple, list)) else tuple(value)
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{what} must be an int or 1 to 3 of them, not {value!r}")
    try:
        x, y, z = [operator.index(n) for n in values] + [1] * (3 - len(values))
    except TypeError:
        raise TypeError(f"{what} must be an int or 1 to 3 of them, not {value!r}") from None
    if not all(0 <= n < 2**32 for n in (x, y, z)):
        raise ValueError(f"{what} must have extents of 32 bits, not {value!r}")
    return x, y, z


def _number(what: str, value: Any, bits: int, least: int = 0) -> int | None:
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an int, not {value!r}") from None
    if not least <= number < 2**bits:
        raise ValueError(f"{what} must be an int of {bits} bits from {least} on, not {value!r}")
    return number


def _prepare(what: str, arg: Any) -> Any:
    if isinstance(arg, Uninitialised):
        return (_memory.host_bytes(arg.array, what), True)
    if _memory.is_array(arg):
        return (_memory.host_bytes(arg, what), False)
    if isinstance(arg, tuple):
        raise TypeError(f"{what} must be an array, an int, a float, a scalar of numpy or bytes, not a tuple")
    if isinstance(arg, bool):
        return int(arg)
    # A scalar of numpy is the bytes of its type.
    return arg.tobytes() if hasattr(arg, "tobytes") and hasattr(arg, "dtype") else arg


def _in_order(program: Program, kernel: str, args: Arguments) -> list[Any]:
    if not isinstance(args, Mapping):
        return list(args)
    names = [name for name, _, _ in program.parameters(kernel)]
    if set(names) != set(args):
        raise TypeError(f"kernel `{kernel}` has the parameters {', '.join(names) or 'none'}; given are {', '.join(args) or 'none'}")
    return [args[name] for name in names]


def judge(
    ptx: str | Program,
    kernel: str,
    grid: Extent,
    block: Extent,
    args: Arguments = (),
    *,
    checks: bool = True,
    seeds: int = 4,
    seed: int = 0,
    cluster: Extent | None = None,
    shared: int = 0,
    cooperative: bool = False,
    counts: bool = False,
    deny: Iterable[str] | bool = (),
    threads: int | None = None,
    steps: int | None = None,
    limit: int | None = None,
    slow: int | None = None,
) -> Verdict:
    """Runs a kernel, as ``run`` does, and returns the ``Verdict`` with all that was found, errors or not."""
    program = ptx if isinstance(ptx, Program) else Program(ptx)
    names = [f" ({name})" for name, _, _ in program.parameters(kernel)]
    given = enumerate(_in_order(program, kernel, args))
    prepared = [_prepare(f"argument {i}{''.join(names[i : i + 1])}", arg) for i, arg in given]
    if isinstance(deny, bool):
        deny = ["all"] if deny else []
    settings = {
        "races": bool(checks),
        "uninitialised": bool(checks),
        "counts": bool(counts),
        "seed": _number("seed", seed, 64),
        "seeds": _number("seeds", seeds, 32, 1),
        "threads": _number("threads", threads, 32, 1),
        "steps": _number("steps", steps, 64),
        "limit": _number("limit", limit, 32),
        "deny": [deny] if isinstance(deny, str) else list(deny),
        "slow": _number("slow", slow, 32),
        "cluster": None if cluster is None else _triple("cluster", cluster),
        "shared": _number("shared", shared, 32),
        "cooperative": bool(cooperative),
    }
    return _judge(program, kernel, _triple("grid", grid), _triple("block", block), prepared, settings)


class Options(TypedDict, total=False):
    """The options of ``judge`` and ``run``."""

    checks: bool
    seeds: int
    seed: int
    cluster: Extent | None
    shared: int
    cooperative: bool
    counts: bool
    deny: Iterable[str] | bool
    threads: int | None
    steps: int | None
    limit: int | None
    slow: int | None


OPTIONS = tuple(Options.__annotations__)
"""The names of the options of ``judge`` and ``run``."""


def run(ptx: str | Program, kernel: str, grid: Extent, block: Extent, args: Arguments = (), **options: Unpack[Options]) -> Verdict:
    """Runs a kernel on arrays of the host, and raises the first error that is found.

    ``ptx`` is text or a ``Program``. ``grid`` and ``block`` are an int or up to three. ``args`` are the arguments in order, or by name in
    a dict: an array is the address of its first element in memory, ints and floats become what the parameter's type says, scalars of numpy and
    bytes are their bytes. The kernel works in the arrays' memory: afterwards they hold what it has written, which is also so if an exception
    is raised. Arrays that can't be written, and those whose memory does not begin and end at multiples of 4 bytes, are copied to the simulator and
    back (``Verdict.copied`` counts their bytes). The GIL is released meanwhile; no other thread may touch the arrays.

    Options: ``checks`` (races and uses of undefined values; off, the kernel runs faster), ``seeds`` (how many orders of warps are tried, from
    ``seed`` on), ``cluster``, ``shared`` (bytes of dynamic shared memory), ``cooperative``, ``counts`` (of bank conflicts and sectors), ``deny``
    (kinds of warnings that count as errors, or True for all), ``threads`` (of the host), ``steps`` (the most instructions of a cluster, by
    itself 50 million), ``limit`` (of findings), ``slow`` (the number of a warp that runs only when nothing else can).

    Ctrl-C ends the kernel; the arrays then hold what it has written.

    Returns the ``Verdict``. Raises ``Finding``, whose field ``verdict`` has the others; ``LaunchError`` for arguments or a shape that do not fit the
    kernel; ``PtxError`` for text that is no PTX.
    """
    other = [name for name in options if name not in OPTIONS]
    if other:
        raise TypeError(f"run() has no option {', '.join(other)}; the options are {', '.join(OPTIONS)}")
    verdict = judge(ptx, kernel, grid, block, args, **options)
    for finding in verdict.findings:
        if finding.severity == "error":
            finding.verdict = verdict
            raise finding
    return verdict
