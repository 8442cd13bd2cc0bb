"""The HTML page of a report, which loads nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from ..._utils.escaping import for_html, for_script, shortened
from ..._utils.whole_files import replacing
from .sections import Section, sections

_STYLE = """
:root { --ink:#1d2430; --soft:#5b6675; --paper:#f6f7f9; --card:#ffffff; --line:#e1e5ea;
  --accent:#2f7de1; --alarm:#b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink:#e8ecf1; --soft:#a3adba; --paper:#12161c; --card:#1b212a; --line:#2c3540;
    --accent:#6aa8f7; --alarm:#ff8a80; }
}
* { box-sizing:border-box; }
body { margin:0; background:var(--paper); color:var(--ink); font:16px/1.5 system-ui, sans-serif; }
main { max-width:1200px; margin:0 auto; padding:16px; display:grid; gap:16px;
  grid-auto-flow:dense; align-items:start;
  grid-template-columns:repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
header { max-width:1200px; margin:0 auto; padding:24px 16px 0; }
h1 { font-size:1.6rem; margin:0; overflow-wrap:anywhere; }
h2 { font-size:1.1rem; margin:0 0 6px; }
p { margin:0 0 8px; color:var(--soft); overflow-wrap:anywhere; }
section { background:var(--card); border:1px solid var(--line); border-radius:12px; padding:16px;
  min-width:0; }
section.wide { grid-column:1 / -1; }
.big { font-size:2.6rem; font-weight:700; color:var(--accent); line-height:1.1; margin:8px 0 4px; }
section.alarm { border:2px solid var(--alarm); }
.alarm .big, .alarm .first { color:var(--alarm); }
.first { font-weight:700; }
.chart { width:100%; min-width:0; overflow:hidden; }
.scroll { overflow:auto; max-height:420px; }
table { border-collapse:collapse; width:100%; font-size:0.92rem; }
th, td { text-align:left; padding:6px 10px; border-bottom:1px solid var(--line);
  vertical-align:top; }
td { overflow-wrap:break-word; max-width:26em; }
th { position:sticky; top:0; background:var(--card); }
th button { all:unset; cursor:pointer; font-weight:600; white-space:nowrap; }
th button:focus-visible { outline:2px solid var(--accent); }
th button::after { content:" ↕"; color:var(--soft); }
th[aria-sort=ascending] button::after { content:" ↑"; }
th[aria-sort=descending] button::after { content:" ↓"; }
pre { overflow:auto; background:var(--paper); padding:12px; border-radius:8px; font-size:0.85rem; }
"""

_SCRIPT = """
const charts = JSON.parse(document.getElementById("charts").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function color() { return dark.matches ? "#c4ccd6" : "#4a5564"; }
charts.forEach((chart, k) => {
  const narrow = window.innerWidth < 600;
  chart.layout.font.color = color();
  if (narrow) { chart.layout.font.size = 11; }
  Plotly.newPlot("chart-" + k, chart.data, chart.layout, {displayModeBar:false, responsive:true});
});
dark.addEventListener("change", () => {
  charts.forEach((_, k) => Plotly.relayout("chart-" + k, {"font.color": color()}));
});
document.querySelectorAll("table.sortable").forEach(table => {
  table.querySelectorAll("th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0], rows = [...body.rows];
      const value = row => row.cells[column].textContent;
      const numbers = rows.every(row => value(row) !== "" && !isNaN(value(row)));
      rows.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        const order = numbers ? x - y : x.localeCompare(y);
        return up ? order : -order;
      });
      body.append(...rows);
    });
  });
});
"""


_LONGEST_TITLE = 200  # characters of the target's name


def write_report(run: Any, path: Path) -> Path:
    """Write the report of a `FittedRun` as a single HTML file, completely or not at all."""
    title = f"Predictions of “{shortened(run.problem.labels.name, _LONGEST_TITLE)}”"
    text = render(title, sections(run))
    with replacing(path) as file:
        file.write_text(text, encoding="utf-8")
    return path


def render(title: str, parts: list[Section]) -> str:
    """The HTML of a page."""
    from plotly.offline import get_plotlyjs

    charts: list[Any] = []
    blocks = [_block(part, charts) for part in parts]
    scripts = [get_plotlyjs(), _SCRIPT]
    return "\n".join([
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">',
        '<link rel="icon" href="data:,">',
        f"<title>{for_html(title)}</title><style>{_STYLE}</style></head><body>",
        f"<header><h1>{for_html(title)}</h1></header>",
        "<main>",
        *blocks,
        "</main>",
        f'<script type="application/json" id="charts">{for_script(charts)}</script>',
        *(f"<script>{script}</script>" for script in scripts),
        "</body></html>",
    ])  # fmt: skip


def _policy(scripts: list[str]) -> str:
    """A content security policy that allows only these scripts, and no requests."""
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"
    )


def _block(part: Section, charts: list[Any]) -> str:
    inside = [f"<h2>{for_html(part.title)}</h2>"]
    if part.alarm:
        inside.append(f'<p class="first">{for_html(part.alarm)}</p>')
    if part.big:
        inside.append(f'<div class="big">{for_html(part.big)}</div>')
    inside += [f"<p>{for_html(text)}</p>" for text in part.text]
    if part.figure is not None:
        figure = json.loads(part.figure.to_json())
        figure["layout"].pop("template", None)
        inside.append(f'<div class="chart" id="chart-{len(charts)}"></div>')
        charts.append({"data": figure["data"], "layout": figure["layout"]})
    if part.rows:
        inside.append(_table(part))
    if part.code:
        lines = [for_html(line) for line in part.code.splitlines()]
        inside.append(f"<pre>{chr(10).join(lines)}</pre>")
    classes = ["wide"] if part.big or len(part.header) > 3 else []
    classes += ["alarm"] if part.alarm else []
    marked = f' class="{" ".join(classes)}"' if classes else ""
    return f"<section{marked}>{''.join(inside)}</section>"


def _table(part: Section) -> str:
    heads = "".join(
        f'<th><button type="button">{for_html(name)}</button></th>' for name in part.header
    )
    rows = "".join(
        "<tr>" + "".join(f"<td>{for_html(cell)}</td>" for cell in row) + "</tr>"
        for row in part.rows
    )
    head = f"<thead><tr>{heads}</tr></thead>"
    return f'<div class="scroll"><table class="sortable">{head}<tbody>{rows}</tbody></table></div>'
