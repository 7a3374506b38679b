"""pytest: kernels of Triton, CUDA C++ and PTX under all checks of girih's simulator, on arrays of the host.

The fixture ``girih_check`` runs a kernel and raises what is found. ``--girih-seeds`` says in how many orders of warps a kernel runs,
``--girih-deny-warnings`` makes warnings fail. The report of a failed test shows the source lines of both places of a finding.
"""

from __future__ import annotations

import argparse
import functools
import linecache
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ._girih import PtxError

__tracebackhide__ = True
"""pytest then shows the line of the caller."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._girih import Finding, Program, Site, Verdict
    from .compile import Compiled
    from typing import Unpack

    from .sim import Arguments, Extent, Options


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 2**32:
        raise argparse.ArgumentTypeError(f"a kernel runs in 1 order or more, not in {text}")
    return int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("girih", "kernels on girih's simulator")
    group.addoption("--girih-seeds", type=_count, default=4, metavar="N", help="run each kernel in N orders of its warps [default: 4]")
    group.addoption("--girih-deny-warnings", action="store_true", help="let warnings of the simulator fail a test")


def _bits(arg: Any, declaration: str, size: int) -> Any:
    """A negative int as its bits: what a compiler declares as ``.u32`` may be an ``int`` of its source."""
    fits = isinstance(arg, int) and ".u" in declaration and -(256**size // 2) <= arg < 0
    return arg.to_bytes(size, "little", signed=True) if fits else arg


class _Launcher:
    """A kernel of Triton, launched as Triton does: ``check.triton(kernel, num_warps=4)[grid](x, y, BLOCK=128)``."""

    def __init__(self, check: Check, kernel: Any, options: dict[str, Any]) -> None:
        self._check, self._kernel, self._options = check, kernel, options

    def __getitem__(self, grid: Any) -> Callable[..., Verdict]:
        return functools.partial(self._launch, grid)

    def _launch(self, grid: Any, /, *args: Any, **kwargs: Any) -> Verdict:
        from . import compile, sim

        kernel = compile.jit_function(self._kernel)
        names = [p.name for p in kernel.params]
        if len(args) > len(names):
            raise TypeError(f"{kernel.__name__} takes {len(names)} arguments, {', '.join(names)}; given are {len(args)}")
        values = dict(zip(names, args))
        twice = [name for name in values if name in kwargs]
        if twice:
            raise TypeError(f"{kernel.__name__}: {', '.join(twice)} given twice")
        values.update({**self._options, **kwargs})
        outer = self._kernel
        while outer is not kernel:
            # Heuristics choose constants; an autotuner would measure.
            for name, choose in getattr(outer, "values", {}).items():
                values[name] = choose(dict(values))
            outer = outer.fn
        options = {name: values.pop(name) for name in list(values) if name not in names}
        run = {name: options.pop(name) for name in list(options) if name in sim.OPTIONS}
        values = {p.name: values[p.name] if p.name in values else p.default for p in kernel.params if p.name in values or p.has_default}
        missing = [name for name in names if name not in values]
        if missing:
            tuned = "; of an autotuned kernel, one of its configs: **config.all_kwargs()" if hasattr(self._kernel, "configs") else ""
            raise TypeError(f"{kernel.__name__} takes {', '.join(names)}; missing: {', '.join(missing)}{tuned}")
        built = compile.triton(kernel, values, **options)
        grid = grid({**values, **options}) if callable(grid) else grid
        try:
            return self._check.compiled(built, grid, None, list(built.arguments.values()), **run)
        except PtxError as error:
            if options.get("arch", 90) > 90:
                error.add_note(f"the simulator knows the PTX of GPUs up to arch=90; this is for arch={options['arch']}")
            raise


class Check:
    """Runs kernels under all checks, and raises ``girih.Finding`` for the first error that is found."""

    def __init__(self, seeds: int = 4, deny_warnings: bool = False) -> None:
        self.options: Options = {"seeds": seeds, "deny": deny_warnings}

    def ptx(self, text: str | Program, kernel: str, grid: Extent, block: Extent, args: Arguments = (), **options: Unpack[Options]) -> Verdict:
        """PTX text or a ``girih.sim.Program``, as ``girih.sim.run`` takes it."""
        from . import sim

        return sim.run(text, kernel, grid, block, args, **(self.options | options))

    def cuda(
        self,
        source: str,
        grid: Extent,
        block: Extent,
        args: Sequence[Any] = (),
        *,
        kernel: str | None = None,
        compiler: Sequence[str] = (),
        **options: Unpack[Options],
    ) -> Verdict:
        """CUDA C++, compiled by NVRTC; ``compiler`` are options of NVRTC's."""
        from . import compile

        return self.compiled(compile.cuda(source, kernel, options=compiler), grid, block, args, **options)

    def triton(self, kernel: Any, **options: Any) -> _Launcher:
        """A kernel of ``@triton.jit``, to be launched as ``check.triton(kernel)[grid](...)`` on arrays of the host. ``options`` are those of
        ``girih.compile.triton`` and of ``girih.sim.run``, and may stand in the call, too."""
        return _Launcher(self, kernel, options)

    def compiled(self, built: Compiled, grid: Extent, block: Extent | None, args: Sequence[Any] = (), **options: Unpack[Options]) -> Verdict:
        """A kernel of ``girih.compile``. ``grid`` counts clusters, where the compiler has made such."""
        import numpy as np

        from . import sim

        program = sim.Program(built.ptx)
        x, y, z = sim._triple("grid", grid)
        grid = (x * built.cluster, y, z)
        args = list(args)
        for bytes_ in built.scratch[: max(len(program.parameters(built.kernel)) - len(args), 0)]:
            args.append(np.zeros(math.prod(grid) * bytes_ or 4, np.uint8))
        if built.cluster > 1:
            options.setdefault("cluster", built.cluster)
        options.setdefault("shared", built.shared)
        parameters = program.parameters(built.kernel)
        args[: len(parameters)] = [_bits(arg, declaration, size) for arg, (_, declaration, size) in zip(args, parameters)]
        threads = built.block or block
        if threads is None:
            raise ValueError(f"say how many threads a block of {built.kernel} has")
        return self.ptx(program, built.kernel, grid, threads, args, **options)


