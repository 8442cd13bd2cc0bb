"""Names in docstrings find their page, and code that has no lexer is shown as text.

``See Also`` names what a user imports (`Resolvent`, `nn.LabelTrick`), whichever module the text is
in. A name leads to the one documented object that ends in it, top-level names first. Summaries in
tables are not cut within "eq. 13".
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.ext import autosummary


def find(app: Any, env: Any, node: Any, content: nodes.Element) -> nodes.Node | None:
    if node.get("refdomain") != "py":
        return None
    domain, target = env.get_domain("py"), node["reftarget"].removeprefix("labeltrick.")
    found = sorted(name for name in domain.objects if f".{name}".endswith(f".{target}"))
    top = [name for name in found if name == f"labeltrick.{target}"]
    if not top and len(found) != 1:
        return None
    (name,) = top or found
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)


def setup(app: Any) -> dict[str, bool]:
    # A summary ends with its sentence, not within "eq. 13".
    autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.",)
    app.add_lexer("mermaid", TextLexer)
    app.connect("missing-reference", find)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
