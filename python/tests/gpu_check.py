"""What needs a GPU: PTX, products, attention and programs on the tensors of torch and cupy, on their streams, against torch.

`python gpu_check.py` beside ptx.py and python.md, where torch with CUDA and the wheel are installed; cupy is used if it is there. A line for
each check, the last line says how many passed, failed and were skipped; the exit status is 1 if one failed.
"""

import gc
import re
import sys
import threading
import time
import traceback
from pathlib import Path
from statistics import median

import numpy as np
import ptx
import torch

import girih

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def close(found, wanted, tolerance):
    error = (found.double() - wanted.double()).abs().max() / wanted.double().abs().max().clamp_min(1e-30)
    assert error <= tolerance, f"error {error:.2e} above {tolerance:.0e}"
    return f"error {error:.1e}"


@check
def the_ptx_that_the_simulator_has_judged_runs_on_the_gpu():
    x, y = torch.arange(1000.0, device="cuda"), torch.ones(1000, device="cuda")
    out = torch.zeros(1000, device="cuda")
    girih.cuda.launch(ptx.SAXPY, "saxpy", 4, 256, [out, x, y, 2.0, 1000])
    host = np.zeros(1000, np.float32)
    girih.sim.run(ptx.SAXPY, "saxpy", 4, 256, [host, x.cpu().numpy(), y.cpu().numpy(), 2.0, 1000])
    assert out.tolist() == host.tolist()


