"""Layouts as Python sees them; what the algebra computes is tested where it is written."""

import gzip
import pickle
import random

import pytest

import girih
from girih import Layout


def test_a_layout_is_made_in_three_ways():
    assert Layout((2, 4), (1, 2)) == Layout((2, 4)) == Layout("(2,4):(1,2)") == Layout("(2,4)")
    assert Layout((2, (4, 3)), (3, (6, 1))).shape == (2, (4, 3))
    assert Layout((2, (4, 3)), (3, (6, 1))).stride == (3, (6, 1))
    assert (Layout((8,)).shape, Layout(8).shape) == ((8,), 8)
    assert len({Layout((2, 4)), Layout((2, 4), (1, 2)), Layout((4, 2))}) == 2


def test_text_representation_and_pickle_give_the_layout_back():
    layout = Layout(((2, 2), (2, 4)), ((1, 4), (2, 8)))
    assert str(layout) == "((2,2),(2,4)):((1,4),(2,8))"
    assert eval(repr(layout), {"Layout": Layout}) == layout == pickle.loads(pickle.dumps(layout))
    swizzle = girih.Swizzle(3, 0, 3)
    assert pickle.loads(pickle.dumps(swizzle)) == swizzle


def test_a_call_is_the_sum_of_coordinates_times_strides():
    random.seed(0)
    layout = Layout((3, (4, 5)), (40, (1, 7)))
    for _ in range(100):
        i, j, k = random.randrange(3), random.randrange(4), random.randrange(5)
        index = 40 * i + j + 7 * k
        assert layout(i, (j, k)) == layout((i, (j, k))) == layout(i, j + 4 * k) == layout(i + 3 * (j + 4 * k)) == index
        assert layout.at(i, (j, k)) == girih.crd2idx((i, (j, k)), layout.shape, layout.stride) == index


def test_a_coordinate_past_the_end_goes_on_as_in_cute_and_is_refused_by_at():
    assert Layout(4, 2)(6) == 12
    with pytest.raises(girih.LayoutError, match="4") as refused:
        Layout(4, 2).at(6)
    assert refused.value.kind == "coord_out_of_range"


def test_none_slices():
    layout = Layout((8, (2, 3)), (6, (1, 2)))
    row, offset = girih.slice_and_offset((5, (None, 1)), layout)
    assert (row, offset) == (Layout((2,), (1,)), 32) and layout(5, (None, 1)) == row
    assert girih.slice_((None, (1, None)), (4, (5, 6))) == (4, 6)
    assert girih.has_none((1, (2, None))) and not girih.has_none((1, (2, 3)))


def test_modes_are_a_sequence():
    layout = Layout((8, (2, 3)), (6, (1, 2)))
    assert list(layout) == [Layout(8, 6), Layout((2, 3), (1, 2))]
    assert layout[-1] == layout[1] and len(layout) == layout.rank() == 2
    with pytest.raises(IndexError):
        layout[2]
    assert girih.make_layout(*layout) == girih.make_layout(list(layout)) == layout
    # As pycute's: a slice is a layout, of one mode too.
    assert layout[0:1] == Layout((8,), (6,)) and layout[:] == layout and layout[1:] == Layout(((2, 3),), ((1, 2),))
    assert layout[::-1] == Layout(((2, 3), 8), ((1, 2), 6))
    tile = girih.ComposedLayout(girih.Swizzle(2, 0, 3), 0, Layout((8, 4), (4, 1)))
    assert tile[1:].layout == Layout((4,), (1,))


def test_tilers_are_ints_layouts_none_and_tuples():
    matrix = Layout((8, 6), (1, 8))
    by_mode = girih.logical_divide(matrix, (Layout(4), None))
    assert by_mode == girih.logical_divide(matrix, (4, None)) == Layout(((4, 2), 6), ((1, 4), 8))
    assert girih.composition(matrix, None) == matrix
    assert girih.zipped_divide(matrix, (4, 3)) == Layout(((4, 3), (2, 2)), ((1, 8), (4, 24)))
    assert girih.tiled_divide(matrix, (4, 3)) == Layout(((4, 3), 2, 2), ((1, 8), 4, 24))
    assert girih.blocked_product(Layout((2, 2)), Layout((2, 3))) == Layout(((2, 2), (2, 3)), ((1, 4), (2, 8)))
    assert girih.raked_product(Layout((2, 2)), Layout((2, 3))) == Layout(((2, 2), (3, 2)), ((4, 1), (8, 2)))


def test_a_refused_composition_has_its_witness():
    with pytest.raises(girih.LayoutError) as refused:
        girih.composition(Layout((4, 2), (1, 10)), Layout((2, 2), (2, 3)))
    error = refused.value
    assert (error.kind, error.witness) == ("carry", (3, 11, 5))
    assert isinstance(error, girih.GirihError)
    a, b = Layout((4, 2), (1, 10)), Layout((2, 2), (2, 3))
    coord, expected, _ = error.witness
    assert a(b(coord)) == expected


def test_symbols_are_text():
    matrix = Layout(("s0", "s1"), ("s2", 1))
    assert matrix.shape == ("s0", "s1") and girih.size(matrix) == "s0*s1"
    assert str(girih.zipped_divide(matrix, (128, 32))) == "((128,32),(ceil(s0/128),ceil(s1/32))):((s2,1),(128*s2,32))"


def test_swizzles():
    swizzle = girih.Swizzle(2, 0, 3)
    assert [swizzle(i) for i in (0, 8, 9, 31)] == [0, 8 ^ 1, 9 ^ 1, 31 ^ 3]
    tile = girih.ComposedLayout(swizzle, 0, Layout((8, 4), (4, 1)))
    assert (tile.layoutA, tile.layoutB, tile.size()) == (Layout((8, 4), (4, 1)), swizzle, 32)
    assert all(tile(i) == swizzle(tile.layoutA(i)) for i in range(32))
    divided = girih.logical_divide(tile, (4, None))
    assert isinstance(divided, girih.ComposedLayout) and divided.layout == girih.logical_divide(tile.layout, (4, None))
    with pytest.raises(girih.LayoutError):
        girih.Swizzle(3, 0, 2)


