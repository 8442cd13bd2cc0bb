"""Models with linear propagation, and the label trick for them (paper, section 4.2)."""

from __future__ import annotations

from .regression import LabelFeatureRegression
from .sgc import SGC
from .sign import SIGN
from .twirls import TWIRLS

__all__ = ["SGC", "SIGN", "TWIRLS", "LabelFeatureRegression"]
