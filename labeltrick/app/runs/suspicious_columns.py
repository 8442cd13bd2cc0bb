"""Columns that may give the answer away, found before a score is believed.

A column gives the answer away if it predicts the target on the labeled rows and there is strong
evidence that it will not do so elsewhere: it is blank or constant in the rows without a label, its
dates end where the labels end, it numbers the rows in the order of the target, or it is a copy of
the target and no other row shows it. A column that predicts well and looks the same in all rows may
be an honest feature, so it is only worth a look.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from ...io.tables import Problem
from ...io.tables.kinds import DATE
from .column_evidence import (
    NOTHING,
    Alone,
    Contrast,
    contrast,
    is_copy,
    numbers_rows,
    predicts_alone,
    tells,
    words_alone,
)
from .settings import labels_of
from .spellings import folded

GIVES_AWAY, WORTH_A_LOOK = "gives the answer away", "worth a look"
_ENOUGH_ROWS = 5_000  # labeled rows that a column is tested on
_MOST_COLUMNS = 50  # that are tested; of more, those that tell most about the target
_MOST_TARGETS = 5  # that the words of a text are tested on
_FEWEST_LABELS = 10
_DAY = 86_400_000_000  # microseconds
_FEWEST_OTHERS = 20  # with fewer unlabeled rows, a copy of the target cannot be compared
# Skills are shares of the errors of a guess that a column removes, out of fold.
_TELLS, _ORDERS, _NEAR_ONE = 0.65, 0.8, 0.95
_SURE_NEAR_ONE = 0.75  # lower bound of a skill near one, so that few labels are not a coincidence


@dataclass(frozen=True)
class SuspiciousColumn:
    """A column that gives the answer away or is worth a look, and why."""

    column: str
    verdict: str
    reason: str
    advice: str

    @property
    def gives_away(self) -> bool:
        return self.verdict == GIVES_AWAY

    def to_json(self) -> dict[str, str]:
        """As plain values, for ``metrics.json``; ``SuspiciousColumn(**values)`` restores it."""
        return asdict(self)

    def __str__(self) -> str:
        verdict = self.verdict if self.gives_away else f"is {self.verdict}"
        return f"column {self.column!r} {verdict}: {self.reason}. {self.advice}"


@dataclass(frozen=True)
class Rows:
    """Masks of rows: ``used`` (a fit uses their labels), ``known`` (they have a label, used or
    not), ``listed`` (they are in the table of columns)."""

    used: np.ndarray
    known: np.ndarray
    listed: np.ndarray

    @property
    def others(self) -> dict[str, np.ndarray]:
        """Rows to compare the used ones with, by their names in sentences."""
        found = {"rows without a label": self.listed & ~self.known}
        if (self.known & ~self.used & self.listed).any():
            found["rows whose label is not used"] = self.listed & ~self.used
        return found


def used_labels(problem: Problem) -> np.ndarray:
    """Mask of the labels that a fit would use: those of training and validation nodes."""
    known = labels_of(problem).known
    if not problem.split:
        return known
    mask = np.zeros_like(known)
    mask[np.concatenate([problem.split["train"], problem.split["val"]])] = True
    return known & mask


def columns_to_doubt(problem: Problem) -> list[SuspiciousColumn]:
    """The suspicious columns of a problem. Labels of test nodes are not looked at."""
    labels = labels_of(problem)
    if problem.X is None:
        return []
    listed = np.ones(problem.n_nodes, bool)
    listed[problem.unlisted] = False
    rows = Rows(used_labels(problem), labels.known, listed)
    times = {kind.name for kind in problem.kinds if kind.role == "time" or kind.kind == DATE}
    names = labels.columns or (labels.name,)
    return suspicious_columns(problem.X, labels.values, labels.task, rows, names, times)


def suspicious_columns(
    X: Any,
    values: np.ndarray,
    task: str,
    rows: Rows,
    targets: Sequence[str],
    times: Collection[str] = (),
) -> list[SuspiciousColumn]:
    """The suspicious columns of a feature table, those that give the answer away first.

    Parameters
    ----------
    X : polars.DataFrame, array or sparse matrix of shape (n, p)
    values : ndarray of shape (n,) or (n, c)
        The targets; only those of ``rows.used`` are read. If there are several, each column is
        tested on the one that it tells most about.
    task : {"classification", "multilabel", "regression"}
    rows : Rows
    targets : sequence of str
        Names of the targets, for sentences.
    times : collection of str, default=()
        Names of the columns that are dates.
    """
    nodes = np.flatnonzero(rows.used & rows.listed)
    if len(nodes) > _ENOUGH_ROWS:
        nodes = np.random.default_rng(0).choice(nodes, _ENOUGH_ROWS, replace=False)
    regression = task == "regression"
    known = _known_targets(values[nodes], regression, targets)
    if not known:
        return []
    few = len(nodes) < _FEWEST_LABELS  # too few to learn from, but rows can still be compared
    names, column = _columns_of(X)
    texts = _texts_of(X)
    places: Any = range(len(names))
    if len(names) > _MOST_COLUMNS:
        told = [np.inf if names[k] in texts else _most_told(column(k)[nodes], known, regression)[1]
                for k in places]  # fmt: skip
        places = np.sort(np.argsort(told, kind="stable")[-_MOST_COLUMNS:]).tolist()
    found = []
    for k in places:
        x = column(k)
        text = texts.get(names[k])
        target, _ = _most_told(x[nodes], known, regression)
        if text is not None:
            kind, alone = "", NOTHING
            if not few:
                target, alone = _words_of_most(text[nodes].to_list(), known, regression)
        else:
            kind = "date" if names[k] in times else "id" if numbers_rows(x[rows.listed]) else ""
            alone = NOTHING if few else predicts_alone(x[nodes], known[target], regression)
        y = known[target]
        gaps = [contrast(x, rows.used & rows.listed, there, words, len(names))
                for words, there in rows.others.items()]  # fmt: skip
        copied = is_copy(x[nodes], y, regression) and _incomparable(rows)
        late = _outside(x, rows) if kind == "date" else None
        evidence = _Evidence(kind, alone, [gap for gap in gaps if gap], copied, late)
        said = _judge(evidence, repr(target), _incomparable(rows))
        if said is not None:
            verdict, reason = said
            found.append(SuspiciousColumn(names[k], verdict, reason, _advice(X, names[k], verdict)))
    return sorted(found, key=lambda entry: not entry.gives_away)


def _known_targets(
    values: np.ndarray, regression: bool, targets: Sequence[str]
) -> dict[str, np.ndarray]:
    """Numbers or class codes of each target that has at least two values."""
    columns = [values] if values.ndim == 1 else list(values.T)
    known = {
        name: column if regression else _codes(column)
        for name, column in zip(targets, columns, strict=True)
    }
    return {name: y for name, y in known.items() if len(np.unique(y)) > 1}


def _most_told(x: np.ndarray, known: dict[str, np.ndarray], regression: bool) -> tuple[str, float]:
    """The target that a column tells most about, and how much."""
    told = {name: tells(x, y, regression) for name, y in known.items()}
    name = max(told, key=lambda name: told[name])
    return name, told[name]


def _words_of_most(
    text: list[Any], known: dict[str, np.ndarray], regression: bool
) -> tuple[str, Alone]:
    """The target that a text predicts best, of the first few, and how well."""
    some = list(known.items())[:_MOST_TARGETS]
    found = {name: words_alone(text, y, regression) for name, y in some}
    name = max(found, key=lambda name: found[name].low)
    return name, found[name]


def _codes(values: np.ndarray) -> np.ndarray:
    """Class codes. Spellings of one class count as one, or no column could tell them apart."""
    names = values.astype(str)
    alike = np.array([folded(name) for name in names.tolist()], dtype=object).astype(str)
    return np.unique(alike if len(set(alike)) > 1 else names, return_inverse=True)[1]


def _columns_of(X: Any) -> tuple[list[str], Callable[[int], np.ndarray]]:
    """Names of the columns, and a function that returns one as numbers, NaN where missing."""
    if hasattr(X, "get_columns"):

        def named(k: int) -> np.ndarray:
            series = X.to_series(k)
            if series.dtype.is_temporal():
                return (series.cast(pl.Datetime("us")).dt.timestamp("us") / _DAY).to_numpy()
            if series.dtype == pl.String:
                series = series.cast(pl.Categorical)
            series = series.to_physical() if series.dtype == pl.Categorical else series
            return series.cast(pl.Float64).to_numpy()

        return list(X.columns), named
    names = [f"column {k}" for k in range(X.shape[1])]
    if sp.issparse(X):
        by_column = sp.csc_matrix(X)
        return names, lambda k: by_column[:, [k]].toarray()[:, 0].astype(np.float64)
    array = np.asarray(X)
    return names, lambda k: array[:, k].astype(np.float64)


def _texts_of(X: Any) -> dict[str, pl.Series]:
    """The columns of text, by name."""
    if not hasattr(X, "get_columns"):
        return {}
    return {series.name: series for series in X.get_columns() if series.dtype == pl.String}


def _incomparable(rows: Rows) -> bool:
    return int((rows.listed & ~rows.known).sum()) < _FEWEST_OTHERS


@dataclass(frozen=True)
class _Evidence:
    kind: str  # "id", "date" or ""
    alone: Alone
    gaps: list[Contrast]
    copied: bool
    late: str | None  # the rows whose dates lie outside of the labeled ones


def _judge(found: _Evidence, target: str, incomparable: bool) -> tuple[str, str] | None:
    """Verdict and reason, or None if nothing speaks against the column."""
    alone = found.alone
    how_well = f"alone it predicts {target} with {alone.words} on labeled rows that were left out"
    for gap in found.gaps:
        if (gap.is_total or gap.is_large) and alone.low >= _TELLS:
            return GIVES_AWAY, f"{how_well}, but it is {gap.words}"
    if found.kind == "id" and alone.low >= _ORDERS:
        order = "every value is a different whole number, as in an id or a row number"
        return GIVES_AWAY, f"{order}, and {how_well}"
    if found.late is not None and alone.low >= _ORDERS:
        return GIVES_AWAY, f"{how_well}, but the {found.late} have earlier or later dates"
    if found.copied:
        return GIVES_AWAY, (
            f"it is a copy of {target} in other words or units, and there are no rows without a "
            "label that show whether it is known before the label is"
        )
    if alone.skill >= _NEAR_ONE and alone.low >= _SURE_NEAR_ONE:
        same = "" if incomparable else ", and rows without a label do not differ"
        other = f", and it is {found.gaps[0].words}" if found.gaps else same
        return WORTH_A_LOOK, (
            f"{how_well}{other}. An honest column can be that good; a column that was derived "
            f"from {target} makes the score worthless"
        )
    if found.kind == "date" and alone.low >= _ORDERS:
        return WORTH_A_LOOK, f"{how_well}, so the order of the dates almost decides {target}"
    for gap in found.gaps:
        if gap.is_total and alone.skill >= _TELLS:
            return WORTH_A_LOOK, f"{how_well}, but it is {gap.words}; few labels are no evidence"
    wide = [gap for gap in found.gaps if gap.is_wide]
    if wide:
        return WORTH_A_LOOK, f"it is {wide[0].words}, so the score may not hold there"
    return None


def _outside(x: np.ndarray, rows: Rows) -> str | None:
    """The rows whose dates are almost all before the first or after the last labeled one."""
    here = x[rows.used & rows.listed & ~np.isnan(x)]
    if not len(here):
        return None
    low, high = here.min(), here.max()
    for words, there in rows.others.items():
        dates = x[there][~np.isnan(x[there])]
        if len(dates) >= _FEWEST_OTHERS and np.mean((dates < low) | (dates > high)) >= 0.9:
            return words
    return None


def _advice(X: Any, name: str, verdict: str) -> str:
    condition = "" if verdict == GIVES_AWAY else "If it should not be used: "
    if hasattr(X, "get_columns"):
        what = f"pass --ignore {shlex.quote(name)}"
    else:
        what = "remove it from the file (columns are counted from 0)"
    return f"{condition}{what}" if condition else what[0].upper() + what[1:]