@pytest.fixture
def girih_check(request: pytest.FixtureRequest) -> Check:
    """Runs kernels under all checks: ``girih_check.triton``, ``.cuda``, ``.ptx``."""
    return Check(request.config.getoption("--girih-seeds"), request.config.getoption("--girih-deny-warnings"))


def _source(site: Site) -> list[str]:
    """The instruction, and the line that it was compiled from."""
    lines = [f"  {site.instruction}  (PTX line {site.line})"]
    if site.source:
        file, number = site.source
        text = linecache.getline(file, number).strip()
        lines.append(f"  {file}:{number}" + (f": {text}" if text else ""))
    return [f"block {tuple(site.block)}, thread {tuple(site.thread)}:", *lines]


def describe(finding: Finding) -> list[str]:
    """A finding in lines: what, where, and with what else."""
    lines = [f"{finding.severity}: {finding.kind}" + (f" at {finding.name}" if finding.name else "")]
    if finding.at:
        lines += _source(finding.at)
    for other in finding.others:
        lines += ["with", *_source(other)]
    return lines


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[Any]:
    outcome: Any = yield
    report = outcome.get_result()
    error: Any = call.excinfo.value if call.excinfo else None
    if type(error).__name__ != "Finding" or not hasattr(error, "others"):
        return
    verdict = getattr(error, "verdict", None)
    for finding in verdict.findings if verdict else [error]:
        report.sections.append((f"girih: {finding.kind}", "\n".join(describe(finding))))
