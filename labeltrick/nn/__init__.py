"""Propagation and the label trick for torch. Needs the extra ``torch``."""

from __future__ import annotations

from .._extras import require

require("torch", "labeltrick.nn")

from .propagation import propagate, self_excluded_form  # noqa: E402

__all__ = ["propagate", "self_excluded_form"]
