"""What is predicted: one column of labels, one column of lists, or several columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from ..._utils.checks import check_choice
from .column_names import is_target_name
from .kinds import DATE, FALSE, TEXT, TRUE, ColumnKind, find_column
from .label_lists import holds_lists, read_lists
from .labels import TASKS, Labels, as_numbers, read_labels
from .placeholders import refuse_words_among_numbers, without_placeholders
from .sources import TableName, refuse_cells
from .written_numbers import numbers_as_written

Target = str | tuple[str, ...]
_BITS, _NUMBERS, _LISTS, _DATES, _TEXT = "0/1", "numbers", "lists", "dates", "text"


def likely_targets(kinds: Iterable[ColumnKind]) -> list[ColumnKind]:
    """The columns that may be the one to predict, the likeliest first: those that are named so, and
    those that are blank in some rows; all features if there are no such columns."""
    features = [k for k in kinds if k.role == "feature" and k.kind not in (TEXT, DATE)]
    some = [k for k in features if is_target_name(k.name) or k.n_missing] or features
    return sorted(some, key=lambda k: (not is_target_name(k.name), -k.n_missing))


def target_columns(file: TableName, frame: pl.DataFrame, target: Target) -> tuple[str, ...]:
    """The columns that ``--target`` names. Names may be separated by commas, unless the whole text
    is the name of a column."""
    names: list[str] = []
    for entry in (target,) if isinstance(target, str) else target:
        parts = [part.strip() for part in entry.split(",") if part.strip()]
        whole = entry in frame.columns or len(parts) < 2
        names += [
            find_column(file, frame, name, "--target") for name in ([entry] if whole else parts)
        ]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ValueError(f"`--target` must name each column once; got {name!r} twice.")
    return tuple(names)


def read_targets(file: TableName, frame: pl.DataFrame, names: tuple[str, ...], task: str) -> Labels:
    """The labels of one or several columns."""
    check_choice("--task", task, TASKS)
    found = [without_placeholders(frame[name], known=task == "regression") for name in names]
    labels = _read_columns(file, [series for series, _ in found], task)
    notes = [note for _, said in found for note in said]
    return replace(labels, notes=[*notes, *labels.notes]) if notes else labels


def _read_columns(file: TableName, columns: list[pl.Series], task: str) -> Labels:
    if len(columns) > 1:
        return _read_several(file, columns, task)
    series = columns[0]
    if task == "multilabel":
        if not isinstance(series.dtype, pl.List | pl.Array) and _kind(series) == _BITS:
            raise ValueError(
                f"`--task multilabel` must have several 0/1 columns, or one column of lists; "
                f"{series.name!r} is one 0/1 column. Name the others too (--target a,b,c), or use "
                "--task classification."
            )
        return read_lists(file, series)
    if holds_lists(series):
        if task != "auto":
            raise ValueError(
                f"`--task {task}` must have one value per row; column {series.name!r} of '{file}' "
                "holds lists. Use --task multilabel."
            )
        return read_lists(file, series)
    return read_labels(file, series, task)


def stored_labels(file: TableName, y: Any, task: str) -> Labels:
    """The labels of a file that holds an array, in which −1 marks a missing whole number. The
    columns of a matrix are named by their numbers."""
    matrix = np.asarray(y)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    names = [str(k) for k in range(matrix.shape[1])] if matrix.shape[1] > 1 else ["label"]
    columns = [pl.Series(name, matrix[:, k]) for k, name in enumerate(names)]
    columns = [s.replace(-1, None) if s.dtype.is_integer() else s for s in columns]
    return read_targets(file, pl.DataFrame(columns), tuple(names), task)


def _read_several(file: TableName, columns: list[pl.Series], task: str) -> Labels:
    check_choice("--task", task, TASKS)
    columns = [s.fill_nan(None) if s.dtype.is_float() else s for s in columns]
    for series in columns:
        if series.null_count() == len(series):
            raise ValueError(f"`{file}`, column {series.name!r} must hold labels; it is empty.")
    columns, notes = _as_written(file, columns, task)
    task = _task_of(file, columns, task)
    one = _bits if task == "multilabel" else _numbers
    values = np.column_stack([one(file, series) for series in columns])
    names = tuple(series.name for series in columns)
    name = ", ".join(names)
    missing = np.isnan(values).any(axis=1)
    partly = int((missing & ~np.isnan(values).all(axis=1)).sum())
    if missing.all():
        raise ValueError(
            f"`{file}` must have rows with a value in each of the columns {_listed(names)}; it has "
            "none. Fill in the blanks, or name fewer columns."
        )
    values[missing] = np.nan
    if partly:
        what = "1 row counts" if partly == 1 else f"{partly:,} rows count"
        notes.append(
            f"{what} as unlabeled, because only some of the columns {_listed(names)} are filled in"
        )
    return Labels(name, task, values, notes, names)


def _as_written(
    file: TableName, columns: list[pl.Series], task: str
) -> tuple[list[pl.Series], list[str]]:
    """Columns of numbers that are written like "$1,025", and notes on them."""
    if task == "multilabel":
        return columns, []
    for series in columns:
        refuse_words_among_numbers(file, series, "Correct it, or leave it blank.")
    found = [numbers_as_written(file, series) for series in columns]
    return [series for series, _ in found], [note for _, note in found if note]


def _task_of(file: TableName, columns: list[pl.Series], task: str) -> str:
    if task == "classification":
        raise ValueError(
            f"`--task classification` must have one target; got {len(columns)}. Use --task "
            "multilabel for several 0/1 columns, or fit one model per column."
        )
    kinds = [_kind(series) for series in columns]
    if task == "auto" and set(kinds) == {_BITS}:
        return "multilabel"
    if task == "auto" and set(kinds) == {_NUMBERS}:
        return "regression"
    numeric = all(as_numbers(series) is not None for series in columns)
    fits = set(kinds) == {_BITS} if task == "multilabel" else numeric
    if task != "auto" and fits:
        return task
    shown = ", ".join(f"{s.name!r} ({kind})" for s, kind in zip(columns, kinds, strict=True))
    must = {"multilabel": "hold 0/1", "regression": "hold numbers"}.get(
        task, "be all 0/1 or all numbers"
    )
    advice = "Name other columns, or fit one model per column"
    if numeric and task != "regression":
        advice = "Pass --task regression if all of them are numbers, or name other columns"
    raise ValueError(f"`{file}`, the columns of --target must {must}; got {shown}. {advice}.")


def _kind(series: pl.Series) -> str:
    if series.dtype == pl.Boolean:
        return _BITS
    numbers = as_numbers(series)
    if numbers is not None:
        return _BITS if numbers.drop_nulls().is_in([0.0, 1.0]).all() else _NUMBERS
    if isinstance(series.dtype, pl.List | pl.Array):
        return _LISTS
    if series.dtype.is_temporal():
        return _DATES
    if series.dtype != pl.String:
        return str(series.dtype)
    words = {str(word).strip().lower() for word in series.drop_nulls().unique()}
    return _BITS if words <= TRUE | FALSE else _TEXT


def _bits(file: TableName, series: pl.Series) -> np.ndarray:
    if series.dtype == pl.String and as_numbers(series) is None:
        series = series.str.strip_chars().str.to_lowercase().is_in(list(TRUE))
    return series.cast(pl.Float64).to_numpy().astype(np.float64)


def _numbers(file: TableName, series: pl.Series) -> np.ndarray:
    numbers = as_numbers(series)
    assert numbers is not None
    refuse_cells(file, numbers, numbers.is_infinite(), "be finite", ". Leave it blank.")
    return numbers.to_numpy().astype(np.float64)


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
