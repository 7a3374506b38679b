# pyright: reportUnnecessaryTypeIgnoreComment=error
"""Typical use of girih, of which test_types.py asks mypy and pyright. A line with an ignored error is one that they must refuse."""

from __future__ import annotations

import numpy as np

import girih
from girih import ComposedLayout, Finding, Layout, Swizzle, composition, logical_divide, zipped_divide
from girih.pytest_plugin import Check

EMPTY = ".version 8.0 .target sm_90 .address_size 64 .visible .entry k() { ret; }"


def layouts() -> str:
    tile = Layout((8, (4, 2)), (8, (1, 4)))
    swizzled: ComposedLayout = logical_divide(ComposedLayout(Swizzle(1, 0, 2), 0, Layout((4, 4), (4, 1))), (2, None))
    line: Layout = composition(8, 4)
    parts: Layout = zipped_divide(tile, (4, 2))
    modes: list[Layout] = [*parts, parts[0], parts[0:1]]
    index: int = tile(1, (2, 1)) + tile.at(3, 0)
    pictures = [girih.Picture.layout(swizzled), girih.Picture.mma("SM80_16x8x16_F32BF16BF16F32_TN")]
    return f"{line} {modes} {index} {girih.size(tile)} {[picture.svg() for picture in pictures]}"


def refused() -> tuple[int, int, int] | None:
    try:
        composition(Layout((4, 2), (1, 10)), Layout((2, 2), (2, 3)))
    except girih.LayoutError as error:
        return error.witness
    return None


def arrays() -> float:
    a = np.ones((16, 16), np.float32)
    seen = girih.view(a, Layout((16, 16), (16, 1)))
    product = girih.gemm(a, a, activation="relu")
    table = girih.indices(Layout((2, 3)))
    return float(product.sum() + seen.sum() + table.sum() + girih.gather(a, Layout(4)).sum())


def simulated(deny: bool = False) -> list[Finding]:
    program = girih.sim.Program(EMPTY)
    verdict = girih.sim.run(program, "k", 1, (32, 1), [], seeds=2, steps=1000, deny=deny)
    found: list[Finding] = girih.sim.judge(EMPTY, "k", grid=2, block=32).findings
    places = [finding.at.line for finding in found if finding.at is not None]
    return verdict.findings if verdict.passed and not places else found


def test_checked(girih_check: Check) -> None:
    assert girih_check.ptx(EMPTY, "k", 1, 32, seeds=3).report.blocks == 1


def wrong() -> None:
    girih.sim.run(EMPTY, "k", 1, 32, sedes=3)  # type: ignore[call-arg]
    girih.sim.run(EMPTY, "k", 1, 32, seeds="many")  # type: ignore[arg-type]
    girih.gem  # type: ignore[attr-defined]
    composition("8:1", 4)  # type: ignore[type-var]
    Layout(1.5)  # type: ignore[arg-type]
