"""pycute's public test cases as a table, and girih in pycute's place.

`python pycute_cases.py CUTLASS COMMIT` runs the tests in CUTLASS/test/python/pycute (a clone of NVIDIA/cutlass at that commit) with girih under
the name `pycute`, records each call of an operation, and writes the calls to pycute.jsonl behind a line that counts them. `run` does the same
without writing.
"""

import json
import sys
import types
import unittest
from pathlib import Path

import girih

TABLE = Path(__file__).with_name("pycute.jsonl")
# What pycute's tests are about; other calls (of size, of a layout) judge the answers.
OPERATIONS = (
    "coalesce complement composition left_inverse right_inverse product inner_product shape_div prefix_product".split()
)


def text(value):
    """An operand as it stands in the table: a layout as text, a tuple as lists."""
    if girih.is_layout(value):
        return str(value)
    return [text(item) for item in value] if isinstance(value, tuple) else value


def run(cutlass, operations=OPERATIONS):
    """Runs pycute's tests on girih; the outcome, and the calls in order, each once."""
    calls = []

    def recorded(name):
        operation = getattr(girih, name)

        def call(*args):
            record = {"op": name, "args": [text(arg) for arg in args]}
            try:
                return operation(*args)
            except girih.LayoutError as refused:
                # The test goes on with the rounded form, by which it passes in pycute.
                record["refused"] = refused.kind
                return getattr(girih, name + "_floor")(*args)
            finally:
                if record not in calls:
                    calls.append(record)

        return call

    pycute = types.ModuleType("pycute")
    pycute.__dict__.update({name: getattr(girih, name) for name in girih.__all__})
    pycute.__dict__.update({name: recorded(name) for name in operations})
    sys.modules["pycute"] = pycute
    try:
        suite = unittest.defaultTestLoader.discover(str(Path(cutlass) / "test/python/pycute"), "test_*.py")
        outcome = unittest.TestResult()
        suite.run(outcome)
    finally:
        del sys.modules["pycute"]
    return outcome, calls


if __name__ == "__main__":
    outcome, calls = run(sys.argv[1])
    for test, trace in outcome.failures + outcome.errors:
        print(test, trace.splitlines()[-1])
    print(f"{outcome.testsRun} tests, {len(outcome.failures) + len(outcome.errors)} of them not passed; {len(calls)} calls")
    # Besides, test_typing.py asks of four types whether they are an Integer (test_integer in test_pycute.py).
    source = {"source": "NVIDIA/cutlass", "commit": sys.argv[2], "tests": outcome.testsRun, "calls": len(calls), "types": 4}
    TABLE.write_text("".join(json.dumps(line) + "\n" for line in [source, *calls]))
