"""pycute's public test cases, each judged by its law against an evaluation of layouts that is written here."""

import ast
import json
import os
from collections import Counter

import pycute_cases
import pytest

import girih

SOURCE, *CASES = [json.loads(line) for line in pycute_cases.TABLE.read_text().splitlines()]
# The results that pycute's tests expect of int tuples, in the order of the table.
EXPECTED = {
    "product(2)": 2,
    "product((3, 2))": 6,
    "product(((2, 3), 4))": 24,
    "product(24)": 24,
    "inner_product(2, 3)": 6,
    "inner_product((1, 2), (3, 2))": 7,
    "inner_product(((2, 3), 4), ((2, 1), 2))": 15,
    "shape_div((3, 4), 6)": (1, 2),
    "shape_div((3, 4), 12)": (1, 1),
    "shape_div((3, 4), 36)": (1, 1),
    "shape_div(((3, 4), 6), 36)": ((1, 1), 2),
    "shape_div((6, (3, 4)), 36)": (1, (1, 2)),
    "prefix_product(2)": 1,
    "prefix_product((3, 2))": (1, 3),
    "prefix_product((3, 2, 4))": (1, 3, 6),
    "prefix_product(((2, 3), 4))": ((1, 2), 6),
    "prefix_product(((2, 3), (2, 1, 2), (5, 2, 1)))": ((1, 2), (6, 12, 12), (24, 120, 240)),
}


def leaves(tree):
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, (tuple, list)) else [tree]


def at(layout, position):
    """The definition of a layout, from its shape and its strides: the last mode goes on past its end."""
    shape, index = leaves(layout.shape), 0
    for number, (extent, step) in enumerate(zip(shape, leaves(layout.stride))):
        last = number == len(shape) - 1
        index += (position if last else position % extent) * step
        position //= extent
    return index


def count(layout):
    result = 1
    for extent in leaves(layout.shape):
        result *= extent
    return result


def operand(value):
    if isinstance(value, str):
        return girih.Layout(value)
    return tuple(map(operand, value)) if isinstance(value, list) else value


def coalesce(layout, answer):
    assert count(answer) == count(layout)
    assert [at(answer, i) for i in range(count(layout))] == [at(layout, i) for i in range(count(layout))]


def composition(a, b, answer):
    assert count(answer) == count(b)
    assert [at(answer, i) for i in range(count(b))] == [at(a, at(b, i)) for i in range(count(b))]


def met(layout, answer):
    """The indices of sums, in order."""
    return sorted({at(layout, i) + at(answer, j) for i in range(count(layout)) for j in range(count(answer))})


def complement(layout, *rest):
    """pycute's law, and what it leaves open: that every index is met, up to the one that was asked for."""
    *limit, answer = rest
    apart(layout, answer)
    found = met(layout, answer)
    assert found == list(range(len(found))) and len(found) >= max(limit, default=1)


def apart(layout, answer):
    ours = {at(layout, i) for i in range(count(layout))}
    theirs = {at(answer, i) for i in range(count(answer))}
    assert ours & theirs <= {0}


def left_inverse(layout, answer):
    assert [at(answer, at(layout, i)) for i in range(count(layout))] == list(range(count(layout)))


def right_inverse(layout, answer):
    # Where a mode of the layout has the stride 1, there is more than the index 0.
    modes = zip(leaves(layout.shape), leaves(layout.stride))
    assert count(answer) >= max([extent for extent, step in modes if step == 1], default=1)
    assert [at(layout, at(answer, i)) for i in range(count(answer))] == list(range(count(answer)))


LAWS = {f.__name__: f for f in (coalesce, composition, complement, left_inverse, right_inverse)}


def judge(case):
    """'same', or 'differs' for what girih refuses by design; anything else is an assertion."""
    args = [operand(arg) for arg in case["args"]]
    operation = getattr(girih, case["op"])
    if "refused" in case:
        with pytest.raises(girih.LayoutError) as refused:
            operation(*args)
        assert refused.value.kind == case["refused"]
        # The rounded form keeps pycute's law, which does not ask that every index is met: this is what is missing.
        (layout,) = args
        rounded = girih.complement_floor(layout)
        apart(layout, rounded)
        found = met(layout, rounded)
        assert len(found) < found[-1] + 1, "an exact complement exists: girih must not refuse it"
        return "differs"
    answer = operation(*args)
    if case["op"] in LAWS:
        LAWS[case["op"]](*args, answer)
    else:
        assert answer == EXPECTED[f"{case['op']}({', '.join(map(repr, args))})"]
    return "same"


def name(case):
    return f"{case['op']}({', '.join(map(str, case['args']))})"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_case(case):
    judge(case)


TYPES = [(int, 1, True), (float, 1.0, False), (str, "hi", False), (bool, False, False)]


@pytest.mark.parametrize(("type_", "value", "expected"), TYPES)
def test_integer(type_, value, expected):
    assert issubclass(type_, girih.Integer) is expected
    assert isinstance(value, girih.Integer) is expected


def test_counts(capsys):
    counts = Counter(judge(case) for case in CASES)
    same, differs = counts["same"] + len(TYPES), counts["differs"]
    missing = SOURCE["calls"] + SOURCE["types"] - same - differs
    with capsys.disabled():
        print(f"\npycute's cases: {same} same, {differs} differing by design, {missing} missing")
    # What docs/python.md says.
    assert (same, differs, missing) == (103, 2, 0)


def test_every_expected_result_is_asked_for():
    asked = {f"{c['op']}({', '.join(repr(operand(a)) for a in c['args'])})" for c in CASES if c["op"] not in LAWS}
    assert asked == set(EXPECTED)
    assert all(ast.parse(call) for call in EXPECTED)


@pytest.mark.skipif("GIRIH_CUTLASS" not in os.environ, reason="GIRIH_CUTLASS names no clone of NVIDIA/cutlass")
def test_no_case_is_missing():
    """pycute's own tests, run on girih, make the calls of the table and no others."""
    outcome, calls = pycute_cases.run(os.environ["GIRIH_CUTLASS"])
    assert not outcome.failures and not outcome.errors
    assert outcome.testsRun == SOURCE["tests"]
    assert calls == CASES
