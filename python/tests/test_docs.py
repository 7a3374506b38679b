"""Every example of docs/python.md and of the package's README runs, and the package's docstrings are right."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs/python.md", ROOT / "python/README.md"]


def listings():
    for page in PAGES:
        for number, match in enumerate(re.finditer(r"```python\n(.*?)```", page.read_text(), re.DOTALL), 1):
            code = match[1]
            # What names a GPU is run by gpu_check.py.
            mark = [pytest.mark.skip("needs a GPU")] if re.search(r"\bcuda\b|\bcupy\b", code) else []
            line = page.read_text()[: match.start()].count("\n") + 1
            yield pytest.param(page, line, code, id=f"{page.stem}-{number}", marks=mark)


@pytest.mark.parametrize(("page", "line", "code"), list(listings()))
def test_a_listing_runs(page, line, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Lines count from the page's first, so that a failure names its place.
    exec(compile("\n" * line + code, str(page), "exec"), {"__name__": "__listing__"})


@pytest.mark.parametrize("module", ["girih.arrays", "girih.int_tuple"])
def test_docstrings(module):
    assert not doctest.testmod(importlib.import_module(module)).failed
