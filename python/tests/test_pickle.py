"""What other processes are to be given: exceptions, results and pictures are pickled."""

import copy
import multiprocessing
import pickle

import numpy as np
import ptx
import pytest

import girih
from girih import Layout, Picture, sim


def again(value):
    return pickle.loads(pickle.dumps(value))


def failing(_=None):
    sim.run(ptx.RACE, "swap", 1, 64, [np.zeros(64, np.uint32)], seeds=2)


FIELDS = ["kind", "severity", "line", "block", "thread", "space", "address", "name", "seed"]
SITE = ["kernel", "line", "instruction", "source", "block", "thread", "text"]


def same(a, b):
    assert type(a) is type(b) and str(a) == str(b)
    assert all(getattr(a, field) == getattr(b, field) for field in FIELDS)
    for mine, others in [(a.at, b.at), (a.other, b.other), *zip(a.others, b.others)]:
        assert all(getattr(mine, field) == getattr(others, field) for field in SITE) and repr(mine) == repr(others)


def test_a_finding_and_its_verdict():
    with pytest.raises(girih.Finding) as found:
        failing()
    error = found.value
    for copied in (again(error), copy.deepcopy(error), again(error.verdict).findings[0]):
        same(error, copied)
        verdict = copied.verdict
        assert verdict.findings[0] is copied, "a finding and its verdict have each other"
        assert (verdict.passed, verdict.seeds, verdict.untold, verdict.printed) == (False, error.verdict.seeds, 0, "")
        assert repr(verdict) == repr(error.verdict) and repr(verdict.report) == repr(error.verdict.report)
        counts = dir(verdict.report)
        assert len(counts) > 10 and all(getattr(verdict.report, n) == getattr(error.verdict.report, n) for n in counts)


def test_a_race_in_a_pool_is_a_race_here():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        with pytest.raises(girih.Finding, match="data race") as found:
            pool.map(failing, [None])
    assert found.value.kind == "race" and found.value.at.instruction.startswith("ld.shared")


def test_a_program_is_its_text():
    program = again(sim.Program(ptx.SAXPY))
    x = np.ones(8, np.float32)
    sim.run(program, "saxpy", 1, 8, [x, x, x, 1.0, 8])
    assert program.kernels == ["saxpy"] and x.tolist() == [2.0] * 8


@pytest.mark.parametrize(
    "picture",
    [
        Picture.layout(Layout((2, 3))),
        Picture.layout(Layout((2, 3)), colours=["#ffffff", "#ffcc00"]),
        Picture.layout(Layout((8, 8)), dtype="bf16"),
        Picture.layout(Layout(((4, 8), (2, 2)), ((32, 1), (16, 8))), (16, 8)),
        Picture.mma("SM80_16x8x16_F32BF16BF16F32_TN"),
        Picture.copy("SM75_U32x4_LDSM_N", unit=16),
        Picture.banks(girih.ComposedLayout(girih.Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1))), "bf16", vector=8),
    ],
    ids=repr,
)
def test_pictures(picture):
    assert again(picture).svg() == picture.svg() and repr(again(picture)) == repr(picture)


def test_other_exceptions():
    for wrong in (
        lambda: Layout("(2,"),
        lambda: girih.composition(Layout((4, 2), (1, 10)), Layout((2, 2), (2, 3))),
        lambda: sim.Program("nonsense"),
        lambda: sim.run(ptx.SAXPY, "saxpy", 1, 8, []),
        lambda: Picture.mma("nonsense"),
    ):
        with pytest.raises(girih.GirihError) as refused:
            wrong()
        assert type(again(refused.value)) is type(refused.value)
        assert again(refused.value).__dict__ == refused.value.__dict__ and str(again(refused.value)) == str(refused.value)
