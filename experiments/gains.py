"""Gains: what one row of a table adds to another, paired by seed, beside the paper's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.paper import PAIRS, PaperCell
from experiments.rows import Row, is_of_paper_data, rows_of, rows_of_method
from experiments.verdicts import ABSENT, NOT_RUN, PAPER_SEEDS, judge_gain

_OTHER_DATA = "not the paper's data"


@dataclass(frozen=True)
class Gain:
    """One comparison. Errors are standard errors; ours is of differences paired by seed, the
    paper's is that of unpaired means, since it prints no differences. Gains are positive where the
    method is better."""

    table: str
    dataset: str
    part: str
    method: str
    over: str
    paper: float
    paper_error: float
    digits: int
    ours: float | None
    ours_error: float | None
    seeds: int
    verdict: str
    note: str


def make_gains(stores: dict[str, list[Row]], here: Any) -> list[Gain]:
    """The gain of each pair of cells that the paper compares; ``here(cell)`` says whether the
    paper's data of a cell are available."""
    return [_gain(new, old, stores[new.table], here(new)) for new, old in PAIRS]


def paired(new: list[Row], old: list[Row], part: str) -> np.ndarray:
    """Differences by seed. A method without random choices has one result on an official split,
    which is compared with every seed of the other."""
    before = {row["seed"]: row[part] for row in old}
    after = {row["seed"]: row[part] for row in new}
    if old and new and all(row["dataset"].startswith("ogbn-") for row in (old[0], new[0])):
        if len(before) == 1:
            before = dict.fromkeys(after, next(iter(before.values())))
        elif len(after) == 1:
            after = dict.fromkeys(before, next(iter(after.values())))
    return np.array([after[seed] - before[seed] for seed in sorted(after) if seed in before])


def _gain(new: PaperCell, old: PaperCell, store: list[Row], here: bool) -> Gain:
    assert new.paper is not None
    assert old.paper is not None
    assert new.paper_std is not None
    assert old.paper_std is not None
    sign = -1.0 if new.lower_is_better else 1.0
    paper = sign * (new.paper - old.paper) + 0.0  # not −0
    paper_error = math.hypot(new.paper_std, old.paper_std) / math.sqrt(PAPER_SEEDS)
    place = (new.table, new.dataset, new.part, new.method, old.method, paper, paper_error)
    rows = [rows_of(cell, store) for cell in (new, old)]
    own = [[r for r in some if is_of_paper_data(new, r)] for some in rows]
    gains = sign * paired(*own, new.part)
    forms = _our_forms(new, store, rows[1], sign)
    if not len(gains):
        others = sign * paired(*rows, new.part)
        notes = [f"{_OTHER_DATA}: {_shown(others)}"] if len(others) else []
        verdict = NOT_RUN if here and not notes else ABSENT
        return Gain(*place, new.digits, None, None, 0, verdict, "; ".join([*notes, *forms]))
    mean, error = float(gains.mean()), _error(gains)
    # One seed has no spread of its own.
    spread = paper_error if error is None else error
    verdict = judge_gain(paper, paper_error, mean, spread, new.digits)
    small = [] if abs(paper) > 2 * paper_error else ["the paper's"]
    small += [] if error is None or abs(mean) > 2 * error else ["ours"]
    notes = [f"within two errors of 0: {' and '.join(small)}"] if small else []
    return Gain(*place, new.digits, mean, error, len(gains), verdict, "; ".join([*notes, *forms]))


def _our_forms(new: PaperCell, store: list[Row], old: list[Row], sign: float) -> list[str]:
    """The gains of our own forms of the method, which are not judged."""
    found = []
    for name in new.beside:
        gains = sign * paired(rows_of_method(store, new.dataset, name), old, new.part)
        if len(gains):
            own = all(is_of_paper_data(new, row) for row in old)
            found.append(f"{name}: {_shown(gains)}" + ("" if own else f" ({_OTHER_DATA})"))
    return found


def _error(values: np.ndarray) -> float | None:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def _shown(values: np.ndarray) -> str:
    error = _error(values)
    return f"{values.mean():+.3f}" + ("" if error is None else f" ± {error:.3f}")


HEADER = ("dataset", "method", "over", "paper", "ours", "seeds", "verdict", "note")


def gain_row(gain: Gain) -> list[str]:
    """The texts of a row under `HEADER`."""
    method = gain.method + (", validation" if gain.part == "val" else "")
    paper = f"{gain.paper:+.{gain.digits}f} ± {gain.paper_error:.{gain.digits}f}"
    ours = ""
    if gain.ours is not None:
        error = "" if gain.ours_error is None else f" ± {gain.ours_error:.3f}"
        ours = f"{gain.ours:+.3f}{error}"
    seeds = str(gain.seeds or "")
    return [gain.dataset, method, gain.over, paper, ours, seeds, gain.verdict, gain.note]


def gain_rows(gains: list[Gain]) -> list[str]:
    """The lines of a Markdown table."""
    rows = [HEADER, ["---"] * 3 + ["---:"] * 3 + ["---"] * 2, *map(gain_row, gains)]
    return [f"| {' | '.join(row)} |" for row in rows]
