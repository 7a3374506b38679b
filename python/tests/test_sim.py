import gc
import multiprocessing
import sys
import threading
import time
import weakref

import numpy as np
import ptx
import pytest

import girih
from girih import sim


def test_a_kernel_works_in_place():
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    out = np.zeros(1000, np.float32)
    kept = out.ctypes.data
    verdict = sim.run(ptx.SAXPY, "saxpy", 4, 256, [out, x, y, 2.0, 1000])
    assert np.array_equal(out, 2 * x + y) and out.ctypes.data == kept
    assert (verdict.copied, verdict.passed, len(verdict.seeds), verdict.findings) == (0, True, 4, [])
    assert verdict.report.blocks == 4


def test_arguments_by_name_and_two_arguments_of_one_array():
    x = np.arange(8, dtype=np.float32)
    sim.run(ptx.SAXPY, "saxpy", 1, 32, {"n": 8, "a": 3, "x": x, "y": x, "out": x})
    assert x.tolist() == [4 * i for i in range(8)]
    with pytest.raises(TypeError, match="out, x, y, a, n"):
        sim.run(ptx.SAXPY, "saxpy", 1, 32, {"x": x})


def test_overlapping_arrays_are_one_memory():
    """x and out share bytes: a kernel that shifts by one element races with its neighbours."""
    data = np.arange(65, dtype=np.float32)
    y = np.zeros(64, np.float32)
    with pytest.raises(girih.Finding) as found:
        sim.run(ptx.SAXPY, "saxpy", 1, 64, [data[:-1], data[1:], y, 1.0, 64])
    assert found.value.kind == "race" and found.value.space == "global"
    # The same halves apart do not.
    data = np.arange(128, dtype=np.float32)
    sim.run(ptx.SAXPY, "saxpy", 1, 64, [data[:64], data[64:], y, 1.0, 64])
    assert data[:64].tolist() == data[64:].tolist()


def test_a_race_is_an_exception_with_both_places():
    out = np.zeros(64, np.uint32)
    with pytest.raises(girih.Finding, match="data race") as found:
        sim.run(ptx.RACE, "swap", 1, 64, [out])
    error = found.value
    lines = ptx.RACE.splitlines()
    assert (error.kind, error.severity, error.space) == ("race", "error", "shared")
    assert "ld.shared" in lines[error.line - 1] and "st.shared" in lines[error.other.line - 1]
    assert error.at.line == error.line and error.at.thread == list(error.thread)
    assert sum(error.thread) ^ 1 == sum(error.other.thread) and error.other.block == [0, 0, 0]
    assert error.at.instruction.startswith("ld.shared.u32") and str(error.at) in str(error)
    assert error.name.startswith("tile") and error.verdict.findings[0] is error
    assert isinstance(error, girih.GirihError) and not error.verdict.passed
    sim.run(ptx.SWAP, "swap", 1, 64, [out])
    assert out.tolist() == [i ^ 1 for i in range(64)]


def test_an_access_out_of_bounds_names_its_argument():
    x = np.zeros(30, np.float32)
    with pytest.raises(girih.Finding) as found:
        sim.run(ptx.UNGUARDED, "saxpy", 1, 32, [np.zeros(32, np.float32), x, np.zeros(32, np.float32), 1.0, 30])
    assert (found.value.kind, found.value.thread, found.value.others) == ("out-of-bounds", [30, 0, 0], ())
    assert "argument 1 (x)" in found.value.name


def test_judge_returns_all_that_is_found():
    verdict = sim.judge(ptx.RACE, "swap", 1, 64, [np.zeros(64, np.uint32)])
    assert not verdict.passed and [f.kind for f in verdict.findings] == ["race"]
    assert sim.judge(ptx.RACE, "swap", 1, 64, [np.zeros(64, np.uint32)], checks=False).passed


def test_uninitialised():
    x = sim.Uninitialised(np.ones(64, np.float32))
    out, y = np.zeros(64, np.float32), np.ones(64, np.float32)
    with pytest.raises(girih.Finding) as found:
        sim.run(ptx.SAXPY, "saxpy", 1, 64, [out, x, y, 1.0, 64])
    assert found.value.kind == "uninitialised-memory"
    sim.run(ptx.SAXPY, "saxpy", 1, 64, [sim.Uninitialised(out), y, y, 1.0, 64])
    assert out.tolist() == [2.0] * 64


# x[0] += 1; y[0] += 2; y[1] = x[1]; y[2] = x[0] + x[1]
SUM = (
    ptx.HEAD
    + """.visible .entry sum(.param .u64 x, .param .u64 y) {
  .reg .b64 %x, %y; .reg .b32 %a, %b, %i; .reg .pred %p;
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
  ld.global.u8 %a, [%x]; add.u32 %a, %a, 1; st.global.u8 [%x], %a;
  ld.global.u8 %a, [%y]; add.u32 %a, %a, 2; st.global.u8 [%y], %a;
  ld.global.u8 %a, [%x+1]; st.global.u8 [%y+1], %a;
  ld.global.u8 %a, [%x]; ld.global.u8 %b, [%x+1]; add.u32 %a, %a, %b; st.global.u8 [%y+2], %a;
  ret;
}
"""
)


