"""The report in a real browser: it loads, draws, sorts, and nothing overlaps."""

import pytest
from typer.testing import CliRunner

from labeltrick.app.cli import app
from labeltrick.app.report.page import render
from labeltrick.app.report.sections import Section
from tests.support.people import write_files

# Boxes of texts that overlap by more than a hair, as pairs of what they say.
OVERLAPS = """() => {
  const texts = [...document.querySelectorAll("h1, h2, p, th, td, pre, svg text")].filter(
    node => node.textContent.trim() && node.getClientRects().length);
  const scrolled = node => node.closest(".scroll");
  const boxes = texts.filter(node => {
    const frame = scrolled(node);
    if (!frame) return true;
    const [a, b] = [node.getBoundingClientRect(), frame.getBoundingClientRect()];
    return a.top >= b.top && a.bottom <= b.bottom && !node.closest("thead");
  }).map(node => [node, node.getBoundingClientRect()]);
  const found = [];
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [a, b] = [boxes[i], boxes[j]];
    if (a[0].contains(b[0]) || b[0].contains(a[0])) continue;
    const wide = Math.min(a[1].right, b[1].right) - Math.max(a[1].left, b[1].left);
    const tall = Math.min(a[1].bottom, b[1].bottom) - Math.max(a[1].top, b[1].top);
    if (wide > 3 && tall > 3) found.push(a[0].textContent + " | " + b[0].textContent);
  }
  return found;
}"""


@pytest.fixture(scope="module", params=["classes", "numbers"])
def report(request, tmp_path_factory):
    folder = write_files(tmp_path_factory.mktemp("report"), task=request.param)
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--target", "label")
    arguments = ("fit", *files, "--split-column", "split", "--out", folder / "run", "--quiet")
    arguments += ("--budget", "2s", "--set", "n_folds=2")
    result = CliRunner().invoke(app, [str(part) for part in arguments])
    assert result.exit_code == 0, result.output
    return folder / "run" / "report.html"


def open_page(browser, path, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    wrong, asked = [], []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector(".chart .main-svg")
    page.wait_for_timeout(300)
    return page, wrong, asked


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_the_page_in_a_browser(browser, report, width, scheme):
    page, wrong, asked = open_page(browser, report, width, scheme)
    assert wrong == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    charts = page.query_selector_all(".chart")
    assert len(charts) >= 4
    for chart in charts:
        assert chart.query_selector(".main-svg") is not None
        assert chart.query_selector("path, image, rect") is not None
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERLAPS) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(18, 22, 28)") == (scheme == "dark")
    if width == 1400:
        check_that_tables_sort(page)
    page.close()


def check_that_tables_sort(page):
    table = page.query_selector_all("table.sortable")[-1]
    heads = table.query_selector_all("th button")
    column = len(heads)

    def values():
        cells = table.query_selector_all(f"tbody tr td:nth-child({column})")
        return [float(cell.inner_text()) for cell in cells]

    heads[-1].click()
    assert values() == sorted(values())
    heads[-1].click()
    assert values() == sorted(values(), reverse=True)
    assert table.query_selector_all("th")[-1].get_attribute("aria-sort") == "descending"


def test_names_of_nodes_are_text_and_never_code():
    evil = "</script><img src=x onerror=alert(1)>"
    section = Section("Rows", [evil], header=["node"], rows=[[evil]])
    text = render(evil, [section])
    assert evil not in text
    assert text.count("&lt;img src=x") >= 3
