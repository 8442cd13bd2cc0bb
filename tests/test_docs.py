"""Examples in docstrings and Markdown run, and print what they say."""

import doctest
import importlib
import pkgutil
import re
import textwrap
from pathlib import Path

import pytest

import labeltrick

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(labeltrick.__path__, "labeltrick.")
    if info.name != "labeltrick.__main__"
)
BUILT = {"_build", "auto_examples", "generated"}
PAGES = sorted(
    p.relative_to(ROOT).as_posix()
    for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if not BUILT & set(p.parts)
)
# Fences of Python, plain or as a MyST directive with options, indented or not.
PYTHON = re.compile(
    r"^([ ]*)(`{3,})(?:python|\{code-block\} python)\n((?:[ ]*:\w+:.*\n)*)(.*?)^\1\2$",
    flags=re.S | re.M,
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
    names: dict = {}
    for *_, block in PYTHON.findall((ROOT / page).read_text()):
        block = textwrap.dedent(block)
        exec(compile(block, page, "exec"), names)
        for line in block.splitlines():
            if "# → " in line:
                expression, expected = line.split("# → ")
                assert str(eval(expression, names)).strip() == expected.strip(), line


def anchors(page):
    """What the headings of a page can be linked by, as GitHub and MyST name them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    titles = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_links_of_pages_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", text):
        goal = (ROOT / page).parent / target if target else ROOT / page
        assert goal.exists(), f"{page} links to {target}"
        if anchor and goal.suffix == ".md":
            assert anchor in anchors(goal), f"{page} links to {target}#{anchor}"


@pytest.mark.parametrize("page", PAGES)
def test_pages_and_examples_named_by_a_role_exist(page):
    """``{doc}`/auto_examples/NAME` `` is a page made of ``docs/examples/NAME.py``."""
    for role in re.findall(r"\{doc\}`([^`]+)`", (ROOT / page).read_text()):
        target = re.sub(r".*<(.*)>", r"\1", role)
        start = ROOT / "docs" if target[0] == "/" else (ROOT / page).parent
        goal = start / target.lstrip("/")
        if goal.parent.name == "auto_examples" and goal.name != "index":
            goal = ROOT / "docs" / "examples" / goal.name
        found = [goal.with_name(goal.name + ending) for ending in (".md", ".rst", ".py")]
        assert goal.name == "index" or any(path.exists() for path in found), role
