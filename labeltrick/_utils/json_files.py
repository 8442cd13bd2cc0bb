"""JSON that every reader accepts: NaN and infinity become null."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

from .escaping import for_json


def dumps(value: Any, indent: int | None = None) -> str:
    """Standard JSON text.

    >>> dumps({"score": float("nan"), "names": ["é"]})
    '{"score": null, "names": ["é"]}'
    """
    text = json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return for_json(text)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def loads(text: str | bytes) -> Any:
    """Parse JSON; a `ValueError` for any other text, however deeply nested."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


_BLANK = "0" * 64


def sealed(value: dict[str, Any]) -> str:
    """The text of a file that begins with a checksum of itself.

    >>> text = sealed({"a": 1})
    >>> is_sealed(text), is_sealed(text.replace("1", "2"))
    (True, False)
    """
    text = json.dumps({"sha256": _BLANK, **value}, indent=1, allow_nan=False)
    return text.replace(_BLANK, hashlib.sha256(text.encode()).hexdigest(), 1)


def is_sealed(text: str) -> bool:
    """Whether the checksum at the beginning of a text is right."""
    found = re.match(r'\{\s*"sha256": "([0-9a-f]{64})"', text)
    if found is None:
        return False
    blank = text[: found.start(1)] + _BLANK + text[found.end(1) :]
    return hashlib.sha256(blank.encode()).hexdigest() == found[1]
