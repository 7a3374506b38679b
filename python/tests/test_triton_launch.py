"""Kernels of Triton are compiled and launched as Triton does it."""

import importlib.util
import linecache
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import girih
from girih import compile

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")


@triton.jit
def add(out, x, y, n, BLOCK: tl.constexpr, SCALE: tl.constexpr = 1):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if y is not None:
        v += SCALE * tl.load(y + i, mask=i < n)
    tl.store(out + i, v, mask=i < n)


def arrays(n, dtype=np.float32):
    return np.zeros(n, dtype), np.arange(n).astype(dtype), np.ones(n, dtype)


def test_arguments_are_specialised_as_triton_does():
    out, x, y = arrays(97)

    def built(*values):
        return compile.triton(add, dict(zip(["out", "x", "y", "n", "BLOCK", "SCALE"], values)), num_warps=1)

    # A number that is 1 and None are constants; what is divisible by 16 makes vectors.
    assert list(built(out, x, y, 1, 128, 1).arguments) == ["out", "x", "y"]
    assert list(built(out, x, None, 96, 128, 1).arguments) == ["out", "x", "n"]
    wide, narrow = (built(out, x, y, n, 128, 1).ptx for n in (96, 97))
    assert "ld.global.v4.b32" in wide and "ld.global.v4.b32" not in narrow
    assert "ld.global.v4.b32" not in built(out[1:], x[1:], y[1:], 96, 128, 1).ptx
    # Parameters have the source's names, and the two that Triton adds have such, too.
    names = [name for name, _, _ in girih.sim.Program(wide).parameters("add")]
    assert names[:5] == ["out", "x", "y", "n", "global_scratch"]


@pytest.mark.parametrize("begin", [0, 1])
@pytest.mark.parametrize("n", [1, 16, 95, 96])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
def test_what_is_specialised_runs(girih_check, n, begin, dtype):
    out, x, y = (array[begin:] for array in arrays(n + begin, dtype))
    girih_check.triton(add)[(triton.cdiv(n, 64),)](out, x, y, n, BLOCK=64, SCALE=2)
    assert np.array_equal(out, x + 2)


def test_none_nobody_and_what_heuristics_choose(girih_check):
    out, x, _ = arrays(100)
    chosen = triton.heuristics({"BLOCK": lambda given: triton.next_power_of_2(given["n"])})(add)
    girih_check.triton(chosen)[(1,)](girih.sim.Uninitialised(out), x, None, 100)
    assert np.array_equal(out, x)
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(chosen)[(1,)](out, girih.sim.Uninitialised(x), None, 100)
    assert found.value.kind == "uninitialised-memory" and found.value.name == "argument 1 (x)"


class Pair(NamedTuple):
    x: object
    y: object


@triton.jit
def dot(out, pair, factors, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, factors[0] * tl.load(pair.x + i) + factors[1] * tl.load(pair.y + i))


def test_tuples_are_their_elements(girih_check):
    out, x, y = arrays(64)
    girih_check.triton(dot)[(1,)](out, Pair(x, y), (2.0, 1), BLOCK=64)
    assert np.array_equal(out, 2 * x + y)


def test_programs_of_several_blocks_are_counted_as_one(girih_check):
    out, x, y = arrays(200)
    verdict = girih_check.triton(add, num_ctas=2)[(2,)](out, x, y, 200, BLOCK=128)
    assert np.array_equal(out, x + 1) and verdict.report.blocks == 4


@triton.jit
def copy(out, x, M, N, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BLOCK, BLOCK])
    destination = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BLOCK, BLOCK])
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    destination.store([i, j], source.load([i, j]))


@pytest.mark.skipif(not hasattr(tl, "make_tensor_descriptor"), reason="this version of Triton has no descriptors")
def test_each_program_has_its_own_descriptors(girih_check):
    x = np.arange(40 * 36, dtype=np.float32).reshape(40, 36)
    out = np.zeros_like(x)
    girih_check.triton(copy)[(2, 2)](out, x, 40, 36, BLOCK=32)
    assert np.array_equal(out, x)


@triton.jit
def pipelined(c, a, K, BLOCK: tl.constexpr):
    i, k = tl.arange(0, 64), tl.arange(0, BLOCK)
    acc = tl.zeros((64, 64), tl.float32)
    for start in range(0, K, BLOCK):
        x = tl.load(a + i[:, None] * K + (start + k)[None, :])
        acc = tl.dot(x, x.T, acc)
    tl.store(c + i[:, None] * 64 + i[None, :], acc)


def test_stages_are_pipelines(girih_check):
    a, c = np.random.default_rng(0).integers(-4, 5, (64, 96)).astype(ml_dtypes.bfloat16), np.zeros((64, 64), np.float32)
    assert "cp.async.commit_group" in compile.triton(pipelined, {"c": c, "a": a, "K": 96, "BLOCK": 32}, num_stages=3).ptx
    girih_check.triton(pipelined, num_stages=3)[(1,)](c, a, 96, BLOCK=32)
    assert np.array_equal(c, a.astype(np.float64) @ a.T.astype(np.float64))


