"""Curves as SVG files."""

import re
from xml.etree import ElementTree

from labeltrick.app.report.curves import write_curve
from tests.support.hostile import NAMES, found_by_sweep


def test_curves_as_svg(tmp_path):
    path = write_curve(found_by_sweep(NAMES), tmp_path / "curve.svg")
    tree = ElementTree.parse(path)  # well-formed, control characters or not
    kinds = {re.sub(r"\{.*\}", "", element.tag) for element in tree.iter()}
    assert kinds == {"svg", "rect", "polyline", "line", "circle", "text"}
    texts = [element.text for element in tree.iter() if element.tag.endswith("text")]
    assert NAMES[0] in texts
    assert NAMES[2] in texts
