"""Ctrl-C ends what the simulator runs, within a second. In processes of their own, which get the signal as a terminal sends it."""

import signal
import subprocess
import sys
import time

import pytest

LOOP = """
import threading
import girih
# The register changes, so that the loop is no livelock.
TEXT = ".version 8.0 .target sm_90 .address_size 64 .visible .entry k() {{ .reg .u32 r; mov.u32 r, 0; L: add.u32 r, r, 1; bra L; }}"
WHERE = lambda: girih.sim.run(TEXT, "k", {grid}, 32, steps=2**63)
"""
GEMM = """
import threading
import numpy
import girih
A = numpy.ones((3000, 3000), numpy.float32)
WHERE = lambda: girih.gemm(A, A)
"""
SMALL = "assert (girih.gemm(numpy.ones((8, 8)), numpy.ones((8, 8))) == 8).all()"
TIMED = """
import time
threading.Timer(0.5, lambda: print("runs", flush=True)).start()
try:
    WHERE()
except KeyboardInterrupt:
    import numpy
    {after}
    print("interrupted", flush=True)
"""


def interrupted(program, wait):
    """How long a program takes to end after the signal; it must have begun before."""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "runs\n", child.communicate()[1]
    time.sleep(wait)
    begun = time.perf_counter()
    child.send_signal(signal.SIGINT)
    try:
        assert child.stdout.readline() == "interrupted\n"
        took = time.perf_counter() - begun
        assert child.wait(60) == 0
    finally:
        child.kill()
    return took


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize(
    "program", [LOOP.format(grid=1), LOOP.format(grid=500), GEMM], ids=["an endless loop", "many blocks", "a product"]
)
def test_ctrl_c_ends_a_simulation_within_a_second(program):
    # The simulator of products works on afterwards.
    after = SMALL if program is GEMM else "pass"
    # The best of some runs: other work of the machine is not the package's.
    assert min(interrupted(program + TIMED.format(after="pass"), 0.5) for _ in range(2)) <= 1
    assert interrupted(program + TIMED.format(after=after), 0.5) <= 60


def test_what_another_thread_runs_goes_on():
    program = """
import signal, threading, time
import numpy
import girih
found = []
a = numpy.ones((300, 300), numpy.float32)
other = threading.Thread(target=lambda: found.append(girih.gemm(a, a)))
other.start()
threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
try:
    girih.sim.run(
        ".version 8.0 .target sm_90 .address_size 64 .visible .entry k() { .reg .u32 r; mov.u32 r, 0; L: add.u32 r, r, 1; bra L; }",
        "k", 1, 32, steps=2**63,
    )
except KeyboardInterrupt:
    other.join()
    assert len(found) == 1 and (found[0] == 300).all()
    print("right")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert run.stdout == "right\n", run.stderr


def test_steps_are_bounded_by_themselves():
    program = LOOP.format(grid=1).replace(", steps=2**63", ", checks=False") + "WHERE()"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert "girih.Finding" in run.stderr and "50000000 warp instructions" in run.stderr and "steps=" in run.stderr, run.stderr
