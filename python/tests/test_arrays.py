import random

import numpy as np
import pytest

import girih
from girih import Layout


def test_indices_are_the_layout_at_every_coordinate():
    layout = Layout((3, (4, 5)), (40, (1, 7)))
    table = girih.indices(layout)
    assert table.dtype == np.int64 and table.shape == (3, 20)
    assert all(table[i, j] == layout(i, j) for i in range(3) for j in range(20))
    tile = girih.ComposedLayout(girih.Swizzle(2, 0, 3), 0, Layout((8, 4), (4, 1)))
    assert all(girih.indices(tile)[i, j] == tile(i, j) for i in range(8) for j in range(4))
    assert girih.indices(Layout(4, 2)).tolist() == [0, 2, 4, 6]


def test_a_view_shares_memory_and_has_an_axis_for_each_leaf():
    random.seed(1)
    buffer = np.arange(60.0)
    layout = Layout((3, (4, 5)), (20, (1, 4)))
    view = girih.view(buffer, layout)
    assert view.shape == (3, 4, 5) and np.shares_memory(view, buffer)
    assert all(view[i, j, k] == layout(i, (j, k)) for i in range(3) for j in range(4) for k in range(5))
    view[2, 3, 4] = -1
    assert buffer[layout(2, (3, 4))] == -1
    assert girih.gather(buffer, layout)[2, 3 + 4 * 4] == -1
    assert girih.view(bytearray(b"abcd"), Layout((2, 2), (1, 2))).tolist() == [[97, 99], [98, 100]]


def test_steps_of_zero_and_backwards():
    buffer = np.arange(4)
    assert girih.view(buffer, Layout((2, 4), (0, 1))).tolist() == [[0, 1, 2, 3]] * 2
    assert girih.view(buffer, Layout(4, -1), offset=3).tolist() == [3, 2, 1, 0]


def test_a_view_stays_inside_of_its_buffer():
    for layout, offset in [(Layout(5), 0), (Layout(4), 1), (Layout(4, -1), 2), (Layout((2, 2), (1, 3)), 0)]:
        with pytest.raises(IndexError, match="4"):
            girih.view(np.arange(4), layout, offset)
    with pytest.raises(IndexError):
        girih.gather(np.arange(4), Layout(5))
    with pytest.raises(ValueError, match="contiguous"):
        girih.view(np.arange(8)[::2], Layout(2))
    with pytest.raises(girih.LayoutError):
        girih.view(np.arange(8), Layout(("s0",)))
    readonly = np.arange(4)
    readonly.flags.writeable = False
    assert not girih.view(readonly, Layout(4)).flags.writeable


def test_what_is_no_memory_is_no_buffer():
    with pytest.raises(TypeError, match="list"):
        girih.view([1, 2, 3, 4], Layout(4))
    assert girih.view(b"abcd", Layout((2, 2), (2, 1))).tolist() == [[97, 98], [99, 100]]
    assert girih.gather(b"abcd", Layout(2, 3)).tolist() == [97, 100]


def test_a_stride_of_one_element_is_nobodys():
    assert girih.view(np.arange(4), Layout((1, 4), (2**61, 1))).tolist() == [[0, 1, 2, 3]]


def test_more_indices_than_there_is_memory():
    with pytest.raises(MemoryError):
        girih.indices(Layout(1 << 50))