@check
def launches_join_the_callers_stream():
    """What is slow comes first in the same stream: a kernel that did not wait for it would read zeros."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        # What the first launch takes longer is not waiting.
        one = torch.zeros(1, device="cuda")
        girih.cuda.launch(ptx.SAXPY, "saxpy", 1, 1, [one, one, one, 1.0, 1])
    big = torch.randn(8192, 8192, device="cuda")
    for turn in range(4):
        x = torch.zeros(1 << 20, device="cuda")
        out = torch.zeros_like(x)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            for _ in range(5):
                big = (big @ big).clamp(-1, 1)
            x += 1 + 0 * big.view(-1)[: 1 << 20]
            girih.cuda.launch(ptx.SAXPY, "saxpy", 4096, 256, [out, x, x, 1.0, 1 << 20])
            done = out + 0
        # In the first turn torch loads kernels, which waits.
        assert turn == 0 or not stream.query(), "the launch has waited for the stream"
        stream.synchronize()
        assert bool((done == 2).all())
    other = torch.zeros_like(x)
    girih.cuda.launch(ptx.SAXPY, "saxpy", 4096, 256, [other, x, x, 1.0, 1 << 20], stream=stream)
    stream.synchronize()
    assert bool((other == 2).all())


@check
def cupys_arrays_on_cupys_stream():
    import cupy

    with cupy.cuda.Stream():
        x = cupy.arange(1000, dtype=cupy.float32)
        out = cupy.zeros_like(x)
        girih.cuda.launch(ptx.SAXPY, "saxpy", 4, 256, [out, x, x, 1.0, 1000])
        assert bool((out == 2 * x).all())
        a, b = (cupy.random.standard_normal(s).astype(cupy.float16) for s in ((300, 200), (200, 100)))
        c = girih.gemm(a, b)
        assert isinstance(c, cupy.ndarray) and float(abs(c.astype(float) - a.astype(float) @ b.astype(float)).max()) < 0.1


@check
def an_array_made_for_a_stream_is_made_in_it():
    """Memory that torch gives out in its current stream may still be used there, long before another stream has come to it."""
    stream = torch.cuda.Stream()
    big = torch.randn(8192, 8192, device="cuda")
    a, b = (torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    girih.gemm(a, b, stream=stream)
    torch.cuda.synchronize()
    for _ in range(5):
        big = (big @ big).clamp(-1, 1)
    # Freed at once, and still to be written.
    late = torch.zeros(2048, 2048, device="cuda", dtype=torch.bfloat16)
    late.copy_(big[:2048, :2048])
    late = None
    c = girih.gemm(a, b, stream=stream)
    torch.cuda.synchronize()
    return close(c, a.double() @ b.double(), 1e-2)


@check
def streams_that_nobody_knows_are_asked_for():
    class Foreign:
        """A tensor of a library that girih has no stream of."""

        def __init__(self, tensor):
            self.tensor, self.asked = tensor, []

        def __dlpack__(self, stream=None, **options):
            self.asked.append(stream)
            return self.tensor.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    x = Foreign(torch.arange(8.0, device="cuda"))
    out = Foreign(torch.zeros(8, device="cuda"))
    try:
        girih.cuda.launch(ptx.SAXPY, "saxpy", 1, 8, [out, x, x, 1.0, 8])
        raise AssertionError("accepted")
    except ValueError as error:
        assert "say which stream" in str(error)
    stream = torch.cuda.Stream()
    girih.cuda.launch(ptx.SAXPY, "saxpy", 1, 8, [out, x, x, 1.0, 8], stream=stream)
    stream.synchronize()
    # What the library has still to do with it is done before the stream goes on.
    assert x.asked[-1] == stream.cuda_stream and out.tensor.tolist() == (2 * x.tensor).tolist()


@check
def calls_from_several_threads_on_streams_of_their_own():
    b = torch.randn(512, 512, device="cuda", dtype=torch.bfloat16)
    a = [torch.randn(512, 512, device="cuda", dtype=torch.bfloat16) for _ in range(8)]
    torch.cuda.synchronize()
    found = [None] * len(a)

    def call(i):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(20):
                found[i] = girih.gemm(a[i], b)
            torch.cuda.current_stream().synchronize()

    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, c in zip(a, found):
        close(c, x.double() @ b.double(), 1e-2)


@check
def calls_that_were_made_before_keep_no_memory():
    """Also of products whose rows are copied to where tensor copies take them."""
    for n, k in [(512, 512), (512, 509)]:
        for _ in range(20):
            a, b = torch.randn(512, k, device="cuda").bfloat16(), torch.randn(k, n, device="cuda").bfloat16()
            close(girih.gemm(a, b), a.double() @ b.double(), 1e-2)
    a = b = None
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.mem_get_info()[0]
    for n in range(500, 520):
        girih.gemm(torch.randn(4096, 4093, device="cuda").bfloat16(), torch.randn(4093, n, device="cuda").bfloat16())
    torch.cuda.synchronize()
    gc.collect()
    torch.cuda.empty_cache()
    kept = (before - torch.cuda.mem_get_info()[0]) / 2**20
    # A copy of A has 32 MB, and four products may keep theirs.
    assert kept < 400, f"{kept:.0f} MB are kept"
    return f"{kept:.0f} MB are kept"


def product(dtype, m, n, k, a_columns=False, b_columns=False, **options):
    a = torch.randn(k, m, device="cuda").to(dtype).T if a_columns else torch.randn(m, k, device="cuda").to(dtype)
    b = torch.randn(n, k, device="cuda").to(dtype).T if b_columns else torch.randn(k, n, device="cuda").to(dtype)
    return a, b, girih.gemm(a, b, **options)


for _dtype, _tolerance in [(torch.bfloat16, 1e-2), (torch.float16, 2e-3), (torch.float32, 1e-5), (torch.float64, 1e-13)]:
    for _orders in [(False, False), (False, True), (True, False), (True, True)]:

        def _products(dtype=_dtype, tolerance=_tolerance, orders=_orders):
            for m, n, k in [(512, 768, 256), (1000, 500, 333), (4096, 4096, 1024), (1, 1, 1)]:
                a, b, c = product(dtype, m, n, k, *orders)
                said = close(c, a.double() @ b.double(), tolerance)
            return said

        _products.__name__ = f"products of {_dtype}, columns contiguous: {_orders}"
        check(_products)


@check
def products_of_8_bits():
    a, b, c = product(torch.float8_e4m3fn, 512, 256, 1024, False, True, out_dtype=torch.bfloat16)
    close(c, a.double() @ b.double(), 2e-2)
    a = torch.randint(-128, 128, (512, 1024), dtype=torch.int8, device="cuda")
    b = torch.randint(-128, 128, (256, 1024), dtype=torch.int8, device="cuda").T
    c = girih.gemm(a, b, out_dtype=torch.int32)
    assert bool((c.double() == a.double() @ b.double()).all())


@check
def tf32_bias_and_activation():
    a, b = torch.randn(1000, 512, device="cuda"), torch.randn(512, 768, device="cuda")
    bias = torch.randn(768, device="cuda")
    close(girih.gemm(a, b, tf32=True), a.double() @ b.double(), 2e-3)
    wanted = torch.nn.functional.gelu(a.double() @ b.double() + bias.double())
    return close(girih.gemm(a, b, bias=bias, activation="gelu"), wanted, 1e-4)


@check
def a_bias_begins_anywhere():
    a, b, whole = (torch.randn(*shape, device="cuda").bfloat16() for shape in ((300, 256), (256, 512), (520,)))
    for begin in range(9):
        bias = whole[begin : begin + 512]
        said = close(girih.gemm(a, b, bias=bias), a.double() @ b.double() + bias.double(), 1e-2)
    return said


@check
def the_default_stream_by_its_number():
    """For the number 0, torch's ExternalStream is a stream of its pool."""
    a = torch.randn(64, 64, device="cuda").bfloat16()
    with girih.kernels._in_stream("torch", 0, a.device):
        assert torch.cuda.current_stream().cuda_stream == 0
    close(girih.gemm(a, a, stream=0), a.double() @ a.double(), 1e-2)


