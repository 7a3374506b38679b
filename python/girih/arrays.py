"""Layouts and numpy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ._girih import ComposedLayout, Layout, LayoutError, flatten, product, size

__tracebackhide__ = True
"""pytest then shows the line of the caller."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._girih import AnyLayout


def _flat(values: Any) -> tuple[int, ...]:
    leaves: tuple[int, ...] = flatten(values)
    for value in leaves:
        if not isinstance(value, int):
            raise LayoutError(f"numpy needs numbers; {value} is a symbol, a basis vector or a column")
    return leaves


def indices(layout: AnyLayout) -> np.ndarray[Any, Any]:
    """The indices of a layout, plain or swizzled, as an array of int64 with an axis for each mode.

    >>> import girih
    >>> girih.indices(girih.Layout((2, 3), (3, 1)))
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    shape = layout.layout.shape if isinstance(layout, ComposedLayout) else layout.shape
    modes = tuple(product(mode) for mode in shape) if isinstance(shape, tuple) else (shape,)
    return np.frombuffer(layout._indices(), np.int64).reshape(modes, order="F")


def _array(buffer: Any) -> np.ndarray[Any, Any]:
    """A buffer as an array on the same memory."""
    if isinstance(buffer, (list, tuple)):
        raise TypeError(f"the buffer must be an array or have the buffer protocol, not {type(buffer).__name__}: numpy would copy it")
    return np.frombuffer(buffer, np.uint8) if isinstance(buffer, bytes) else np.asarray(buffer)


def _extent(layout: Layout) -> tuple[int, int]:
    """The least and the greatest index of a layout with whole strides."""
    steps = [(n - 1) * d for n, d in zip(_flat(layout.shape), _flat(layout.stride))]
    return sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)


def view(buffer: Any, layout: Layout, offset: int = 0) -> np.ndarray[Any, Any]:
    """A view of a buffer through a layout, without a copy: an axis for each leaf of the shape, from left to right.

    ``view(b, layout)[i, j, k]`` is the element ``layout(i, (j, k)) + offset`` of ``b``, for a layout of the shape ``(M, (N, K))``. The
    buffer is a contiguous array (any number of axes, counted in C order) or anything with the buffer protocol, such as ``bytes``. An index
    outside of the buffer is an error.

    >>> import numpy as np, girih
    >>> b = np.arange(8)
    >>> girih.view(b, girih.Layout((2, (2, 2)), (1, (4, 2))))[1, 0, 1]
    np.int64(3)
    """
    if isinstance(layout, ComposedLayout):
        raise TypeError(f"a view needs strides, and {layout} has none, since it is swizzled: gather(buffer, layout) copies its elements")
    array = _array(buffer)
    if not array.flags.c_contiguous:
        raise ValueError("the buffer must be contiguous in C order: a view counts its elements from the first one on")
    array = array.reshape(-1)
    if not size(layout):
        return array[:0].reshape(_flat(layout.shape))
    least, greatest = _extent(layout)
    if least + offset < 0 or greatest + offset >= array.size:
        raise IndexError(
            f"{layout} reaches the elements {least + offset} to {greatest + offset}; the buffer has {array.size}"
        )
    shape = _flat(layout.shape)
    # A stride of an axis of one element is nobody's, and may be any number.
    strides = [step * array.itemsize if extent > 1 else 0 for extent, step in zip(shape, _flat(layout.stride))]
    return as_strided(array[offset:], shape, strides, writeable=array.flags.writeable)


def gather(buffer: Any, layout: AnyLayout) -> np.ndarray[Any, Any]:
    """The elements of a buffer at the indices of a layout, plain or swizzled, as a new array with an axis for each mode."""
    at = indices(layout)
    array = _array(buffer).reshape(-1)
    if size(layout) and not 0 <= at.min() <= at.max() < array.size:
        raise IndexError(f"{layout} reaches the elements {at.min()} to {at.max()}; the buffer has {array.size}")
    found: np.ndarray[Any, Any] = array[at]
    return found
