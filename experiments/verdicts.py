"""Verdicts on differences from the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass

PAPER_SEEDS = 10
REPRODUCED, BETTER, BELOW = "reproduced", "better", "below"
ABSENT, UNDERSPECIFIED = "data absent", "recipe underspecified"


@dataclass(frozen=True)
class Judgement:
    """A verdict. ``errors`` is the difference in standard errors, positive if ours is better."""

    verdict: str
    errors: float | None


def judge(
    paper: float,
    paper_std: float,
    ours: float,
    ours_std: float,
    n_seeds: int,
    *,
    digits: int = 2,
    lower_is_better: bool = False,
    choice: str = "",
) -> Judgement:
    """Compare our result with a cell of the paper.

    A difference counts if it exceeds two of its standard errors and one standard deviation of the
    paper's seeds. If ours is worse and the recipe leaves something open (``choice``), the verdict
    is "recipe underspecified".

    >>> judge(83.45, 0.63, 83.24, 0.5, 10).verdict
    'reproduced'
    >>> judge(85.02, 0.43, 86.5, 0.4, 10).verdict
    'better'
    """
    spread = ours_std if n_seeds > 1 else paper_std  # one seed has no spread
    rounding = 0.5 * 10.0**-digits / math.sqrt(3)
    error = math.sqrt(paper_std**2 / PAPER_SEEDS + spread**2 / max(n_seeds, 1) + rounding**2)
    gain = (paper - ours) if lower_is_better else (ours - paper)
    far = abs(gain) > max(2 * error, paper_std)
    if not far:
        verdict = REPRODUCED
    elif gain > 0:
        verdict = BETTER
    else:
        verdict = UNDERSPECIFIED if choice else BELOW
    return Judgement(verdict, gain / error)


def judge_limit(gap: float, gap_error: float, widest: float) -> Judgement:
    """Whether the end of a curve meets its limit: the gap is within two standard errors, or less
    than a quarter of the largest distance (``widest``).

    >>> judge_limit(0.1, 0.02, 3.0).verdict
    'reproduced'
    >>> judge_limit(2.0, 0.02, 3.0).verdict
    'below'
    """
    met = abs(gap) <= max(2 * gap_error, 0.25 * abs(widest))
    return Judgement(REPRODUCED if met else BELOW, gap / gap_error if gap_error else None)
