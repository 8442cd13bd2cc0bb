"""JSON that every reader takes: what is no number is null."""

from __future__ import annotations

import json
import math
from typing import Any

from ._escape import for_json


def dumps(value: Any, indent: int | None = None) -> str:
    """
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
