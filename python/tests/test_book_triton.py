"""What a team without a GPU has beside its kernels of Triton: each kernel against NumPy in f64, over sizes around its tiles, under all checks;
and each check against a kernel with a mistake in it.
"""

import linecache

import ml_dtypes
import numpy as np
import pytest

import girih

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def line(site):
    """The line of Triton that an access was compiled from."""
    return linecache.getline(*site.source).strip()


# A softmax over rows of different lengths: row r is x[starts[r] : starts[r + 1]].


@triton.jit
def softmax(out, x, starts, BLOCK: tl.constexpr, MASKED: tl.constexpr = True):
    row = tl.program_id(0)
    start = tl.load(starts + row)
    columns = tl.arange(0, BLOCK)
    inside = columns < tl.load(starts + row + 1) - start
    v = tl.load(x + start + columns, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    p = (e / tl.sum(e, 0)).to(out.dtype.element_ty)
    if MASKED:
        tl.store(out + start + columns, p, mask=inside)
    else:
        tl.store(out + start + columns, p)


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("lengths", [[1], [128], [7, 1, 127, 128, 64], [3, 129, 300]])
def test_softmax(girih_check, rng, lengths, dtype, num_warps):
    starts = np.cumsum([0, *lengths], dtype=np.int32)
    x = rng.normal(size=starts[-1]).astype(dtype)
    out = np.zeros_like(x)
    block = triton.next_power_of_2(max(lengths))
    verdict = girih_check.triton(softmax, num_warps=num_warps)[(len(lengths),)](out, x, starts, BLOCK=block)
    assert verdict.report.blocks == len(lengths)
    for begin, end in zip(starts, starts[1:]):
        e = np.exp(x[begin:end].astype(np.float64))
        expected = e / e.sum()
        # A sum of positive numbers in f32, and one rounding to the elements' type.
        np.testing.assert_allclose(out[begin:end].astype(np.float64), expected, rtol=2 * ml_dtypes.finfo(dtype).eps + 1e-5)


def test_a_store_without_its_mask_races_with_the_next_row_and_leaves_the_array(girih_check):
    starts = np.array([0, 100, 228], np.int32)
    x = np.ones(228, np.float32)
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(softmax)[(2,)](np.zeros_like(x), x, starts, BLOCK=128, MASKED=False)
    race = found.value
    assert race.kind == "race" and race.space == "global" and {tuple(race.at.block), tuple(race.other.block)} == {(0, 0, 0), (1, 0, 0)}
    assert line(race.at) == line(race.other) == "tl.store(out + start + columns, p)"

    # The last row alone has no next one: its 28 elements too many are behind the array.
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(softmax)[(1,)](np.zeros(100, np.float32), x, starts, BLOCK=128, MASKED=False)
    outside = found.value
    assert outside.kind == "out-of-bounds" and outside.name == "argument 0 (out) + 400, behind its 400 bytes"
    assert outside.at.instruction.startswith("st.global") and line(outside.at) == "tl.store(out + start + columns, p)"


# A product: a loop over K, operands in bf16, sums in f32.


@triton.jit
def matmul(c, a, b, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, K_MASKED: tl.constexpr = True):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        inside = k < K if K_MASKED else k < start + BK
        x = tl.load(a + i[:, None] * K + k[None, :], mask=(i[:, None] < M) & inside[None, :], other=0.0)
        y = tl.load(b + k[:, None] * N + j[None, :], mask=inside[:, None] & (j[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + i[:, None] * N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))


@pytest.mark.parametrize(("num_warps", "num_stages"), [(1, 1), (4, 1), (4, 3), (8, 2)])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (64, 32, 32), (64, 32, 96), (65, 33, 31), (100, 48, 144)])
def test_matmul(girih_check, rng, m, n, k, num_warps, num_stages):
    # Small integers: every sum is exact, so that a wrong index is a wrong number.
    a, b = (rng.integers(-8, 9, shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float32)
    launch = girih_check.triton(matmul, num_warps=num_warps, num_stages=num_stages)
    launch[lambda tile: (triton.cdiv(m, tile["BM"]), triton.cdiv(n, tile["BN"]))](c, a, b, m, n, k, BM=64, BN=32, BK=32)
    assert np.array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


def test_a_loop_over_k_without_its_mask_reads_behind_the_last_row(girih_check):
    a, b = np.ones((64, 40), ml_dtypes.bfloat16), np.ones((40, 32), ml_dtypes.bfloat16)
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(matmul)[(1, 1)](np.zeros((64, 32), np.float32), a, b, 64, 32, 40, BM=64, BN=32, BK=32, K_MASKED=False)
    error = found.value
    assert error.kind == "out-of-bounds" and error.space == "global"
    # Which of the two the compiler has read first is its affair.
    ends = {"argument 1 (a) + 5120, behind its 5120 bytes": "x = tl.load(a +", "argument 2 (b) + 2560, behind its 2560 bytes": "y = tl.load(b +"}
    assert line(error.at).startswith(ends[error.name])


# A sum over programs, and what may go wrong between them.


@triton.jit
def total(out, x, n, BLOCK: tl.constexpr, MISTAKE: tl.constexpr = ""):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MISTAKE == "mask":
        v = tl.load(x + i)
    else:
        v = tl.load(x + i, mask=i < n, other=0)
    if MISTAKE == "atomic":
        so_far = tl.load(out)
        tl.store(out, so_far + tl.sum(v, 0))
    else:
        tl.atomic_add(out, tl.sum(v, 0))


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("n", [1, 255, 256, 257, 1000])
def test_total(girih_check, rng, n, dtype):
    x, out = rng.integers(-8, 9, n).astype(dtype), np.zeros(1, dtype)
    girih_check.triton(total)[(triton.cdiv(n, 256),)](out, x, n, BLOCK=256)
    assert out[0] == x.astype(np.float64).sum()


def test_a_load_without_its_mask_is_told_with_its_thread_and_address(girih_check):
    x, out = np.ones(1001, np.float32), np.zeros(1, np.float32)
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(total, num_warps=1)[(4,)](out, x, 1001, BLOCK=256, MISTAKE="mask")
    error = found.value
    assert error.kind == "out-of-bounds" and line(error.at) == "v = tl.load(x + i)"
    # Four elements are loaded at once, of which the first is the array's last one: number 1000 - 3 * 256 = 232 of block 3. Of such 256, thread t
    # loads those from 4 t and from 128 + 4 t on.
    assert error.name == "argument 1 (x) + 4000" and "read of 16 bytes" in str(error)
    assert error.block == [3, 0, 0] and error.thread == [(232 - 128) // 4, 0, 0]


def test_a_sum_that_is_read_and_written_back_races(girih_check):
    x, out = np.ones(1000, np.float32), np.zeros(1, np.float32)
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(total)[(4,)](out, x, 1000, BLOCK=256, MISTAKE="atomic")
    race = found.value
    assert race.kind == "race" and race.name == "argument 0 (out)" and race.block != race.other.block
    assert {line(race.at), line(race.other)} == {"so_far = tl.load(out)", "tl.store(out, so_far + tl.sum(v, 0))"}
    # The simulator ran the programs one after the other, and the sum is right: a comparison alone would have passed.
    assert out[0] == 1000


@triton.jit
def mean(out, parts, done, x, n, BLOCK: tl.constexpr, SEM: tl.constexpr):
    """Each program stores its part; the last one to come adds up the parts."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    i = program * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts + program, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
    if tl.atomic_add(done, 1, sem=SEM) == programs - 1:
        p = tl.arange(0, 16)
        tl.store(out, tl.sum(tl.load(parts + p, mask=p < programs, other=0.0), 0) / n)


@pytest.mark.parametrize("n", [1, 256, 1000])
def test_the_last_program_sees_what_the_others_have_stored(girih_check, n):
    blocks = triton.cdiv(n, 256)

    def launch(sem):
        x, out, done = np.arange(n, dtype=np.float32), np.zeros(1, np.float32), np.zeros(1, np.int32)
        # Nobody has written the parts yet: a program that read one too early would be found.
        parts = girih.sim.Uninitialised(np.zeros(16, np.float32))
        girih_check.triton(mean)[(blocks,)](out, parts, done, x, n, BLOCK=256, SEM=sem)
        return out[0]

    assert launch("acq_rel") == (n - 1) / 2
    if blocks > 1:
        with pytest.raises(girih.Finding) as found:
            launch("relaxed")
        assert found.value.kind == "race" and found.value.name.startswith("argument 1 (parts)")
        assert found.value.other is not None and found.value.block != found.value.other.block


# Two steps of one program, between which its warps exchange elements through memory.


@triton.jit
def reverse(out, scratch, x, BLOCK: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(scratch + i, tl.load(x + i))
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + i, tl.load(scratch + BLOCK - 1 - i))


def test_warps_that_exchange_elements_need_a_barrier(girih_check, rng):
    x = rng.normal(size=256).astype(np.float32)
    out, scratch = np.zeros_like(x), np.zeros_like(x)
    girih_check.triton(reverse)[(1,)](out, scratch, x, BLOCK=256, BARRIER=True)
    assert np.array_equal(out, x[::-1])
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(reverse)[(1,)](out, scratch, x, BLOCK=256, BARRIER=False)
    race = found.value
    assert race.kind == "race" and race.block == race.other.block and race.thread[0] // 32 != race.other.thread[0] // 32
    places = {line(race.at), line(race.other)}
    assert places == {"tl.store(scratch + i, tl.load(x + i))", "tl.store(out + i, tl.load(scratch + BLOCK - 1 - i))"}
