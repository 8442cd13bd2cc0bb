"""Names from data are text in all that we draw: no code, no links, no charts that vanish."""

import json
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from labeltrick._utils.escaping import for_html, visible
from labeltrick.app.report.curves import write_curve
from labeltrick.app.report.page import render
from labeltrick.app.report.sections import Section
from labeltrick.models.boosting import importance_figure
from tests.app.report.test_page import open_page
from tests.support.hostile import (
    NAMES,
    TARGET,
    all_figures,
    fit_hostile,
    found_by_sweep,
    write_hostile,
)
from tests.support.people import invoke

OURS = {
    "html", "head", "meta", "link", "title", "style", "body", "header", "h1", "main", "section",
    "h2", "p", "div", "table", "thead", "tbody", "tr", "th", "td", "button", "pre", "script",
}  # fmt: skip

MARKS = ".barlayer path, .scatterlayer path, .heatmaplayer image"


class Elements(HTMLParser):
    """Names of the elements of a page, and what its scripts hold."""

    def __init__(self, text):
        super().__init__()
        self.names, self.scripts, self._in_script = [], [], False
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        assert not [key for key, _ in attributes if key.startswith("on")]
        self._in_script = name == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_data(self, data):
        if self._in_script:
            self.scripts[-1] += data

    def handle_endtag(self, name):
        self._in_script = False


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory):
    folder = write_hostile(tmp_path_factory.mktemp("hostile"))
    more = ("--model", "boosting", "--set", "n_rounds=5", "--quiet")
    assert invoke(*fit_hostile(folder, *more)) == ""
    return folder / "[red]run[" / "report.html"


@pytest.fixture(scope="module")
def all_charts(tmp_path_factory):
    path = tmp_path_factory.mktemp("charts") / "charts.html"
    parts = [Section(name, [name], figure) for name, figure in all_figures().items()]
    path.write_text(render(NAMES[0], parts), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    return write_curve(found_by_sweep(NAMES), tmp_path_factory.mktemp("sweep") / "curve.html")


@pytest.fixture(scope="module")
def importances(tmp_path_factory):
    path = tmp_path_factory.mktemp("importances") / "importances.html"
    n = len(NAMES)
    model = SimpleNamespace(
        feature_importances_=np.full(n, 1 / n),
        feature_names_=NAMES,
        feature_groups_=["own"] * n,
        group_importances_={"own": 1.0},
    )
    figure = importance_figure(model)
    figure.write_html(path, include_plotlyjs=True)
    return path


@pytest.mark.parametrize("page", ["hostile_report", "all_charts", "swept"])
def test_pages_hold_our_elements_and_no_others(page, request):
    text = request.getfixturevalue(page).read_text(encoding="utf-8")
    text = text.replace(get_plotlyjs(), "", 1)  # megabytes that are not ours
    found = Elements(text)
    assert set(found.names) <= OURS
    assert found.names.count("script") == 3
    data = found.scripts[0]
    assert not set("<>&\u2028\u2029") & set(data)
    charts = json.loads(data)
    assert found.names.count("section") >= len(charts) > 0
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_every_chart_is_drawn_and_nothing_runs(browser, hostile_report, all_charts, swept):
    for path in (hostile_report, all_charts, swept):
        page, wrong, asked = open_page(browser, path, 1400, "light")
        charts = page.query_selector_all(".chart")
        assert page.evaluate("charts.length") == len(charts) > 0
        for chart in charts:
            assert chart.query_selector(".main-svg") is not None
            assert chart.query_selector(MARKS) is not None
            hover(page, chart)
            assert_harmless(page)
        assert wrong == []
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
        page.close()


def hover(page, chart):
    """What is shown for the mark in the upper left corner of a chart."""
    chart.scroll_into_view_if_needed()
    box = chart.query_selector(".nsewdrag").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 25, box["y"] + box["height"] / 25)
    for _ in range(20):  # it is drawn at once, or there is nothing to show
        if chart.query_selector(".hoverlayer text"):
            break
        page.wait_for_timeout(10)
    return " ".join(text.text_content() for text in chart.query_selector_all(".hoverlayer text"))


def assert_harmless(page):
    assert page.query_selector_all("a, img, iframe, svg b, svg i") == []
    # plotly shows what its small HTML knows as links and as parts of a text with their own style
    styled = "[...document.querySelectorAll('svg tspan')].filter(t => t.style.fontWeight)"
    assert page.evaluate(f"{styled}.length") == 0


def test_names_stand_on_the_axes_as_they_are(browser, all_charts):
    page, *_ = open_page(browser, all_charts, 1400, "light")
    shown = page.evaluate(
        "[...document.querySelectorAll('#chart-2 .ytick text')].map(t => t.textContent)"
    )
    shown = sorted(text.replace("\u200b", "") for text in shown)
    expected = [visible(name) for name in NAMES]
    expected = [name if len(name) <= 24 else name[:23] + "…" for name in expected]
    assert shown == sorted(expected)
    for chart in page.query_selector_all(".chart")[:4]:
        assert "<!--<script>" in hover(page, chart)
    page.close()


def test_the_policy_of_the_page_stops_code_that_is_not_ours(browser, all_charts, tmp_path):
    text = all_charts.read_text(encoding="utf-8")
    bad = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    path = tmp_path / "injected.html"
    path.write_text(text.replace("</main>", f"{bad}</main>"), encoding="utf-8")
    page, *_ = open_page(browser, path, 1400, "light")
    assert page.title() == NAMES[0]
    page.close()


def test_importances_in_a_browser(browser, importances):
    page = browser.new_page()
    page.goto(importances.as_uri())
    page.wait_for_selector(".ytick text")
    assert len(page.query_selector_all(".ytick")) == len(NAMES)
    assert len(page.query_selector_all(".barlayer path")) == len(NAMES)
    assert page.query_selector_all(".ytick a, .ytick [style*='bold']") == []
    page.close()


def test_the_title_names_the_target(hostile_report):
    text = hostile_report.read_text(encoding="utf-8")
    assert f"<h1>Predictions of “{for_html(TARGET)}”</h1>" in text
