"""Chebyshev iteration for X = λSX + B with the spectrum of S in [−1, 1]."""

from __future__ import annotations

import math


def chebyshev_rate(lam: float) -> float:
    """Error factor per step of Chebyshev iteration if the spectrum of λS lies in [−λ, λ]."""
    return lam / (1 + math.sqrt(1 - lam * lam))


def chebyshev_weight(lam: float, k: int, previous: float) -> float:
    """ω_k of the recurrence, from ω_{k−1}."""
    if k == 1:
        return 1.0
    return 2 / (2 - lam * lam) if k == 2 else 1 / (1 - lam * lam * previous / 4)
