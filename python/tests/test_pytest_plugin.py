import importlib.util
import linecache

import numpy as np
import ptx
import pytest

import girih
from girih.pytest_plugin import describe

needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
needs_nvrtc = pytest.mark.skipif(importlib.util.find_spec("cuda") is None, reason="cuda-bindings is not installed")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@needs_triton
def test_a_triton_kernel_passes(girih_check):
    import kernels

    x = np.random.default_rng(0).standard_normal((5, 100)).astype(np.float32)
    out = np.zeros_like(x)
    verdict = girih_check.triton(kernels.softmax, num_warps=2)[(5,)](out, x, x.shape[1], 100, BLOCK=128)
    np.testing.assert_allclose(out, softmax(x.astype(np.float64)), rtol=1e-5)
    assert verdict.passed and verdict.copied <= 8 and verdict.report.blocks == 5


@needs_triton
def test_a_triton_kernel_without_a_mask_reads_out_of_bounds(girih_check):
    import kernels

    x = np.zeros((5, 100), np.float32)
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(kernels.softmax_unmasked)[lambda meta: (meta["stride"] // 20,)](np.zeros_like(x), x, 100, 100, BLOCK=128)
    error = found.value
    assert error.kind == "out-of-bounds" and error.at.source[0].endswith("kernels.py")
    assert "tl.load(x + row * stride + columns)" in linecache.getline(*error.at.source)


@needs_triton
def test_programs_that_store_to_one_number_race(girih_check):
    import kernels

    out, x = np.zeros(1, np.float32), np.arange(500, dtype=np.float32)
    with pytest.raises(girih.Finding) as found:
        girih_check.triton(kernels.last)[(4,)](out, x, 500, BLOCK=128)
    assert found.value.kind == "race" and found.value.at.block != found.value.other.block
    out[:] = 0
    girih_check.triton(kernels.total)[(4,)](out, x, 500, BLOCK=128)
    assert out[0] == x.sum()


@needs_triton
def test_a_product_by_tensor_cores(girih_check):
    import kernels

    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (70, 40)).astype(np.float16), rng.integers(-4, 5, (40, 50)).astype(np.float16)
    c = np.zeros((70, 50), np.float32)
    options = {"BM": 64, "BN": 32, "BK": 16}
    girih_check.triton(kernels.matmul)[(2, 2)](c, a, b, 70, 50, 40, **options)
    assert np.array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


CUDA = """
template <class T> __global__ void scale(T* out, const T* x, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}
extern "C" __global__ void sum(float* out, const float* x) {
    __shared__ float part[64];
    part[threadIdx.x] = x[threadIdx.x];
    for (int step = 32; step > 0; step /= 2) {
        BARRIER
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) out[0] = part[0];
}
"""


@needs_nvrtc
def test_a_cuda_kernel_and_its_broken_twin(girih_check):
    x, out = np.arange(64, dtype=np.float32), np.zeros(1, np.float32)
    girih_check.cuda(CUDA.replace("BARRIER", "__syncthreads();"), 1, 64, [out, x], kernel="sum")
    assert out[0] == 2016
    with pytest.raises(girih.Finding) as found:
        girih_check.cuda(CUDA.replace("BARRIER", ""), 1, 64, [out, x], kernel="sum")
    assert found.value.kind == "race" and "part[threadIdx.x]" in CUDA.splitlines()[found.value.at.source[1] - 1]
    # The report shows the line of the source, though it stands in no file.
    assert any("kernel.cu" in line and "part[threadIdx.x]" in line for line in describe(found.value))


@needs_nvrtc
def test_a_template_by_its_c_plus_plus_name(girih_check):
    x, out = np.arange(100, dtype=np.float64), np.zeros(100)
    girih_check.cuda(CUDA.replace("BARRIER", ""), 2, 64, [out, x, 0.5, 100], kernel="scale<double>")
    assert np.array_equal(out, x / 2)
    with pytest.raises(girih.compile.CompileError, match="kernel.cu") as refused:
        girih_check.cuda("__global__ void k() { nonsense }", 1, 1)
    assert "nonsense" in refused.value.log


def test_a_failed_test_shows_both_places(pytester):
    pytester.makepyfile(
        f"""
        import numpy as np
        RACE = {ptx.RACE!r}
        def test_swap(girih_check):
            girih_check.ptx(RACE, "swap", 1, 64, [np.zeros(64, np.uint32)])
        def test_nothing(girih_check):
            assert (girih_check.options["seeds"], girih_check.options["deny"]) == (7, True)
        """
    )
    result = pytester.runpytest("--girih-seeds=7", "--girih-deny-warnings")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*girih: race*", "error: race at tile*", "*ld.shared.u32*PTX line*", "with", "*st.shared.u32*PTX line*"])


@pytest.mark.parametrize("seeds", ["0", "-1", "many"])
def test_a_number_of_orders_that_is_none_is_refused(pytester, seeds):
    result = pytester.runpytest(f"--girih-seeds={seeds}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*1 order or more, not in {seeds}*"])


def test_each_block_has_its_part_of_what_a_compiler_asks_for(girih_check):
    text = (
        ptx.HEAD
        + """.visible .entry k(.param .u64 out, .param .u64 scratch) {
  .reg .b32 %r; .reg .b64 %out, %at, %by; ld.param.u64 %out, [out]; ld.param.u64 %at, [scratch];
  mov.u32 %r, %ctaid.x; mul.wide.u32 %by, %r, 4; add.s64 %at, %at, %by; add.s64 %out, %out, %by;
  st.global.u32 [%at], %r; ld.global.u32 %r, [%at]; st.global.u32 [%out], %r; ret; }"""
    )
    out = np.zeros(3, np.uint32)
    built = girih.compile.Compiled(text, "k", 1, 0, 1, (4,), {})
    girih_check.compiled(built, 3, None, [out])
    assert out.tolist() == [0, 1, 2]
