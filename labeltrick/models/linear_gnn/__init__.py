"""Models that propagate linearly, with the label trick that suits them (paper, section 4.2)."""

from __future__ import annotations

from .regression import LabelFeatureRegression
from .row_wise import SGC, SIGN
from .twirls import TWIRLS

__all__ = ["SGC", "SIGN", "TWIRLS", "LabelFeatureRegression"]