def test_what_cannot_be_lent_is_copied_and_counted():
    x = np.arange(8, dtype=np.float32)
    x.flags.writeable = False
    out, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
    assert sim.run(ptx.SAXPY, "saxpy", 1, 8, [out, x, y, 1.0, 8]).copied == 32
    assert out.tolist() == x.tolist()
    with pytest.raises(girih.Finding):
        sim.run(ptx.SAXPY, "saxpy", 2, 8, [y, x, x, 1.0, 16])

    byte = ptx.HEAD + ".visible .entry inc(.param .u64 p) { .reg .b32 %r; .reg .b64 %p, %i; ld.param.u64 %p, [p]; mov.u32 %r, %tid.x; \
        cvt.u64.u32 %i, %r; add.s64 %p, %p, %i; ld.global.u8 %r, [%p]; add.u32 %r, %r, 1; st.global.u8 [%p], %r; ret; }"
    odd = np.zeros(9, np.uint8)[1:8]
    assert sim.run(byte, "inc", 1, 7, [odd]).copied == 7
    assert odd.tolist() == [1] * 7
    # Parts without elements take no part.
    x = np.arange(8, dtype=np.float32)
    assert sim.run(ptx.SAXPY, "saxpy", 1, 4, [x, x[3:3], np.empty(0, np.float32), 1.0, 0]).copied == 0
    # Two arrays that share memory are one memory in a copy, too.
    base = np.zeros(8, np.uint8)
    assert sim.run(SUM, "sum", 1, 1, [base[1:5], base[2:7]]).copied == 6
    assert base.tolist() == [0, 1, 2, 2, 3, 0, 0, 0]
    assert sim.run(byte, "inc", 1, 8, [base]).copied == 0


def test_columns_first_is_as_good_as_rows_first_and_gaps_are_refused():
    x = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    out = np.zeros_like(x)
    sim.run(ptx.SAXPY, "saxpy", 1, 12, [out, x, np.zeros(12, np.float32), 1.0, 12])
    assert np.array_equal(out, x)
    with pytest.raises(ValueError, match=r"argument 1 \(x\) is not contiguous"):
        sim.run(ptx.SAXPY, "saxpy", 1, 12, [out, np.zeros(24, np.float32)[::2], x, 1.0, 12])
    with pytest.raises(TypeError, match="Python objects"):
        sim.run(ptx.SAXPY, "saxpy", 1, 12, [out, np.array([None]), x, 1.0, 12])


VALUE = """.visible .entry value(.param .u64 out, .param .{type} v) {{ .reg .b64 %p; .reg .b{bits} %v;
  ld.param.u64 %p, [out]; ld.param.b{bits} %v, [v]; st.global.b{bits} [%p], %v; ret; }}"""


