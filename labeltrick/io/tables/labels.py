"""Labels, read from one column, and the split column."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from ..._utils.checks import check_choice
from .content import are_dates
from .placeholders import refuse_words_among_numbers
from .sources import TableName, refuse_cells
from .written_numbers import numbers_as_written

TASKS = ("auto", "classification", "multilabel", "regression")
_WORDS = {
    "train": ("train", "training"),
    "val": ("val", "valid", "validation", "dev"),
    "test": ("test", "testing"),
}
_PART_OF = {word: part for part, words in _WORDS.items() for word in words}
_FEW_CLASSES = 50
_MIXED = "Leave it blank if it means missing, or use --task classification if all are classes."
_PLAIN_WHOLE = r"^-?(0|[1-9][0-9]*)(\.0*)?$"  # not "01" or "1e0"


@dataclass(frozen=True)
class Labels:
    """Labels of the nodes: texts for classes (missing: None), floats for numbers (missing: NaN),
    and a matrix for several labels (0 or 1) or several numbers (missing: rows of NaN)."""

    name: str  # of the target, or of all targets
    task: str
    values: np.ndarray
    notes: list[str] = field(default_factory=list)
    columns: tuple[str, ...] = ()  # the names of the columns of a matrix
    listed: bool = False  # whether the labels were listed in one column

    @property
    def known(self) -> np.ndarray:
        """Mask of the nodes that have a label."""
        if self.values.ndim == 2:
            return ~np.isnan(self.values).any(axis=1)
        if self.task == "regression":
            return ~np.isnan(self.values)
        return np.array([value is not None for value in self.values])

    @property
    def target(self) -> str | tuple[str, ...]:
        """The column of the table, or several."""
        return self.columns if self.columns and not self.listed else self.name

    def as_y(self, values: np.ndarray) -> Any:
        """Values as estimators take them: a matrix as a table with named columns."""
        return pl.DataFrame(values, schema=list(self.columns)) if self.columns else values

    def in_columns(self, columns: tuple[str, ...]) -> Labels:
        """The same labels with the columns in this order. Labels that no list names are 0."""
        if self.columns == columns:
            return self
        place = {name: k for k, name in enumerate(columns)}
        odd = [name for name in self.columns if name not in place]
        if odd or not (self.listed or set(columns) == set(self.columns)):
            raise ValueError(
                f"column {self.name!r} must hold labels of the fit; got "
                f"{(odd or self.columns)[0]!r}. Fit again to add the label."
            )
        values = np.where(
            self.known[:, None], 0.0, np.full((len(self.values), len(columns)), np.nan)
        )
        values[:, [place[name] for name in self.columns]] = self.values
        return replace(self, values=values, columns=columns)

    def only(self, nodes: np.ndarray) -> np.ndarray:
        """The labels of the given nodes; those of all other nodes are missing."""
        found = missing_labels(self, len(self.values))
        found[nodes] = self.values[nodes]
        return found


def missing_labels(like: Labels, n_nodes: int) -> np.ndarray:
    """Missing labels of all nodes, of the same type as the given ones."""
    blank: Any = None if like.task == "classification" else np.nan
    return np.full((n_nodes, *like.values.shape[1:]), blank, dtype=like.values.dtype)


def read_labels(file: TableName, series: pl.Series, task: str) -> Labels:
    """The labels of a column. With task "auto", the values decide whether they are classes. Classes
    keep their names; numbers may be written like "$1,025"."""
    check_choice("task", task, ("auto", "classification", "regression"))
    if task == "classification":
        return _read_labels(file, series, task)
    refuse_words_among_numbers(file, series, _MIXED)
    numbers, note = numbers_as_written(file, series, required=task == "regression")
    labels = _read_labels(file, numbers, task)
    if labels.task == "classification" and numbers.dtype != series.dtype:
        return _read_labels(file, series, "classification")
    return replace(labels, notes=[note, *labels.notes]) if note else labels


def _read_labels(file: TableName, series: pl.Series, task: str) -> Labels:
    name = series.name
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.null_count() == len(series):
        raise ValueError(f"`{file}`, column {name!r} must hold labels; it is empty.")
    numbers = as_numbers(series)
    n_distinct = series.drop_nulls().n_unique()
    notes: list[str] = []
    if task == "auto":
        task = _settle(series, numbers, n_distinct)
        if task == "regression" and numbers is not None and _whole(numbers):
            notes.append(
                f"'{name}' holds {n_distinct:,} different whole numbers and is treated as "
                "regression; pass --task classification if they are classes"
            )
    if task == "regression":
        if numbers is None:
            texts = series.cast(pl.Float64, strict=False).is_null() & series.is_not_null()
            bad = texts if texts.any() else series.is_not_null()  # booleans and dates
            if (bad | series.is_null()).all():
                raise ValueError(
                    f"`--task regression` must have a column of numbers; {name!r} of '{file}' "
                    f"holds none, but {_held(series)} such as {series.drop_nulls()[0]!r}. Use "
                    "--task classification, or name another column with --target."
                )
            advice = "Correct it, leave it blank, or use --task classification."
            refuse_cells(file, series, bad, "be a number for --task regression", f". {advice}")
        assert numbers is not None
        refuse_cells(file, numbers, numbers.is_infinite(), "be finite", ". Leave it blank.")
        return Labels(name, task, numbers.to_numpy().astype(np.float64), notes)
    return Labels(name, task, np.array(_class_names(series, numbers).to_list(), object), notes)


def _held(series: pl.Series) -> str:
    if series.dtype == pl.Boolean:
        return "true and false,"
    return "dates" if are_dates(series.drop_nulls()) else "texts"


def _class_names(series: pl.Series, numbers: pl.Series | None) -> pl.Series:
    """Classes as text. Whole numbers lose their ".0", which tables with blanks often add. If one of
    them has leading zeros, all are names and stay as they are: "01" is not "1"."""
    if numbers is None or not _whole(numbers):
        return series.cast(pl.String)
    if series.dtype == pl.String and not series.drop_nulls().str.contains(_PLAIN_WHOLE).all():
        return series
    return numbers.cast(pl.Int64).cast(pl.String)


def as_numbers(series: pl.Series) -> pl.Series | None:
    """A column of numbers, which may be written as texts; None if it holds anything else."""
    if series.dtype == pl.Boolean or not (series.dtype.is_numeric() or series.dtype == pl.String):
        return None
    found = series.cast(pl.Float64, strict=False)
    return found if found.null_count() == series.null_count() else None


def _whole(numbers: pl.Series) -> bool:
    known = numbers.drop_nulls()
    return bool(((known == known.round()) & (known.abs() < 2**53)).all())


def _settle(series: pl.Series, numbers: pl.Series | None, n_distinct: int) -> str:
    # Codes such as 01067 are names that consist of digits.
    codes = series.dtype == pl.String and series.str.contains(r"^-?0[0-9]+$").any()
    if numbers is None or codes:
        return "classification"
    n_known = len(series) - series.null_count()
    few = n_distinct <= 10 or (n_distinct <= _FEW_CLASSES and n_known >= 2 * n_distinct)
    return "classification" if _whole(numbers) and few else "regression"


def read_split(file: TableName, series: pl.Series, labels: Labels | None) -> dict[str, np.ndarray]:
    """The labeled nodes of each part. A node with a blank cell is in no part: its label is not
    used."""
    texts = series.cast(pl.String).str.strip_chars().str.to_lowercase()
    parts = texts.replace_strict(_PART_OF, default="?", return_dtype=pl.String)
    unknown = series.is_not_null() & (parts == "?")
    refuse_cells(file, series, unknown, "be train, val, test or blank", ".")
    known = np.ones(len(series), bool) if labels is None else labels.known
    names = parts.to_numpy()
    return {part: np.flatnonzero((names == part) & known) for part in _WORDS}
