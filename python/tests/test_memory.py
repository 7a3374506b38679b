"""What arrays say of themselves, and torch's tensors of the host beside numpy's arrays."""

import math

import numpy as np
import pytest

import girih
from girih import _memory


def test_numpys_arrays():
    x = np.zeros((3, 4, 5), np.float64)[:, ::2, ::-1]
    known = _memory.describe(x)
    assert known[:7] == (x.ctypes.data, (3, 2, 5), (20, 10, -1), "f64", 8, None, False)
    x.flags.writeable = False
    assert _memory.describe(x).readonly
    assert _memory.describe(np.zeros(2, bool)).dtype == "bool"
    with pytest.raises(ValueError, match="whole elements"):
        _memory.describe(np.zeros(4, [("a", "u1"), ("b", "<f4")])["b"])


def test_what_is_no_array_is_named():
    for value in (1, [1.0], "x", None):
        with pytest.raises(TypeError, match=f"^b must be .*{type(value).__name__}"):
            _memory.describe(value, "b")


class TestTorch:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch")

    def test_a_tensor_is_as_dlpack_says(self, torch):
        for dtype in ("float64", "float32", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8"):
            x = torch.zeros(4, 6, dtype=getattr(torch, dtype))
            for view in (x, x.T, x[1:, ::2], x[:0], x[1, 2], x.unsqueeze(1).expand(4, 3, 6)):
                fast, slow = _memory.describe(view), _memory._by_dlpack(view, "x", None)
                assert (fast.shape, fast.dtype, fast.itemsize, fast.device) == (slow.shape, slow.dtype, slow.itemsize, None)
                if math.prod(fast.shape):
                    assert fast.address == slow.address
                    # A stride of an axis of one element is nobody's.
                    strides = zip(fast.shape, fast.strides, slow.strides)
                    assert all(ours == theirs for extent, ours, theirs in strides if extent > 1)

    def test_a_tensor_that_wants_a_gradient_and_a_parameter(self, torch):
        for x in (torch.zeros(3, requires_grad=True), torch.nn.Parameter(torch.zeros(3))):
            assert _memory.describe(x)[:4] == (x.data_ptr(), (3,), (1,), "f32")

    def test_what_has_no_memory_of_that_kind_is_refused(self, torch):
        x = torch.zeros(3, 3)
        imaginary = torch.zeros(3, dtype=torch.complex64).conj().imag
        for tensor, said in [
            (x.to_sparse(), "sparse"),
            (imaginary, "resolve_neg"),
            (torch.zeros(3, dtype=torch.complex64), "complex64"),
            (torch.zeros(3, device="meta"), "meta"),
        ]:
            with pytest.raises(TypeError, match=f"^b.*{said}"):
                _memory.describe(tensor, "b")

    def test_kernels_on_tensors_of_the_host(self, torch):
        a, b = torch.arange(20.0).view(4, 5), torch.arange(30.0).view(5, 6)
        c = girih.gemm(a, b)
        assert isinstance(c, torch.Tensor) and torch.equal(c, a @ b)
        assert torch.equal(girih.gemm(a.T.contiguous().T, b), a @ b)
        x = torch.zeros(5, 4)
        girih.program("transpose_f32_64x64", a, x)
        assert torch.equal(x, a.T)
        with pytest.raises(ValueError, match="out.* and a have"):
            girih.gemm(square := torch.zeros(4, 4), torch.zeros(4, 4), out=square)
