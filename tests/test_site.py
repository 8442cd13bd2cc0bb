"""The documentation site: its reference is complete, its links lead somewhere, and its pages need
no network."""

import importlib
import importlib.util
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.test_docstrings import public_names

DOCS = Path(__file__).resolve().parent.parent / "docs"
# Each entry of an `autosummary` table is a line of three spaces and a name.
LISTED = [
    f"labeltrick.{name}"
    for page in sorted(DOCS.glob("reference/*.rst"))
    for table in re.findall(r"\.\. autosummary::\n(.*?)(?=\n\S|\Z)", page.read_text(), flags=re.S)
    for name in re.findall(r"^   (\w[\w.]*)$", table, flags=re.M)
]


def value_of(name):
    value = importlib.import_module("labeltrick")
    for step in name.split(".")[1:]:
        value = getattr(value, step, None) or importlib.import_module(f"{value.__name__}.{step}")
    return value


@pytest.fixture(scope="module")
def listed():
    if importlib.util.find_spec("torch") is None:
        return [name for name in LISTED if not name.startswith("labeltrick.nn.")]
    return LISTED


def test_every_public_name_is_in_the_reference(listed):
    shown = {id(value_of(name)) for name in listed}
    missing = [path for path, value in public_names().items() if id(value) not in shown]
    assert not missing, f"Add them to docs/reference/*.rst: {missing}"


def test_the_reference_has_no_stale_or_private_name(listed):
    public = {id(value) for value in public_names().values()}
    assert [name for name in listed if id(value_of(name)) not in public] == []


def test_the_reference_lists_each_name_once():
    assert len(LISTED) == len(set(LISTED)) > 80


def test_every_page_of_the_reference_is_in_its_index():
    index = (DOCS / "reference" / "index.md").read_text()
    for page in DOCS.glob("reference/*.rst"):
        assert re.search(rf"^{page.stem}$", index, flags=re.M), page.name


@pytest.fixture(scope="module")
def offline():
    pytest.importorskip("sphinx")
    path = DOCS / "_extensions" / "offline.py"
    spec = importlib.util.spec_from_file_location("offline", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "text",
    [
        '<script async src="https://cdn.example/a.js"></script>',
        "<img alt='x' src='//cdn.example/a.png'>",
        '<link href="https://fonts.example/a.css" rel="stylesheet">',
        '<link rel="preconnect" href="https://fonts.example">',
        "<style>@import url(https://fonts.example/a.css)</style>",
        "<p style=\"background: url('http://cdn.example/a.png')\">",
    ],
)
def test_what_a_page_loads_from_another_host_is_found(offline, tmp_path, text):
    (tmp_path / "page.html").write_text(text)
    assert [page for page, _ in offline.loaded_from_elsewhere(tmp_path)] == ["page.html"]


def test_links_and_own_files_are_no_requests(offline, tmp_path):
    text = (
        '<a href="https://example.org">x</a><img src="a.png"><script src="_static/b.js"></script>'
    )
    (tmp_path / "page.html").write_text(text + '<link rel="canonical" href="https://example.org">')
    assert list(offline.loaded_from_elsewhere(tmp_path)) == []


def test_the_built_site_loads_nothing_from_another_host(offline):
    built = DOCS / "_build" / "html"
    if not (built / "index.html").exists():
        pytest.skip("the site has not been built; run `make docs-fast`")
    assert list(offline.loaded_from_elsewhere(built)) == []


def test_summaries_of_the_built_site_are_whole_sentences():
    built = DOCS / "_build" / "html" / "reference"
    if not built.exists():
        pytest.skip("the site has not been built; run `make docs-fast`")
    texts = {page.name: page.read_text(encoding="utf-8") for page in built.glob("*.html")}
    assert [name for name, text in texts.items() if re.search(r"\beq\.</p>", text)] == []


def dead_links(folder):
    """Yield the pages of a folder and those of their links to it that lead nowhere."""
    found = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: path.read_text(encoding="utf-8") for path in found}
    anchors = {path: set(re.findall(r'\sid="([^"]+)"', text)) for path, text in pages.items()}
    for page, text in pages.items():
        for link in sorted(set(re.findall(r'\s(?:href|src)="([^"]+)"', text))):
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            goal = (page.parent / unquote(address.path)).resolve() if address.path else page
            wanted = unquote(address.fragment)
            if not goal.exists() or (wanted and wanted not in anchors.get(goal, {wanted})):
                yield page.relative_to(folder).as_posix(), link


def test_dead_links_are_found(tmp_path):
    tmp_path = tmp_path.resolve()
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="#top">1</a><a href="b.html">2</a><a href="b.html#x">3</a>'
        '<img src="c.png"><a href="https://example.org/none">4</a><a href="#none">5</a>'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#top">6</a>')
    found = list(dead_links(tmp_path))
    assert found == [("a.html", "#none"), ("a.html", "b.html#x"), ("a.html", "c.png")]


def test_links_of_the_built_site_lead_somewhere():
    built = DOCS / "_build" / "html"
    if not (built / "index.html").exists():
        pytest.skip("the site has not been built; run `make docs-fast`")
    assert list(dead_links(built.resolve())) == []
