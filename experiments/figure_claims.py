"""The claims of Figure 1, which prints no numbers.

The ends of the curves meet their limits: no labels as α → 0, and self-excluded labels as α → 1 for
the linear model. The linear model prefers a larger α than the GCN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.paper import LARGER_RATE, PaperCell
from experiments.rows import Row, has_own_features, rows_of_method
from experiments.verdicts import judge_limit, judge_sign

STAND_IN = "features not available; ranked guesses of the class used instead"
_PAPER_WIDTH = 256


@dataclass(frozen=True)
class Claim:
    """A claim on one dataset: a mean over seeds, its standard deviation and the verdict."""

    mean: float
    std: float | None
    seeds: int
    verdict: str
    note: str


def judge_claim(cell: PaperCell, store: list[Row]) -> tuple[Claim | None, list[Row]]:
    """(the claim, or None if it was not run; the results that it rests on)."""
    curves = [rows_of_method(store, cell.dataset, name) for name in cell.ours]
    rows = [row for curve in curves for row in curve]
    claim = _larger_rate(*curves) if cell.method == LARGER_RATE else _limit(cell, curves[0])
    if claim is None:
        return None, rows
    notes = [claim.note]
    if not all(has_own_features(row) for row in rows):
        notes.append(STAND_IN)
    widths = {row["hidden"] for row in rows if "hidden" in row}
    if widths - {_PAPER_WIDTH}:
        shown = " or ".join(str(width) for width in sorted(widths))
        notes.append(f"the GCN has {shown} units instead of {_PAPER_WIDTH}")
    return Claim(claim.mean, claim.std, claim.seeds, claim.verdict, "; ".join(notes)), rows


def _by_rate(rows: list[Row]) -> dict[float, dict[int, float]]:
    found: dict[float, dict[int, float]] = {}
    for row in rows:
        found.setdefault(row["rate"], {})[row["seed"]] = row["val"]
    return found


def _claim(values: np.ndarray) -> tuple[float, float | None, int]:
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None, len(values)


def _limit(cell: PaperCell, rows: list[Row]) -> Claim | None:
    """Distance from the end of a curve to its limit."""
    at_zero = cell.method.endswith("→ 0")
    by_rate = _by_rate(rows)
    limit = by_rate.get(0.0 if at_zero else 1.0, {})
    inner = sorted(rate for rate in by_rate if 0 < rate < 1)
    if not limit or not inner:
        return None
    end = by_rate[inner[0] if at_zero else inner[-1]]
    mean, std, seeds = _claim(np.array([end[seed] - limit[seed] for seed in end if seed in limit]))
    means = np.array([np.mean(list(by_rate[rate].values())) for rate in inner])
    widest = float(np.abs(means - np.mean(list(limit.values()))).max())
    judged = judge_limit(mean, (std or 0.0) / np.sqrt(seeds), widest)
    note = f"the largest distance of the curve from its limit is {widest:.2f} points"
    return Claim(mean, std, seeds, judged.verdict, note)


def _larger_rate(linear: list[Row], gcn: list[Row]) -> Claim | None:
    """Difference of the best rates, by seed. The closed form has no random choices, so that on an
    official split its one curve is compared with every seed."""
    first, second = _best_rates(linear), _best_rates(gcn)
    if len(first) == 1 and linear[0]["dataset"].startswith("ogbn-"):
        first = dict.fromkeys(second, next(iter(first.values())))
    seeds = [seed for seed in second if seed in first]
    if not seeds:
        return None
    mean, std, n = _claim(np.array([first[seed] - second[seed] for seed in seeds]))
    best = [float(np.mean([rates[seed] for seed in seeds])) for rates in (first, second)]
    verdict = judge_sign(mean, None if std is None else std / np.sqrt(n))
    note = f"the mean best α is {best[0]:.3g} for the linear model and {best[1]:.3g} for the GCN"
    return Claim(mean, std, n, verdict, note)


def _best_rates(rows: list[Row]) -> dict[int, float]:
    """The best rate of each seed, without the limits."""
    best: dict[int, tuple[float, float]] = {}
    for row in rows:
        if 0 < row["rate"] < 1:
            found = (row["val"], -row["rate"])  # the smaller of two equal ones
            best[row["seed"]] = max(best.get(row["seed"], found), found)
    return {seed: -rate for seed, (_, rate) in best.items()}