@pytest.mark.parametrize(
    ("type_", "dtype", "value"),
    [
        ("u32", np.uint32, 2**32 - 1),
        ("s32", np.int32, -7),
        ("u64", np.uint64, 2**64 - 1),
        ("b64", np.int64, -(2**63)),
        ("f32", np.float32, 1.5),
        ("f32", np.float32, 3),
        ("f64", np.float64, 0.1),
        ("b32", np.float32, np.float32(0.1)),
        ("b64", np.float64, np.float64(0.1)),
        ("u64", np.uint64, (5).to_bytes(8, "little")),
        ("b16", np.float16, np.float16(0.3)),
        ("u32", np.uint32, True),
    ],
)
def test_values_become_what_their_parameter_is(type_, dtype, value):
    out = np.zeros(8 // np.dtype(dtype).itemsize, dtype)
    text = ptx.HEAD + VALUE.format(type=type_, bits=np.dtype(dtype).itemsize * 8)
    sim.run(text, "value", 1, 1, [out, value])
    assert out[0] == (np.frombuffer(value, dtype)[0] if isinstance(value, bytes) else dtype(value))


@pytest.mark.parametrize("value", [2**32, -(2**31) - 1, 1.5, "7", None, object(), b"abc", [1]])
def test_values_that_do_not_fit_are_refused(value):
    text = ptx.HEAD + VALUE.format(type="u32", bits=32)
    with pytest.raises((OverflowError, ValueError, TypeError, girih.LaunchError), match="argument 1"):
        sim.run(text, "value", 1, 1, [np.zeros(1, np.uint32), value])


def test_refusals_and_text_that_is_no_ptx():
    x = np.zeros(8, np.float32)
    for args, kernel, block, kind in [
        ([x], "saxpy", 8, "argument-count"),
        ([x, x, x, 1.0, 8], "other", 8, "unknown-kernel"),
        ([x, x, x, 1.0, 8], "saxpy", 2000, "launch-shape"),
    ]:
        with pytest.raises(girih.LaunchError) as refused:
            sim.run(ptx.SAXPY, kernel, 1, block, args)
        assert refused.value.kind == kind
    with pytest.raises(girih.PtxError) as error:
        sim.Program(ptx.HEAD + ".visible .entry k() {\n frobnicate.u32 %r; }")
    assert (error.value.line, "frobnicate" in str(error.value)) == (5, True)
    with pytest.raises(ValueError, match="grid"):
        sim.run(ptx.SAXPY, "saxpy", (1, 1, 1, 1), 8, [])


def test_a_program_is_read_once_and_says_what_it_has():
    program = sim.Program(ptx.SAXPY)
    assert program.kernels == ["saxpy"]
    assert [(name, size) for name, _, size in program.parameters("saxpy")] == [("out", 8), ("x", 8), ("y", 8), ("a", 4), ("n", 4)]
    x = np.ones(8, np.float32)
    for n in range(3):
        sim.run(program, "saxpy", 1, 8, [x, x, x, 0.0, 8])


def test_loops_without_end_stop():
    text = ptx.HEAD + ".visible .entry k() { L: bra L; }"
    with pytest.raises(girih.Finding) as found:
        sim.run(text, "k", 1, 1, steps=1000)
    assert found.value.kind in ("livelock", "step-limit")


def test_the_interpreter_goes_on_meanwhile():
    """The GIL is released: another thread counts while a kernel runs."""
    text = ptx.HEAD + ".visible .entry k() { L: bra L; }"
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0.0005)

    other = threading.Thread(target=count)
    other.start()
    before = turns[0]
    with pytest.raises(girih.Finding):
        sim.run(text, "k", 1, 1, steps=3_000_000, seeds=1)
    done.set()
    other.join()
    assert turns[0] - before > 5


def test_memory_is_given_back():
    x = np.zeros(1000, np.float32)
    before = sys.getrefcount(x)
    for _ in range(3):
        sim.run(ptx.SAXPY, "saxpy", 4, 256, [x, x, x, 1.0, 1000])
    assert sys.getrefcount(x) == before
    x.resize(10)  # numpy refuses while somebody has the memory


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    out, x = np.zeros(16, ml_dtypes.bfloat16), np.arange(16).astype(ml_dtypes.bfloat16)
    text = ptx.HEAD + ".visible .entry copy(.param .u64 to, .param .u64 from) { .reg .b64 %p, %q, %n; .reg .b32 %i; .reg .b16 %v; \
        ld.param.u64 %p, [to]; ld.param.u64 %q, [from]; mov.u32 %i, %tid.x; mul.wide.u32 %n, %i, 2; add.s64 %p, %p, %n; add.s64 %q, %q, %n; \
        ld.global.b16 %v, [%q]; st.global.b16 [%p], %v; ret; }"
    assert sim.run(text, "copy", 1, 16, [out, x]).copied == 0
    assert np.array_equal(out, x)


def test_a_finding_that_was_raised_leaves_nothing_behind():
    def failing():
        x = np.zeros(64, np.uint32)
        with pytest.raises(girih.Finding):
            sim.run(ptx.RACE, "swap", 1, 64, [x])
        return weakref.ref(x)

    kept = failing()
    gc.collect()
    assert kept() is None, "the finding and its verdict keep each other, and the array in the frame"


