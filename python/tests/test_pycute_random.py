"""girih beside NVIDIA's pycute on random layouts and tuples: the same function, or an error where pycute rounds.

pycute comes with `pip install --no-deps nvidia-cutlass`.
"""

import os
import random
from collections import Counter

import pytest

import girih

pycute = pytest.importorskip("pycute")
CASES = int(os.environ.get("GIRIH_CASES", 300))


def shape(rng, depth=2, most=3):
    if depth == 0 or rng.random() < 0.5:
        return rng.choice([1, 2, 2, 3, 4, 4, 6, 8])
    return tuple(shape(rng, depth - 1) for _ in range(rng.randint(1, most)))


def strides(rng, shape):
    """Compact in some order of the leaves, sometimes with gaps or zeros."""
    leaves = list(girih.flatten(shape))
    order, steps, step = rng.sample(range(len(leaves)), len(leaves)), [0] * len(leaves), 1
    for leaf in order:
        steps[leaf] = 0 if rng.random() < 0.1 else step
        step *= leaves[leaf] * rng.choice([1, 1, 1, 2])
    steps = iter(steps)
    fill = lambda of: tuple(fill(part) for part in of) if isinstance(of, tuple) else next(steps)  # noqa: E731
    return fill(shape)


def layout(rng, **options):
    of = shape(rng, **options)
    return of, strides(rng, of)


def table(of):
    return [of(i) for i in range(of.size())]


def positions(layout):
    return range(layout.size())


def composes(answer, a, b):
    return table(answer) == [a(b(i)) for i in positions(b)]


def meets(answer, a):
    """All that the layout meets, as often; a division that leaves a rest goes past the end."""
    theirs, ours = Counter(table(a)), Counter(table(answer))
    return theirs == ours if a.size() == answer.size() else a.size() < answer.size() and theirs <= ours


def divides(answer, a, b):
    """The tile comes first, and the rests meet what is left of the layout's indices."""
    tile = [a(b(i)) for i in positions(b)]
    return table(answer)[: len(tile)] == tile and meets(answer, a)


def divides_by_mode(answer, a, tile):
    """Mode 0 is the tile at the layout's begin, and all that the layout meets is met."""
    return table(answer[0]) == [a(crd) for crd in crds(tile)] and meets(answer, a)


def crds(tile):
    found = [()]
    for extent in reversed(tile):
        found = [(i, *rest) for rest in found for i in range(extent)]
    return found


def inverts_right(answer, layout):
    return [layout(answer(i)) for i in positions(answer)] == list(positions(answer))


def inverts_left(answer, layout):
    return [answer(layout(i)) for i in positions(layout)] == list(positions(layout))


LAWS = {
    "composition": composes,
    "logical_divide": divides,
    "zipped_divide": divides_by_mode,
    "tiled_divide": divides_by_mode,
    "right_inverse": inverts_right,
    "left_inverse": inverts_left,
}


def operands(rng, name):
    of = layout(rng)
    if name in ("composition", "logical_divide"):
        other = layout(rng, depth=1)
        return [[Layout(*of), Layout(*other)] for Layout in (girih.Layout, pycute.Layout)]
    if name in ("zipped_divide", "tiled_divide"):
        if not isinstance(of[0], tuple):
            of = ((of[0],), (of[1],))
        tile = tuple(rng.choice([1, 2, 4]) for _ in of[0])
        return [girih.Layout(*of), tile], [pycute.Layout(*of), tuple(map(pycute.Layout, tile))]
    return [girih.Layout(*of)], [pycute.Layout(*of)]


@pytest.mark.parametrize("name", ["coalesce", "filter", "complement", *LAWS])
def test_operations(name):
    """The same function of the position; where pycute's is another one, it is pycute's that breaks the law, or is shorter."""
    rng, same = random.Random(name), 0
    for _ in range(CASES):
        ours, theirs = operands(rng, name)
        if name == "left_inverse" and not ours[0].is_injective():
            continue
        try:
            answer = getattr(girih, name)(*ours)
        except girih.LayoutError:
            continue
        if name in LAWS:
            assert LAWS[name](answer, *ours), (name, list(map(str, ours)), str(answer))
        try:
            expected = getattr(pycute, name)(*theirs)
        except AssertionError:
            continue  # pycute refuses some operands, too.
        obeys = name in LAWS and LAWS[name](girih.Layout(expected.shape, expected.stride), *ours)
        # Left inverses differ where the layout has no index.
        if answer.size() == expected.size() and (table(answer) == table(expected) or name == "left_inverse" and obeys):
            same += 1
        elif name == "right_inverse":
            assert answer.size() > expected.size()
        else:
            assert name in LAWS and not obeys, (name, list(map(str, ours)), str(answer), str(expected))
    assert same > CASES // 10, f"{same} of {CASES} are the same"


def test_tuples():
    rng = random.Random("tuples")
    for _ in range(CASES):
        a = shape(rng)
        size = girih.product(a)
        assert size == pycute.product(a)
        assert girih.prefix_product(a) == pycute.prefix_product(a)
        assert girih.flatten(a) == pycute.flatten(a)
        assert girih.tuple_max(a) == pycute.tuple_max(a)
        step = strides(rng, a)
        assert girih.inner_product(a, step) == pycute.inner_product(a, step)
        for at in range(size):
            crd = girih.idx2crd(at, a)
            assert crd == pycute.idx2crd(at, a)
            assert girih.crd2idx(crd, a, step) == pycute.crd2idx(crd, a, step) == girih.Layout(a, step)(at) == pycute.Layout(a, step)(at)


def test_swizzled_layouts():
    rng = random.Random("swizzles")
    for _ in range(CASES):
        bits, base = rng.randint(1, 3), rng.randint(0, 3)
        shift = bits + rng.randint(0, 2)
        of = layout(rng)
        ours = girih.ComposedLayout(girih.Swizzle(bits, base, shift), 0, girih.Layout(*of))
        theirs = pycute.ComposedLayout(pycute.Swizzle(bits, base, shift), 0, pycute.Layout(*of))
        assert table(ours) == table(theirs) and len(ours) == len(theirs)
