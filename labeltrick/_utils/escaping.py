"""Escapes text from data for the place where it is shown.

Names of classes, columns, nodes and files can hold anything: code, links, escape sequences. Each
place has its own characters that would be interpreted instead of shown.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import Any

_UNSEEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters: move the cursor, clear the screen, end lines
    "\u2028\u2029\ufeff"  # line ends for some readers, and the byte order mark
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of the following text
    "\ud800-\udfff"  # surrogates, from file names that are not UTF-8
    "]"
)
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
# "$" would begin a formula if MathJax is loaded, as in notebooks.
_IN_CHART = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord("$"): "&#36;"}
_LONGEST = 60
_ZERO_WIDTH = "\u200b"


def visible(value: Any) -> str:
    r"""Text on one line, with control characters written as escapes.

    >>> print(visible("red \x1b[2J" + chr(10) + "blue"))
    red \x1b[2J\nblue
    """
    return _UNSEEN.sub(_escaped, str(value))


def _escaped(found: re.Match[str]) -> str:
    sign = found.group()
    code = ord(sign)
    return _SHORT.get(sign) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def for_json(text: str) -> str:
    """Equivalent JSON with invisible characters written as escapes."""
    return _UNSEEN.sub(_escaped_in_json, text)


def _escaped_in_json(found: re.Match[str]) -> str:
    sign = found.group()  # those below the space are between values: JSON escapes them in text
    return sign if sign < " " else f"\\u{ord(sign):04x}"


def for_html(value: Any) -> str:
    """Text for HTML.

    >>> for_html('<a href="x">')
    '&lt;a href=&quot;x&quot;&gt;'
    """
    return html.escape(visible(value))


def for_script(value: Any) -> str:
    r"""JSON for a script element, which ``</script`` and ``<!--`` cannot end or reopen.

    >>> for_script(["<!--<script>"])
    '["\\u003c!--\\u003cscript\\u003e"]'
    """
    return json.dumps(value).translate(_IN_SCRIPT)


def shortened(value: Any, length: int = _LONGEST) -> str:
    """Text of at most ``length`` characters.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    text = visible(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def for_chart(value: Any, length: int = _LONGEST) -> str:
    """Text for a plotly chart, which interprets links, bold type and entities.

    >>> for_chart("<b>R&D</b>")
    '&lt;b&gt;R&amp;D&lt;/b&gt;'
    """
    return shortened(value, length).translate(_IN_CHART)


def chart_categories(values: Iterable[Any], length: int = _LONGEST) -> list[str]:
    """Distinct names of the bars or cells of a plotly chart.

    Plotly merges equal names, and confuses names that JavaScript objects already have, such as
    "constructor", with positions on the axis. Zero-width spaces make the names distinct.

    >>> [len(name) for name in chart_categories(["a" * 30, "a" * 40], 10)]
    [11, 12]
    """
    found: list[str] = []
    for value in values:
        name = for_chart(value, length) + _ZERO_WIDTH
        while name in found:
            name += _ZERO_WIDTH
        found.append(name)
    return found
