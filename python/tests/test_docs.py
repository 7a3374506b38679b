"""Every example of docs/python.md and of the package's README runs, and the package's docstrings are right."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

from girih.pytest_plugin import Check

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs/python.md", ROOT / "python/README.md"]


def listings():
    for page in PAGES:
        for number, match in enumerate(re.finditer(r"```python\n(.*?)```", page.read_text(), re.DOTALL), 1):
            code = match[1]
            # What asks for a GPU is run by gpu_check.py.
            mark = [pytest.mark.skip("needs a GPU")] if re.search(r'device="cuda"', code) else []
            line = page.read_text()[: match.start()].count("\n") + 1
            for compiler, package in [("triton", "triton"), (".cuda(CUDA", "cuda")]:
                if compiler in code and importlib.util.find_spec(package) is None:
                    mark = [pytest.mark.skip(f"{package} is not installed")]
            yield pytest.param(page, line, code, id=f"{page.stem}-{number}", marks=mark)


@pytest.mark.parametrize(("page", "line", "code"), list(listings()))
def test_a_listing_runs(page, line, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Lines count from the page's first, so that a failure names its place.
    names = {"__name__": "__listing__"}
    exec(compile("\n" * line + code, str(page), "exec"), names)
    for name, test in names.items():
        if name.startswith("test_"):
            test(Check())


@pytest.mark.parametrize("module", ["girih.arrays", "girih.int_tuple"])
def test_docstrings(module):
    assert not doctest.testmod(importlib.import_module(module)).failed
