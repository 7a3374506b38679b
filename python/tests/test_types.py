"""Type checkers accept typical use, refuse what is wrong in it, and find nothing in the package."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import typed_use

import girih

USE = Path(typed_use.__file__)


def checked(checker, *arguments, folder):
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    run = subprocess.run([sys.executable, "-m", checker, *map(str, arguments)], capture_output=True, text=True, cwd=folder)
    assert run.returncode == 0, run.stdout + run.stderr


def test_mypy_accepts_typical_use(tmp_path):
    checked("mypy", "--strict", USE, folder=tmp_path)


def test_pyright_accepts_typical_use(tmp_path):
    checked("pyright", "--pythonpath", sys.executable, USE, folder=tmp_path)


def test_mypy_finds_nothing_in_the_package(tmp_path):
    settings = Path(__file__).parents[1] / "pyproject.toml"
    checked("mypy", "--config-file", settings, "--package", "girih", folder=tmp_path)


def test_typical_use_runs(girih_check):
    assert "4:1" in typed_use.layouts() and typed_use.refused() == (3, 11, 5)
    assert typed_use.arrays() == 16**3 + 16**2 + 15 + 4 and typed_use.simulated() == []
    typed_use.test_checked(girih_check)
    for option in ({"sedes": 3}, {"foo": 1}):
        with pytest.raises(TypeError, match=r"^run\(\) has no option .*; the options are checks, seeds"):
            girih.sim.run(typed_use.EMPTY, "k", 1, 32, **option)