def test_a_line_is_that_of_the_source(girih_check):
    out, x, y = arrays(100)
    for given, text in [((out, x[:50], y), "v = tl.load(x"), ((out, x, y[:50]), "v += SCALE"), ((out[:50], x, y), "tl.store(out")]:
        with pytest.raises(girih.Finding) as found:
            girih_check.triton(add)[(1,)](*given, 100, BLOCK=128)
        assert found.value.kind == "out-of-bounds"
        assert linecache.getline(*found.value.at.source).strip().startswith(text)


def test_the_line_of_a_file_that_has_moved_since_it_was_compiled(tmp_path):
    # Triton keeps what it has compiled by the text of a kernel, not by its file.
    text = "import triton, triton.language as tl\n\n@triton.jit\ndef store(out):\n    tl.store(out, 1.0)\n"
    for name in ["before", "now"]:
        file = tmp_path / name / "kept.py"
        file.parent.mkdir()
        file.write_text(text)
        spec = importlib.util.spec_from_file_location("kept", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        ptx = compile.triton(module.store, {"out": np.zeros(1, np.float32)}).ptx
        assert f'"{file}"' in ptx
        file.unlink()


def test_what_is_refused_says_what_would_be_accepted(girih_check):
    out, x, y = arrays(100)

    def refused(message, *args, error=TypeError, kernel=add, **options):
        with pytest.raises(error, match=message):
            girih_check.triton(kernel)[(1,)](*args, **options)

    refused("takes out, x, y, n, BLOCK, SCALE; missing: n, BLOCK", out, x, y)
    refused("takes 6 arguments, out, x, y, n, BLOCK, SCALE; given are 7", out, x, y, 100, 64, 1, 1)
    refused("add: n given twice", out, x, y, 100, n=100, BLOCK=128)
    refused("num_wraps", out, x, y, 100, BLOCK=128, num_wraps=2, error=KeyError)
    refused("x must be an array, an int, a float, a bool, None or a tuple of them, not list", out, [1.0], y, 1, BLOCK=128)
    refused("no type for elements of complex64", out, x.astype(np.complex64), y, 100, BLOCK=128)
    refused(r"argument 1 \(x\) is not contiguous", out, x[::2], y, 50, BLOCK=128, error=ValueError)
    refused("not a kernel of @triton.jit", out, kernel=arrays)


@triton.jit
def wait(flag):
    while tl.atomic_add(flag, 0) == 0:
        pass


def test_a_kernel_that_never_ends_fails(girih_check):
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(wait, num_warps=1)[(2,)](np.zeros(1, np.int32), steps=10**5, seeds=1)
    assert found.value.kind == "livelock"
    # The simulator's own options stand beside Triton's.
    verdict = girih_check.triton(wait, seeds=2, seed=3)[(2,)](np.ones(1, np.int32))
    assert verdict.seeds == [3, 4]


@triton.jit
def meet(out, count, x, BLOCK: tl.constexpr):
    """Each program reads what another has stored, once all have come."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    i = tl.arange(0, BLOCK)
    tl.store(x + program * BLOCK + i, program)
    # Not each version of Triton has barriers around atomics, which one thread carries out.
    tl.debug_barrier()
    tl.atomic_add(count, 1, sem="release")
    while tl.atomic_add(count, 0, sem="acquire") < programs:
        pass
    tl.debug_barrier()
    tl.store(out + program * BLOCK + i, tl.load(x + (programs - 1 - program) * BLOCK + i))


def test_programs_wait_for_one_another(girih_check):
    out, count, x = np.zeros((3, 64), np.int32), np.zeros(1, np.int32), np.zeros((3, 64), np.int32)
    girih_check.triton(meet)[(3,)](out, count, x, BLOCK=64, steps=10**7)
    assert np.array_equal(out, [[2] * 64, [1] * 64, [0] * 64])


@triton.jit
def narrow(out, x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(tl.float8e4nv).to(tl.float32))


@pytest.mark.parametrize("n", [32, 128, 512])
def test_casts_to_8_bits(girih_check, n):
    # With one element a thread, the upper half of each pair has no value.
    x, out = np.linspace(-3, 3, n, dtype=np.float32), np.zeros(n, np.float32)
    girih_check.triton(narrow)[(1,)](out, x, BLOCK=n)
    assert np.array_equal(out, x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32))


def test_a_gpu_that_is_too_new_is_named(girih_check):
    c, a = np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float16)
    with pytest.raises(girih.PtxError) as refused:
        girih_check.triton(pipelined, arch=100)[(1,)](c, a, 64, BLOCK=32)
    assert "arch=90" in refused.value.__notes__[0]


def test_a_failed_test_begins_at_its_own_line(pytester):
    pytester.makepyfile(
        """
        import numpy as np
        import triton
        import triton.language as tl
        @triton.jit
        def store(out):
            tl.store(out + tl.arange(0, 4), 1.0)
        def test_store(girih_check):
            girih_check.triton(store)[(1,)](np.zeros(3, np.float32))
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*girih: out-of-bounds*", "*argument 0 (out)*", "*st.global*", "*: tl.store(out + tl.arange(0, 4), 1.0)"])
    # Of the code of girih nothing is shown.
    assert "def run(" not in result.stdout.str() and "pytest_plugin.py" not in result.stdout.str()
