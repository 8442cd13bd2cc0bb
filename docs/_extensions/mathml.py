"""Formulas as MathML, which browsers show without scripts, fonts or a network."""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    anchor = f' id="{html.escape(node["ids"][0])}"' if node["ids"] else ""
    formula = convert(node.astext(), display="block")
    writer.body.append(f'<div class="formula"{anchor}>{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
