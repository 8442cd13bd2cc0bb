"""Propagation and the label trick for torch. Needs the extra ``torch``."""

from __future__ import annotations

from .._utils.extras import require

require("torch", "labeltrick.nn")

from . import threads  # noqa: E402, F401  (lets forked processes run)
from .edge_weights import propagate_weighted  # noqa: E402
from .label_trick import LabelTrick, Step  # noqa: E402
from .mlp import MLP  # noqa: E402
from .propagation import propagate, self_excluded_form  # noqa: E402

__all__ = [
    "MLP",
    "LabelTrick",
    "Step",
    "propagate",
    "propagate_weighted",
    "self_excluded_form",
]
