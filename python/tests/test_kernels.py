"""Kernels on arrays of the host: by the simulator, with its checks, against numpy in f64."""

import threading

import numpy as np
import pytest

import girih

rng = np.random.default_rng(0)


def bf16():
    return pytest.importorskip("ml_dtypes").bfloat16


def matrix(rows, columns, dtype):
    """Small whole numbers, whose products and sums are exact."""
    return rng.integers(-4, 5, (rows, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
def test_products_of_all_orders(dtype, orders):
    dtype = bf16() if dtype == "bfloat16" else np.dtype(dtype)
    a, b = (np.asarray(x, order=o) for x, o in zip((matrix(40, 24, dtype), matrix(24, 33, dtype)), orders))
    c = girih.gemm(a, b)
    assert c.dtype == dtype and np.array_equal(c.astype(np.float64), a.astype(np.float64) @ b.astype(np.float64))


def test_a_product_into_columns_with_another_type():
    a, b = matrix(40, 24, np.float16), matrix(24, 32, np.float16)
    out = np.empty((40, 32), np.float32, order="F")
    assert girih.gemm(a, b, out=out) is out
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(out, wanted)
    assert np.array_equal(girih.gemm(a, b, out_dtype=np.float32), wanted)


def test_whole_numbers():
    a, b = rng.integers(-128, 128, (48, 64), np.int8), rng.integers(-128, 128, (64, 32), np.int8)
    c = girih.gemm(a, np.asfortranarray(b), out_dtype=np.int32)
    assert np.array_equal(c, a.astype(np.int64) @ b.astype(np.int64))


@pytest.mark.parametrize(
    ("activation", "function"),
    [
        (None, lambda x: x),
        ("relu", lambda x: np.maximum(x, 0)),
        ("silu", lambda x: x / (1 + np.exp(-x))),
        ("gelu_tanh", lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    ],
)
def test_bias_and_activation(activation, function):
    a, b = rng.standard_normal((33, 20)).astype(np.float32), rng.standard_normal((20, 17)).astype(np.float32)
    bias = rng.standard_normal(17).astype(np.float32)
    c = girih.gemm(a, b, bias=bias, activation=activation)
    wanted = function(a.astype(np.float64) @ b.astype(np.float64) + bias)
    np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-5)


def test_a_part_of_an_array():
    a, b = matrix(40, 48, np.float32), matrix(20, 16, np.float32)
    assert np.array_equal(girih.gemm(a[:, ::2][:, :20], b), a[:, ::2][:, :20].astype(np.float64) @ b)


def test_products_that_are_refused():
    a, b = matrix(4, 5, np.float32), matrix(5, 6, np.float32)
    with pytest.raises(ValueError, match="4 x 5.*6 x 6"):
        girih.gemm(a, matrix(6, 6, np.float32))
    with pytest.raises(girih.KernelError, match="s32"):
        girih.gemm(a.astype(np.int32), b.astype(np.int32))
    with pytest.raises(girih.KernelError):
        girih.gemm(a, b.astype(np.float16))
    with pytest.raises(ValueError, match="relu"):
        girih.gemm(a, b, activation="tanh")
    with pytest.raises(ValueError, match="bias"):
        girih.gemm(a, b, bias=np.zeros(5, np.float32))
    for refused in ([[1.0]], 1.0, None):
        with pytest.raises(TypeError, match=f"^a .*{type(refused).__name__}"):
            girih.gemm(refused, b)
    with pytest.raises(TypeError, match="^a .*list"):
        girih.gemm([[1.0]], b, out=np.empty((1, 6), np.float32))
    with pytest.raises(girih.KernelError, match="^b: .*complex64"):
        girih.gemm(a, b.astype(np.complex64), out=np.empty((4, 6), np.float32))
    with pytest.raises(TypeError, match="^b: .*>f4"):
        girih.gemm(a, b.astype(">f4"))
    with pytest.raises(ValueError, match="contiguous"):
        girih.gemm(a, b, out=np.empty((4, 12), np.float32)[:, ::2])


def test_what_is_written_shares_no_memory():
    """The simulator works on copies, where a GPU would read what it has written."""
    a, b = matrix(6, 6, np.float32), matrix(6, 6, np.float32)
    before = a.copy()
    with pytest.raises(ValueError, match="out.* and a have 144 bytes in common"):
        girih.gemm(a, b, out=a)
    with pytest.raises(ValueError, match="out.* and b have 72 bytes"):
        girih.gemm(a[:, :3].copy(), b[3:], out=b)
    assert np.array_equal(a, before)
    x = np.zeros((3, 40), bf16())
    with pytest.raises(ValueError, match="array 1.* and array 0"):
        girih.program("softmax_bf16_1x4096", x, x)
    # What is read may be the same.
    assert np.array_equal(girih.gemm(a, a), a.astype(np.float64) @ a)


def test_read_only_arrays_are_read_alone():
    a, b, out = matrix(4, 5, np.float32), matrix(5, 6, np.float32), np.zeros((4, 6), np.float32)
    wanted = a.astype(np.float64) @ b
    for array in (a, b, out):
        array.flags.writeable = False
    assert np.array_equal(girih.gemm(a, b), wanted)
    with pytest.raises(ValueError, match="^out is read-only"):
        girih.gemm(a, b, out=out)
    y = np.zeros((5, 4), np.float32)
    girih.program("transpose_f32_64x64", a, y)
    assert np.array_equal(y, a.T)
    with pytest.raises(ValueError, match="^array 1 is read-only"):
        girih.program("transpose_f32_64x64", y, a)
    assert not out.any()


@pytest.mark.parametrize(("m", "n", "k"), [(0, 5, 4), (5, 0, 4), (5, 4, 0), (0, 0, 0), (1, 1, 1)])
def test_products_of_few(m, n, k):
    a, b = matrix(m, k, np.float32), matrix(k, n, np.float32)
    c = girih.gemm(a, b, out=np.full((m, n), 7, np.float32))
    assert np.array_equal(c, a.astype(np.float64) @ b)


def test_a_call_that_has_been_made_before_takes_its_own_arrays():
    """What calls have in common is kept: not arrays, nor what else they differ in."""
    for turn in range(3):
        for n in (32, 40):
            a, b, bias = matrix(48, 24, np.float32), matrix(24, n, np.float32), matrix(1, n, np.float32)[0]
            product = a.astype(np.float64) @ b
            assert np.array_equal(girih.gemm(a, b), product)
            assert np.array_equal(girih.gemm(a, b, bias=bias), product + bias)
            assert np.array_equal(girih.gemm(a, b, bias=bias, activation="relu"), np.maximum(product + bias, 0))
            assert np.array_equal(girih.gemm(a, b, activation="relu"), np.maximum(product, 0))
            assert np.array_equal(girih.gemm(a, np.asfortranarray(b)), product)
        q, k, v = (heads(1, 2, 17, 16) for _ in range(3))
        for causal in (False, True):
            wanted = attention(q, k, v, np.tri(17, dtype=bool) if causal else None)
            np.testing.assert_allclose(girih.attention(q, k, v, causal=causal), wanted, rtol=2e-3, atol=2e-4)


def test_calls_from_several_threads():
    a = [matrix(40, 24, np.float32) for _ in range(6)]
    b = matrix(24, 32, np.float32)
    found = [None] * len(a)

    def call(i):
        for _ in range(3):
            found[i] = girih.gemm(a[i], b)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(c, x.astype(np.float64) @ b) for c, x in zip(found, a))


def test_strides_that_no_kernel_takes_are_refused():
    """As they come from arrays on a GPU: those of the host are copied, or refused by numpy's flags."""
    device = girih._girih.Device.simulator(False, 1)

    def on_gpu(*strides):
        return girih._memory.Array(1 << 20, (4,) * len(strides), strides, "bf16", 2, 0, False, None)

    with pytest.raises(ValueError, match=r"array 0 has the strides \[-4, 1\]"):
        girih._girih._program(device, "softmax_bf16_1x4096", [on_gpu(-4, 1), on_gpu(4, 1)], [])
    with pytest.raises(ValueError, match="array 0 .*more bytes"):
        girih._girih._program(device, "softmax_bf16_1x4096", [on_gpu(2**62, 1), on_gpu(4, 1)], [])


def attention(q, k, v, mask=None, scale=None, softcap=None, sinks=None):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = np.einsum("bhid,bhjd->bhij", q, k) * (scale or q.shape[-1] ** -0.5)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    column = np.full(scores.shape[1], -np.inf) if sinks is None else sinks.astype(np.float64)
    column = np.broadcast_to(column[None, :, None, None], (*scores.shape[:3], 1))
    scores = np.concatenate([scores, column], -1)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhij,bhjd->bhid", (e / e.sum(-1, keepdims=True))[..., :-1], v)


def heads(b, h, s, d, dtype=np.float32):
    return rng.standard_normal((b, h, s, d)).astype(dtype)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("order", ["bhsd", "bshd"])
def test_attention(order, causal):
    q, k, v = heads(2, 4, 37, 32), heads(2, 2, 37, 32), heads(2, 2, 37, 32)
    mask = np.tri(37, dtype=bool) if causal else None
    wanted = attention(q, k, v, mask)
    turn = (lambda x: np.ascontiguousarray(x.swapaxes(1, 2))) if order == "bshd" else (lambda x: x)
    out = girih.attention(*map(turn, (q, k, v)), order=order, causal=causal)
    np.testing.assert_allclose(turn(out), wanted, rtol=2e-3, atol=2e-4)


def test_attention_with_a_window_a_scale_and_a_cap():
    q, k, v = heads(1, 1, 20, 16), heads(1, 1, 50, 16), heads(1, 1, 50, 16)
    i, j = np.arange(20)[:, None], np.arange(50)[None, :]
    mask = (j <= i + 30) & (j >= i + 30 - 7)
    out = girih.attention(q, k, v, causal="bottom_right", window=7, scale=0.3, softcap=2.0)
    np.testing.assert_allclose(out, attention(q, k, v, mask, 0.3, 2.0), rtol=2e-3, atol=2e-4)
    mask = j <= i
    out = girih.attention(q, k, v, causal="top_left")
    np.testing.assert_allclose(out, attention(q, k, v, mask), rtol=2e-3, atol=2e-4)


def test_attention_with_sinks():
    q, k, v = heads(2, 4, 37, 32), heads(2, 2, 37, 32), heads(2, 2, 37, 32)
    sinks = np.array([0.5, -np.inf, 3.0, 1e4], np.float32)
    out = girih.attention(q, k, v, sinks=sinks)
    np.testing.assert_allclose(out, attention(q, k, v, sinks=sinks), rtol=2e-3, atol=2e-4)
    with pytest.raises(ValueError, match="sinks must be a contiguous vector of 4 f32"):
        girih.attention(q, k, v, sinks=sinks[:3])


def test_attention_of_bf16():
    q, k, v = (heads(1, 2, 64, 64, bf16()) for _ in range(3))
    np.testing.assert_allclose(girih.attention(q, k, v).astype(np.float64), attention(q, k, v), rtol=0.02, atol=0.02)


def test_attention_that_is_refused():
    q, k = heads(1, 1, 20, 16), heads(1, 1, 50, 16)
    with pytest.raises(ValueError, match="top_left"):
        girih.attention(q, k, k, causal=True)
    with pytest.raises(ValueError, match="bhsd"):
        girih.attention(q, k, k, order="bdsh")
    with pytest.raises(ValueError, match="v"):
        girih.attention(q, k, heads(1, 1, 40, 16))
    with pytest.raises(ValueError, match="q must have four axes, not 3"):
        girih.attention(*(heads(1, 1, 4, 16)[0] for _ in range(3)), causal=True)
    with pytest.raises(TypeError, match="^q .*list"):
        girih.attention([1.0], k, k)
    with pytest.raises(girih.GirihError):
        girih.attention(*(heads(1, 1, 4, 600) for _ in range(3)))
    with pytest.raises(girih.GirihError):
        girih.attention(heads(1, 3, 4, 16), heads(1, 2, 4, 16), heads(1, 2, 4, 16))


def test_programs_over_tiles():
    x = rng.standard_normal((7, 900)).astype(bf16())
    out = np.empty_like(x)
    girih.program("softmax_bf16_1x4096", x, out)
    e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(1, keepdims=True))
    np.testing.assert_allclose(out.astype(np.float64), e / e.sum(1, keepdims=True), rtol=0.02, atol=1e-4)

    x = rng.standard_normal((70, 130)).astype(np.float32)
    out = np.empty((130, 70), np.float32)
    girih.program("transpose_f32_64x64", x, out)
    assert np.array_equal(out, x.T)

    x = np.arange(9000, dtype=np.float32)
    out = np.zeros(1, np.float32)
    girih.program("sum_all_f32_4096", x, out)
    assert out[0] == pytest.approx(x.sum(dtype=np.float64), rel=1e-6)

    x, out = rng.integers(0, 256, 20000, np.uint8), np.zeros(256, np.int32)
    girih.program("histogram_4096_256", x, out)
    assert np.array_equal(out, np.bincount(x, minlength=256))


def test_the_list_of_programs():
    programs = girih.programs()
    assert len(programs) > 30
    assert programs["transpose_f32_64x64"]["sizes"] == ["m", "n"]
    assert [role for _, _, role in programs["gemm_bf16_128x256x64"]["arrays"]] == ["in", "in", "out"]
    with pytest.raises(girih.KernelError, match="f32"):
        girih.program("transpose_f32_64x64", np.zeros((3, 4), np.float32), np.zeros((3, 4), np.float32))
    with pytest.raises(girih.KernelError, match="hight = 9"):
        girih.program("transpose_f32_64x64", np.zeros((3, 4), np.float32), np.zeros((4, 3), np.float32), hight=9)
    with pytest.raises(ValueError, match="programs()"):
        girih.program("transpose", np.zeros(3, np.float32))


def test_arrays_of_the_host_ask_for_no_gpu():
    with pytest.raises(ValueError, match="on one GPU; these are on the host"):
        girih.cuda.launch("", "k", 1, 1, [np.zeros(3, np.float32)], stream=0)