def in_a_fork(x):
    out = np.zeros_like(x)
    sim.run(ptx.SAXPY, "saxpy", 8, 128, [out, x, x, 1.0, len(x)])
    assert out.tolist() == (2 * x).tolist()
    # Products are run by the simulator, too.
    a = np.arange(64 * 80, dtype=np.float32).reshape(80, 64) % 7
    assert np.array_equal(girih.gemm(a, a.T), a @ a.T)
    # A call of one thread must not begin below the same call of another one, whose turn it is.
    wide = np.arange(512 * 32, dtype=np.float32).reshape(512, 32) % 5
    found = []

    def products():
        for _ in range(40):
            found.append(np.array_equal(girih.gemm(wide, wide[:96].T, checks=False), wide @ wide[:96].T))

    threads = [threading.Thread(target=products) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 160


def test_a_forked_process_has_threads_of_its_own():
    x = np.arange(1024, dtype=np.float32)
    in_a_fork(x)
    child = multiprocessing.get_context("fork").Process(target=in_a_fork, args=(x,))
    child.start()
    child.join(60)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0


def test_what_is_read_only_is_not_written():
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    out = np.zeros(8, np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"argument 0 \(out\) is read-only"):
        sim.run(ptx.SAXPY, "saxpy", 1, 8, [out, x, y, 1.0, 8])
    assert not out.any()
    # Memory that another argument may write is written by that one.
    base = np.zeros(8, np.float32)
    same = base.view()
    same.flags.writeable = False
    sim.run(ptx.SAXPY, "saxpy", 1, 8, [base, same, y, 1.0, 8])
    assert same.tolist() == [1.0] * 8


class Tensor:
    """An array of the host that numpy does not know."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Old(Tensor):
    """One of the time before DLPack had versions."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)


@pytest.mark.parametrize("kind", [Tensor, Old])
def test_arrays_that_know_dlpack(kind):
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    verdict = sim.run(ptx.SAXPY, "saxpy", 1, 8, [kind(out), kind(x), x, 1.0, 8])
    assert out.tolist() == (2 * x).tolist() and verdict.copied == 0
    sim.run(ptx.SAXPY, "saxpy", 1, 4, [kind(out), kind(x[3:3]), kind(np.empty((3, 0), np.float32)), 1.0, 0])
    with pytest.raises(ValueError, match=r"argument 1.* is not contiguous"):
        sim.run(ptx.SAXPY, "saxpy", 1, 4, [out, kind(x[::2]), x, 1.0, 4])


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="numpy gives no capsules of read-only arrays")
def test_dlpack_says_what_is_read_only():
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    for array in (x, out):
        array.flags.writeable = False
    y = np.zeros(8, np.float32)
    assert sim.run(ptx.SAXPY, "saxpy", 1, 8, [y, Tensor(x), Tensor(x), 1.0, 8]).copied == 32
    assert y.tolist() == (2 * x).tolist()
    with pytest.raises(ValueError, match=r"argument 0 \(out\) is read-only"):
        sim.run(ptx.SAXPY, "saxpy", 1, 8, [Tensor(out), Tensor(x), Tensor(x), 1.0, 8])
    assert not out.any()


def test_bytes_in_another_order_are_refused():
    x = np.arange(8, dtype=np.float32)
    with pytest.raises(TypeError, match="argument 1.*>f4"):
        sim.run(ptx.SAXPY, "saxpy", 1, 8, [x, x.astype(">f4"), x, 1.0, 8])


@pytest.mark.parametrize(
    ("grid", "error", "said"),
    [(2.5, TypeError, "2.5"), ("2", TypeError, "'2'"), ((1, None), TypeError, "None"), (-1, ValueError, "-1"), (2**32, ValueError, "4294967296")],
)
def test_an_extent_that_is_none_is_named(grid, error, said):
    with pytest.raises(error, match=f"grid.*{said}"):
        sim.run(ptx.SAXPY, "saxpy", grid, 8, [])


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"seeds": 0}, ValueError, "seeds .*from 1 on, not 0"),
        ({"seed": -1}, ValueError, "seed .*not -1"),
        ({"shared": 2**32}, ValueError, "shared .*32 bits"),
        ({"steps": 1.5}, TypeError, "steps .*not 1.5"),
        ({"deny": ["rase"]}, ValueError, "kind \"rase\"; .*same-value-race"),
        ({"deny": "race"}, ValueError, "no warnings of the kind \"race\""),
    ],
)
def test_options_that_are_refused(options, error, said):
    with pytest.raises(error, match=said):
        sim.run(ptx.SAXPY, "saxpy", 1, 8, [np.zeros(8, np.float32)] * 3 + [1.0, 8], **options)


def test_values_beyond_their_parameter_are_named():
    out = np.zeros(2, np.uint64)
    with pytest.raises(OverflowError, match=r"argument 1 \(v\).*64 bits"):
        sim.run(ptx.HEAD + VALUE.format(type="u64", bits=64), "value", 1, 1, [out, 2**70])
    with pytest.raises(TypeError, match="argument 1 .*tuple"):
        sim.run(ptx.HEAD + VALUE.format(type="u64", bits=64), "value", 1, 1, [out, (out, True)])


def test_an_int_for_f16_is_a_number_as_for_f32():
    out = np.zeros(4, np.float16)
    sim.run(ptx.HEAD + VALUE.format(type="f16", bits=16), "value", 1, 1, [out, 3])
    assert out[0] == 3


def test_launches_from_several_threads():
    program = sim.Program(ptx.SAXPY)
    x = [np.full(512, i, np.float32) for i in range(8)]
    out = [np.zeros(512, np.float32) for _ in range(8)]

    def launch(i):
        for _ in range(4):
            sim.run(program, "saxpy", 4, 128, [out[i], x[i], x[i], 1.0, 512], seeds=2)

    threads = [threading.Thread(target=launch, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((out[i] == 2 * i).all() for i in range(8))
