"""What is said to who is wrong: the message names what was given, and what would be accepted."""

import importlib.util

import numpy as np
import ptx
import pytest

import girih
from girih import ComposedLayout, Layout, Swizzle, sim

SWIZZLED = ComposedLayout(Swizzle(2, 0, 3), 0, Layout((8, 4), (4, 1)))
VALUE = (
    ptx.HEAD
    + """.visible .entry value(.param .u64 out, .param .{type} v) {{ .reg .b64 %p; .reg .b32 %v;
  ld.param.u64 %p, [out]; ld.param.b32 %v, [v]; st.global.b32 [%p], %v; ret; }}"""
)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (lambda: Layout((4, 8))(), TypeError, "called with a coordinate: one, or one for each mode"),
        (lambda: SWIZZLED(), TypeError, "called with a coordinate"),
        (lambda: Swizzle(-1, 0, 3), ValueError, r"Swizzle\(-1, 0, 3\): bits and base from 0 on"),
        (lambda: girih.view(np.arange(32), SWIZZLED), TypeError, r"swizzled: gather\(buffer, layout\) copies"),
        (lambda: girih.indices(Layout(2**62)), MemoryError, f"{2**62} indices of {2**62}:1"),
        (lambda: girih.indices(Layout(2**45)), MemoryError, f"{2**45} indices of {2**45}:1"),
        (lambda: sim.run(ptx.SAXPY, "saxpy", 1, 8, foo=1), TypeError, r"^run\(\) has no option foo; the options are .*seeds"),
        (lambda: Layout((4, 8), 1), girih.LayoutError, "not nested alike, from leaf 0 on"),
        (lambda: Layout((2, 3))[2:], IndexError, "no mode of a layout of rank 2 is in the slice"),
        (lambda: Layout((2, 3))["a"], TypeError, "an int or a slice, not str"),
        (lambda: girih.Picture.layout(Layout(4), colours=["red"]), ValueError, "'#ffcc00'"),
        (lambda: girih.Picture.layout(Layout(4)).save("a.png"), girih.PictureError, "a.png: .*.svg, .svgz, .tex and .txt"),
        (lambda: girih.Picture.layout(Layout(4)).save("a"), girih.PictureError, ".svg, .svgz, .tex and .txt"),
    ],
)
def test_messages(wrong, error, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=said):
        wrong()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("type_", "value", "error", "said"),
    [
        ("u32", 1.5, ValueError, r"argument 1 \(v\) is a parameter of 4 bytes, .u32: .u32 takes ints, and 1.5 is a float; numpy.float32"),
        ("u32", -1, OverflowError, f"-1 is not one of 0 to {2**32 - 1}; numpy.int32"),
        ("u32", 2**32, OverflowError, f"{2**32} is not one of 0 to {2**32 - 1}"),
        ("s32", 2**31, OverflowError, f"{2**31} is not one of -{2**31} to {2**31 - 1}; numpy.uint32"),
        ("b32", -(2**31) - 1, OverflowError, f"not one of -{2**31} to {2**32 - 1}"),
    ],
)
def test_values_that_a_parameter_does_not_take(type_, value, error, said):
    with pytest.raises(error, match=said):
        sim.run(VALUE.format(type=type_), "value", 1, 1, [np.zeros(1, np.uint32), value])


@pytest.mark.parametrize(
    ("type_", "value", "bits"),
    [("s32", -1, 2**32 - 1), ("b32", -1, 2**32 - 1), ("b32", 2**32 - 1, 2**32 - 1), ("u32", np.int32(-1), 2**32 - 1)],
)
def test_values_that_it_takes(type_, value, bits):
    out = np.zeros(1, np.uint32)
    sim.run(VALUE.format(type=type_), "value", 1, 1, [out, value])
    assert out[0] == bits


def test_an_int_of_compiled_code_may_be_negative(girih_check):
    """Compilers declare an `int` of their source as .u32, too."""
    out = np.zeros(1, np.int32)
    girih_check.compiled(girih.compile.Compiled(VALUE.format(type="u32"), "value", 1, 0, 1, (), {}), 1, None, [out, -7])
    assert out[0] == -7
    with pytest.raises(OverflowError, match="argument 1"):
        girih_check.compiled(girih.compile.Compiled(VALUE.format(type="u32"), "value", 1, 0, 1, (), {}), 1, None, [out, -(2**31) - 1])


def test_a_shared_array_has_the_name_of_its_source():
    text = ptx.RACE.replace("tile", "_ZZ4swapE4tile")
    with pytest.raises(girih.Finding) as found:
        sim.run(text, "swap", 1, 64, [np.zeros(64, np.uint32)])
    assert found.value.name.startswith("swap::tile")


def test_a_verdict_says_what_it_is():
    x = np.zeros(8, np.float32)
    assert repr(sim.run(ptx.SAXPY, "saxpy", 1, 8, [x, x, x, 1.0, 8], seeds=2)).startswith("<girih.sim.Verdict: passed, 0 findings, seeds [0, 1], ")
    failed = sim.judge(ptx.RACE, "swap", 1, 64, [np.zeros(64, np.uint32)])
    assert repr(failed).startswith("<girih.sim.Verdict: failed, 1 finding, ")


def test_a_report_of_pytest_shows_the_test_and_not_girih(pytester):
    pytester.makepyfile(
        """
        import girih
        def test_cuda(girih_check):
            girih_check.cuda("__global__ void k() { nonsense }", 1, 1)
        def test_compile():
            girih.compile.cuda("__global__ void k() { nonsense }")
        def test_option(girih_check):
            girih_check.ptx("", "k", 1, 1, foo=1)
        """
    )
    result = pytester.runpytest()
    lines = "\n".join(result.outlines)
    # Without NVRTC its absence is what is raised.
    assert importlib.util.find_spec("cuda") is None or "nonsense" in lines
    assert "compile.py" not in lines and "pytest_plugin.py" not in lines and "nvrtcCompileProgram" not in lines, lines
