"""The curve of a sweep as an interactive page (.html) or an image (.svg)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..._utils.escaping import for_html
from ..._utils.whole_files import replacing
from . import figures
from .page import render
from .sections import Section

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 360, 70, 50


def write_curve(found: dict[str, Any], path: Path) -> Path:
    """Write the curve of a result of `sweep_parameter`."""
    target = Path(path).expanduser()
    kind = target.suffix.lower()
    if kind not in (".html", ".svg"):
        raise ValueError(f"`--out` must end in .html or .svg; got {target.name!r}.")
    text = _page(found) if kind == ".html" else curve_svg(found)
    with replacing(target) as file:
        file.write_text(text, encoding="utf-8")
    return target


def _page(found: dict[str, Any]) -> str:
    values = [point["value"] for point in found["points"]]
    scores = [point["score"]["value"] for point in found["points"]]
    figure = figures.curve(values, scores, found["parameter"], found["metric"])
    title = f"{found['model']}: {found['parameter']}"
    return render(title, [Section(title, [f"On {found['scored_on']}."], figure)])


def curve_svg(found: dict[str, Any]) -> str:
    """The curve as SVG, with an interval for each point and the best point filled."""
    points = found["points"]
    numeric = figures.are_numbers([point["value"] for point in points])
    x = [float(p["value"]) if numeric else float(k) for k, p in enumerate(points)]
    lows, highs = [p["score"]["low"] for p in points], [p["score"]["high"] for p in points]
    left, right = min(x), max(x)
    bottom, top = min(lows), max(highs)
    wide, tall = (right - left) or 1.0, (top - bottom) or 1.0

    def at_x(value: float) -> float:
        return _LEFT + 20 + (value - left) / wide * (_WIDTH - _LEFT - 50)

    def at_y(value: float) -> float:
        return 20 + (top - value) / tall * (_HEIGHT - _BOTTOM - 40)

    line = " ".join(f"{at_x(a):.1f},{at_y(p['score']['value']):.1f}"
                    for a, p in zip(x, points, strict=True))  # fmt: skip
    marks = []
    for k, (a, point) in enumerate(zip(x, points, strict=True)):
        score = point["score"]
        fill = figures.ACCENT if k == found["best"] else "white"
        marks.append(
            f'<line x1="{at_x(a):.1f}" x2="{at_x(a):.1f}" y1="{at_y(score["low"]):.1f}" '
            f'y2="{at_y(score["high"]):.1f}" stroke="{figures.MUTED}"/>'
            f'<circle cx="{at_x(a):.1f}" cy="{at_y(score["value"]):.1f}" r="4.5" fill="{fill}" '
            f'stroke="{figures.ACCENT}" stroke-width="2"/>'
            f'<text x="{at_x(a):.1f}" y="{_HEIGHT - _BOTTOM + 8}" text-anchor="middle">'
            f"{for_html(point['value'])}</text>"
        )
    ticks = [bottom, (bottom + top) / 2, top]
    scale = "".join(
        f'<text x="{_LEFT}" y="{at_y(v) + 4:.1f}" text-anchor="end">{v:.3g}</text>' for v in ticks
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#5b6675">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>'
        f'<polyline points="{line}" fill="none" stroke="{figures.ACCENT}" stroke-width="2"/>'
        f"{''.join(marks)}{scale}"
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 12}" text-anchor="middle">'
        f"{for_html(found['parameter'])}</text>"
        f'<text x="16" y="{_HEIGHT / 2 - 20}" transform="rotate(-90 16 {_HEIGHT / 2 - 20})" '
        f'text-anchor="middle">{for_html(found["metric"])}</text></svg>\n'
    )