@check
def parts_of_tensors_and_odd_addresses():
    base = torch.randn(700, 900, device="cuda").to(torch.bfloat16)
    a, b = base[3:503, 5:305], base[100:400, 1:401]
    out = torch.zeros(500, 500, device="cuda", dtype=torch.bfloat16)
    girih.gemm(a, b, out=out[:, 50:450])
    assert float(out[:, :50].abs().max()) == float(out[:, 450:].abs().max()) == 0
    return close(out[:, 50:450], a.double() @ b.double(), 1e-2)


@check
def attention_beside_torchs():
    sdpa = torch.nn.functional.scaled_dot_product_attention
    for dtype, tolerance in [(torch.bfloat16, 2e-2), (torch.float16, 3e-3), (torch.float32, 2e-3)]:
        for b, h, hk, s, d in [(2, 8, 8, 512, 128), (1, 8, 2, 1000, 64)]:
            q = torch.randn(b, h, s, d, device="cuda", dtype=dtype)
            k, v = (torch.randn(b, hk, s, d, device="cuda", dtype=dtype) for _ in range(2))
            wide = [x.repeat_interleave(h // hk, 1).double() for x in (k, v)]
            for causal in (False, True):
                wanted = sdpa(q.double(), *wide, is_causal=causal)
                said = close(girih.attention(q, k, v, causal=causal), wanted, tolerance)
                turned = [x.transpose(1, 2).contiguous() for x in (q, k, v)]
                close(girih.attention(*turned, order="bshd", causal=causal).transpose(1, 2), wanted, tolerance)
                # Other strides, in place.
                views = [x.transpose(1, 2) for x in turned]
                close(girih.attention(*views, causal=causal), wanted, tolerance)
    return said


@check
def programs_over_tiles():
    x = torch.randn(333, 4000, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(x)
    girih.program("softmax_bf16_1x4096", x, out)
    close(out, x.double().softmax(1), 1e-2)
    x = torch.randn(1000, 700, device="cuda")
    out = torch.empty(700, 1000, device="cuda")
    girih.program("transpose_f32_64x64", x, out)
    assert bool((out == x.T).all())
    x, total = torch.rand(1 << 20, device="cuda"), torch.zeros(1, device="cuda")
    girih.program("sum_all_f32_4096", x, total)
    return close(total, x.double().sum()[None], 1e-5)


@check
def memory_of_two_places_is_refused():
    x, host = torch.zeros(8, device="cuda"), torch.zeros(8)
    for call in (
        lambda: girih.cuda.launch(ptx.SAXPY, "saxpy", 1, 8, [x, host, x, 1.0, 8]),
        lambda: girih.gemm(x.view(2, 4), host.view(4, 2)),
        lambda: girih.sim.run(ptx.SAXPY, "saxpy", 1, 8, [x, x, x, 1.0, 8]),
    ):
        try:
            call()
        except ValueError:
            continue
        raise AssertionError("accepted")


@check
def a_launch_that_the_driver_refuses_is_an_exception():
    x = torch.zeros(8, device="cuda")
    for ptx_, block in [(ptx.SAXPY, 2000), (ptx.SAXPY.replace("fma.rn.f32", "fma.f32"), 8)]:
        try:
            girih.cuda.launch(ptx_, "saxpy", 1, block, [x, x, x, 1.0, 8])
        except girih.GirihError as error:
            assert str(error)
            continue
        raise AssertionError("accepted")


@check
def an_output_among_the_inputs_is_refused():
    a = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(8, 1000, device="cuda", dtype=torch.bfloat16)
    for call in (lambda: girih.gemm(a, a, out=a), lambda: girih.program("softmax_bf16_1x4096", x, x)):
        try:
            call()
        except (girih.GirihError, ValueError) as error:
            assert str(error)
            continue
        raise AssertionError("accepted")


@check
def the_listings_of_the_documentation():
    """Those that ask for a GPU, with what stands before them."""
    page = Path(__file__).with_name("python.md").read_text()
    listings = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names, ran = {}, 0
    for code in listings:
        if 'PTX = """' in code or 'device="cuda"' in code:
            exec(code, names)
            ran += 'device="cuda"' in code
    torch.cuda.synchronize()
    assert ran == 2, ran


def host_time(call, turns=400):
    """Microseconds that a call takes the host: the median, with few calls at a time so that the queue of launches does not fill."""
    for _ in range(20):
        call()
    times = []
    for turn in range(turns):
        if turn % 50 == 0:
            torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    return median(times) * 1e6


def beside(ours, theirs):
    """Both by turns, so that they meet the same machine."""
    pairs = [(host_time(ours), host_time(theirs)) for _ in range(3)]
    own, other = (min(pair[i] for pair in pairs) for i in (0, 1))
    return f"girih {own:.1f} us, torch {other:.1f} us"


@check
def what_a_call_of_gemm_costs_the_host():
    a, b = (torch.randn(256, 256, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out, bias = torch.empty_like(a), torch.randn(256, device="cuda", dtype=torch.bfloat16)
    said = ["into out: " + beside(lambda: girih.gemm(a, b, out=out), lambda: torch.mm(a, b, out=out))]
    said += ["new: " + beside(lambda: girih.gemm(a, b), lambda: torch.mm(a, b))]
    fused = torch.nn.functional.linear
    said += ["bias and relu: " + beside(lambda: girih.gemm(a, b, bias=bias, activation="relu"), lambda: fused(a, b, bias).relu_())]
    return "; ".join(said)


@check
def what_a_call_of_attention_costs_the_host():
    q, k, v = (torch.randn(1, 8, 256, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    sdpa = torch.nn.functional.scaled_dot_product_attention
    return beside(lambda: girih.attention(q, k, v, causal=True), lambda: sdpa(q, k, v, is_causal=True))


@check
def what_a_call_of_a_program_costs_the_host():
    x = torch.randn(64, 1024, device="cuda", dtype=torch.bfloat16)
    out, total = torch.empty_like(x), torch.zeros(1, device="cuda")
    y = torch.randn(1 << 16, device="cuda")
    said = ["softmax: " + beside(lambda: girih.program("softmax_bf16_1x4096", x, out), lambda: torch.softmax(x, 1, out=out))]
    said += ["sum: " + beside(lambda: girih.program("sum_all_f32_4096", y, total), lambda: torch.sum(y, 0, out=total[0]))]
    z = torch.randn(1000, device="cuda")
    launch = lambda: girih.cuda.launch(ptx.SAXPY, "saxpy", 4, 256, [z, z, z, 0.0, 1000])  # noqa: E731
    return "; ".join([*said, "PTX: " + beside(launch, lambda: torch.add(z, z, alpha=0.0, out=z))])


if __name__ == "__main__":
    print(f"girih {girih.__version__}, torch {torch.__version__}, {torch.cuda.get_device_name()}")
    passed = skipped = 0
    for function in CHECKS:
        name = function.__name__.replace("_", " ")
        try:
            said = function()
            torch.cuda.synchronize()
            print(f"PASS {name}" + (f": {said}" if said else ""), flush=True)
            passed += 1
        except ImportError as error:
            print(f"SKIP {name}: {error}")
            skipped += 1
        except Exception as error:
            print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
            traceback.print_exc(limit=-3)
    failed = len(CHECKS) - passed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)
