"""The built pages load nothing from another host; what does is a warning of the build."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.util import logging

LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio)\b[^>]*?\ssrc=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|icon|preload|preconnect|dns-prefetch|modulepreload))"
    r"[^>]*?\shref=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|@import\s+(?:url\()?[\"']?((?:https?:)?//[^\"')\s]+)"
    r"|\burl\([\"']?((?:https?:)?//[^\"')\s]+)",
    flags=re.I,
)


def loaded_from_elsewhere(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the pages and style sheets that load something from another host, and what."""
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")]):
        for found in LOADED.finditer(path.read_text(encoding="utf-8")):
            yield path.relative_to(folder).as_posix(), next(filter(None, found.groups()))


def check(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        for page, address in loaded_from_elsewhere(Path(app.outdir)):
            logging.getLogger(__name__).warning("%s loads %s", page, address)


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
