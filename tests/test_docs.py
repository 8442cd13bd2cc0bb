"""Examples in docstrings and Markdown run, and print what they say."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import labeltrick

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(labeltrick.__path__, "labeltrick.")
    if info.name != "labeltrick.__main__"
)
PAGES = sorted(
    p.relative_to(ROOT).as_posix() for p in [ROOT / "README.md", *ROOT.glob("docs/*.md")]
)
OPTIONS = doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    try:
        doctest.testmod(module, optionflags=OPTIONS, raise_on_error=True)
    except doctest.UnexpectedException as error:
        raise error.exc_info[1] from None
    except doctest.DocTestFailure as error:
        example = error.example
        pytest.fail(f"{example.source}expected {example.want!r}, got {error.got!r}")


def test_docstrings_hold_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [t for n in MODULES for t in finder.find(importlib.import_module(n)) if t.examples]
    assert len(found) >= 10


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_of_pages_run_in_order(page):
    """Blocks of one page share their names, as a reader would type them. A line that ends in
    ``# → text`` must print as that text."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.S)
    names: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
        for line in block.splitlines():
            if "# → " in line:
                expression, expected = line.split("# → ")
                assert str(eval(expression, names)).strip() == expected.strip(), line


def test_relative_links_of_pages_exist():
    for page in PAGES:
        text = (ROOT / page).read_text()
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"