def test_a_swizzled_layout_is_one():
    swizzle = girih.Swizzle(2, 0, 3)
    tile = girih.ComposedLayout(swizzle, 5, Layout((8, 4), (4, 1)))
    assert pickle.loads(pickle.dumps(tile)) == tile
    assert [mode.layout for mode in tile] == list(tile.layout) and tile[-1] == girih.ComposedLayout(swizzle, 5, Layout(4, 1))
    assert (len(tile), tile.rank(), girih.rank(tile), girih.depth(tile), girih.size(tile)) == (2, 2, 2, 1, 32)
    with pytest.raises(IndexError, match="mode 2.*rank 2"):
        tile[2]
    # Past the end as in CuTe, and not by `at`.
    assert tile(40) == swizzle(5 + tile.layout(40)) and tile.at(3, 2) == tile(3, 2)
    with pytest.raises(girih.LayoutError):
        tile.at(40)
    row = tile(3, None)
    assert [row(j) for j in range(4)] == [tile(3, j) for j in range(4)]


def test_a_number_that_is_too_large_is_named():
    with pytest.raises(OverflowError, match=str(1 << 70)):
        Layout(1 << 70)


def test_pictures():
    assert Layout((2, 3), (3, 1))._repr_svg_().startswith("<svg ")
    assert ">T31V3<" in Layout(((4, 8), (2, 2)), ((32, 1), (16, 8))).svg(tile=(16, 8))
    # Behind mode 0, all modes count columns.
    cube = Layout((2, 3, 4), (12, 4, 1))
    assert cube._repr_svg_() == cube.svg() and ">23</text>" in cube.svg() and "| 23 |" in cube.table()
    assert Layout(4, -1).table().count("|") == 5
    # A notebook stores what it shows: a large picture is drawn when it is asked for.
    large = Layout((256, 256))
    assert large._repr_svg_() is None and large.svg().startswith("<svg ")
    assert "5" in Layout((2, 3), (3, 1)).table()
    with pytest.raises(girih.GirihError):
        Layout(("s0", 4)).svg()


def test_a_picture_is_written_as_its_name_says(tmp_path):
    picture = girih.Picture.layout(Layout((256, 256), (256, 1)))
    for name, content in [("a.svg", picture.svg()), ("a.tex", picture.latex()), ("a.txt", str(picture))]:
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_text() == content
    # Browsers show it as it is.
    picture.save(str(tmp_path / "a.svgz"))
    assert gzip.decompress((tmp_path / "a.svgz").read_bytes()).decode() == picture.svg()
    assert (tmp_path / "a.svgz").stat().st_size < 500_000 < len(picture.svg())
    with pytest.raises(OSError):
        picture.save(tmp_path / "none/a.svg")


def test_pictures_of_instructions_and_banks():
    c = girih.Picture.mma("SM80_16x8x16_F32BF16BF16F32_TN")
    assert c._repr_svg_() == c.svg() and "T31" in c.svg() and "T31" in str(c)
    assert girih.Picture.layout(Layout((2, 3), (3, 1))).svg() == Layout((2, 3), (3, 1)).svg()
    swizzled = girih.ComposedLayout(girih.Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
    greys = lambda **colours: girih.Picture.layout(swizzled, **colours).svg()
    assert greys() == greys(together=8) != greys(together=1) and "#f7d4d4" in greys(dtype="f32")
    assert "#ffcc00" in greys(colours=["#ffffff", "#ffcc00"])
    with pytest.raises(ValueError, match="one of tile, together, dtype and colours"):
        greys(together=8, dtype="f32")
    assert "T31" in girih.Picture.copy("SM75_U32x4_LDSM_N").svg()
    # A column of a row-major tile of 32 x 32 words is one bank, 32 times; padded, each bank once.
    column = Layout((32, 1), (1, 0))
    assert "x32" in girih.Picture.banks(Layout((32, 32), (32, 1)), "f32", column).svg()
    assert "x32" not in girih.Picture.banks(Layout((32, 32), (33, 1)), "f32", column).svg()
    # Nothing is drawn of what is no tile; banks of places that 64 bits count are those of their bits.
    for tile in (-2, (4, -2), (1, 16, -2)):
        with pytest.raises(girih.LayoutError):
            Layout((4, 2)).svg(tile=tile)
    assert "b31" in girih.Picture.banks(Layout((2, 1), (2**62 + 31, 1)), "f32").svg()
    with pytest.raises(girih.GirihError):
        girih.Picture.banks(girih.ComposedLayout(girih.Swizzle(0, 2, 5), 2**63 - 1, Layout(16)), "s4", Layout((1, 4), (0, 1)), 2)
    with pytest.raises(girih.PictureError, match="SM80_16x8x16"):
        girih.Picture.mma("SM80_16x8x16_F32BF16BF16F32")


@pytest.mark.parametrize("wrong", [1.5, True, None, "x:y", (), object(), (2, (True, 3)), 1 << 70])
def test_what_is_no_shape_is_refused(wrong):
    with pytest.raises((girih.LayoutError, TypeError, OverflowError)):
        Layout(wrong)


def test_a_bottomless_tuple_is_refused():
    deep = 1
    for _ in range(100_000):
        deep = (deep,)
    for operation in (Layout, girih.product, girih.flatten, lambda x: girih.composition(Layout(4), x)):
        with pytest.raises(girih.LayoutError):
            operation(deep)
