"""Verdicts on differences from the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass

PAPER_SEEDS = 10
REPRODUCED, BETTER, BELOW = "reproduced", "better", "below"
ABSENT, UNDERSPECIFIED, NOT_RUN = "data absent", "recipe underspecified", "not run"
LARGER, SMALLER, NO_GAIN, LOSS = "larger", "smaller", "no gain", "loss"
UNRESOLVED, OPPOSITE = "not resolved", "opposite"


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


def judge_gain(
    paper: float, paper_error: float, ours: float, ours_error: float, digits: int = 2
) -> str:
    """Compare the gain of one method over another with the paper's.

    It is reproduced if the two differ by at most two standard errors of their difference. If ours
    is less, it is "smaller" while it exceeds two of its own standard errors, "no gain" while it is
    within them, and otherwise a "loss".

    >>> judge_gain(1.31, 0.05, 1.28, 0.02)
    'reproduced'
    >>> judge_gain(1.31, 0.05, 0.01, 0.02)
    'no gain'
    """
    rounding = 0.5 * 10.0**-digits * math.sqrt(2 / 3)  # of two printed values
    error = math.sqrt(paper_error**2 + ours_error**2 + rounding**2)
    if abs(ours - paper) <= 2 * error:
        return REPRODUCED
    if ours > paper:
        return LARGER
    if abs(ours) <= 2 * ours_error:
        return NO_GAIN
    return SMALLER if ours > 0 else LOSS


def judge_sign(mean: float, error: float | None) -> str:
    """Whether a difference that the paper says is positive is; None if there is no spread.

    >>> judge_sign(0.4, 0.1), judge_sign(0.4, 0.3), judge_sign(-0.4, 0.1)
    ('reproduced', 'not resolved', 'opposite')
    """
    if error is None or abs(mean) <= 2 * error:
        return UNRESOLVED
    return REPRODUCED if mean > 0 else OPPOSITE
