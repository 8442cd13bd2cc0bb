"""What a fitted model gets to predict from: columns as the fit took them, labels and graph."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from ...io.tables import ColumnKind, NodeIds, Problem
from ...io.tables.edges import same_kind
from ...io.tables.kinds import FALSE, TRUE, note_on_columns
from ...io.tables.placeholders import without_placeholders
from ...io.tables.several_files import ReadTable
from ...io.tables.sources import TableName, refuse_cells
from ...io.tables.written_numbers import numbers_as_written
from ...models.base.date_columns import DateColumns
from ...models.base.tables import Column, unseen_levels
from .models import features_for
from .settings import FitSettings
from .spellings import did_you_mean, folded
from .written_alike import read_dates

_NEW = "not in the fit"


def inputs_of(problem: Problem, settings: FitSettings, model: Any) -> dict[str, Any]:
    """X, y and graph to predict from. Columns that are constant only here are kept."""
    X = features_for(settings, problem)
    if X is not None:
        X = _columns_of_fit(problem, X, model)
    known = model.targets_
    labels = problem.labels
    if labels is not None:
        if labels.columns:
            labels = labels.in_columns(known.columns)
        y = labels.only(_nodes_with_inputs(problem, model)) if problem.split else labels.values
        if known.task == "classification":
            seen = {str(name) for name in known.classes}
            strange = sorted({v for v in y if v is not None} - seen)
            if strange:
                hint = did_you_mean(strange[0], known.classes)
                raise ValueError(
                    f"column {labels.name!r} must hold classes of the fit; got "
                    f"{strange[0]!r}.{hint or ' Fit again to add the class.'}"
                )
        y = labels.as_y(y)
    elif known.task == "classification":
        y = np.full(problem.n_nodes, None)
    else:
        y = np.full((problem.n_nodes, known.Y.shape[1]), np.nan)
    # By id, so that what each fold left out is known for the nodes of the fit.
    return {"X": X, "y": y, "graph": problem.named_graph}


def _nodes_with_inputs(problem: Problem, model: Any) -> np.ndarray:
    """The nodes whose labels are inputs of predictions; those of test nodes never are."""
    split = problem.split
    if not model.uses_validation_labels:
        return split["train"]
    return np.concatenate([split["train"], split.get("val", split["train"][:0])])


def _columns_of_fit(problem: Problem, X: Any, model: Any) -> Any:
    wanted = [column.name for column in _fitted_columns(X, model)]
    if not wanted:
        return X
    missing = [name for name in wanted if name not in X.columns]
    raw = {kind.name for kind in problem.kinds}
    _require([name for name in missing if name not in raw], "the node table", raw)
    # Codes and columns with at most one value in this table were left out.
    return X.with_columns(problem.left_out[name].alias(name) for name in missing)[wanted]


def _require(missing: list[str], table: str, there: Collection[str]) -> None:
    if missing:
        like = [name for name in there if folded(name) == folded(missing[0])]
        add = f"Rename {like[0]!r}, or add" if like else "Add"
        them = "it" if len(missing) == 1 else "them"
        verb = "is" if len(missing) == 1 else "are"
        names = ", ".join(map(repr, missing[:10])) + (", …" if len(missing) > 10 else "")
        raise ValueError(
            f"{table} must have the columns of the fit; {names} {verb} missing. {add} {them}, "
            "with blanks where a value is not known."
        )


def require_fitted_columns(new: ReadTable, model: Any) -> None:
    """Raise an error if a table of new nodes lacks columns that the model uses."""
    wanted = [column.name for column in _fitted_columns(new.frame, model)]
    there = new.frame.columns
    _require([name for name in wanted if name not in there], f"`{new.source}`", there)


def as_fitted(problem: Problem, table: ReadTable, model: Any) -> Problem:
    """The problem with categories, booleans and numbers as in the fit, where the values suggest
    another type here."""
    X, frame = problem.X, table.frame
    if X is not None and not isinstance(X, pl.DataFrame):
        return problem
    made, notes = [], list(problem.notes)
    for column in _fitted_columns(frame, model):
        name = column.name
        if name not in frame.columns:
            continue
        if isinstance(column, DateColumns):
            read_dates(table.source, frame[name])
        if not isinstance(column, Column):
            continue
        here = None if X is None or name not in X.columns else X[name]
        if here is None or not _is_like(column, here):
            cells = frame[name]
            if column.levels is None:
                cells, said = without_placeholders(cells, known=True)
                notes += [note for note in said if note not in notes]
            values = _as_in_fit(table.source, cells, column)
            made.append(pl.concat([values, values.clear(1)])[_rows_of_nodes(problem, frame)])
    if not made:
        return problem
    X = pl.DataFrame(made) if X is None else X.with_columns(made)
    return replace(problem, X=X, notes=notes)


def _is_like(column: Column, values: pl.Series) -> bool:
    """Whether a column has the type that it had in the fit."""
    if column.levels is None:
        return values.dtype.is_numeric()
    return (values.dtype == pl.Boolean) == _is_truth(column) and not values.dtype.is_numeric()


def _is_truth(column: Column) -> bool:
    return set(column.levels or ()) == {"False", "True"}


def _rows_of_nodes(problem: Problem, frame: pl.DataFrame) -> np.ndarray:
    """The row of each node in the table; after the last row where it has none."""
    wanted, there = same_kind(problem.ids, frame[problem.ids.name])
    rows = NodeIds(there).find(wanted)
    return np.where(rows < 0, frame.height, rows)


def _as_in_fit(table: TableName, values: pl.Series, column: Column) -> pl.Series:
    if column.levels is None:
        if not values.dtype.is_numeric():
            numbers, _ = numbers_as_written(table, values.cast(pl.String))
            numbers = numbers.cast(pl.Float64, strict=False)
            bad = numbers.is_null() & values.is_not_null()
            refuse_cells(table, values, bad, "be a number, as in the fit", ". Correct it.")
            values = numbers
        return values.cast(pl.Float64)
    if _is_truth(column) and values.dtype != pl.Boolean:
        words = values.cast(pl.String).str.strip_chars().str.to_lowercase()
        true = words.is_in(list(TRUE))
        bad = values.is_not_null() & ~true & ~words.is_in(list(FALSE))
        refuse_cells(table, values, bad, "be true or false, as in the fit", ". Correct it.")
        return true
    return values if values.dtype == pl.Boolean else values.cast(pl.String).cast(pl.Categorical)


def notes_as_fitted(problem: Problem, X: Any, model: Any) -> list[str]:
    """The notes of a problem, with the columns that the model uses: in these rows, a column may
    look like codes or a constant, and others may not have been in the fit."""
    fitted = {column.name for column in _fitted_columns(X, model)}
    if not fitted:
        return problem.notes

    def as_used(kind: ColumnKind) -> ColumnKind:
        if kind.name in fitted:
            return kind if kind.role != "left out" else replace(kind, role="feature")
        return kind if kind.role != "feature" else replace(kind, role="left out", note=_NEW)

    here = note_on_columns(problem.kinds)
    said = note_on_columns(as_used(kind) for kind in problem.kinds)
    return [said if note == here else note for note in problem.notes]


def _fitted_columns(X: Any, model: Any) -> list[Any]:
    """The columns of the fit, if the model was fitted to a table and gets one."""
    fitted = getattr(model, "features_", None)
    return [] if fitted is None or not hasattr(X, "columns") else fitted.given


def notes_on_categories(X: Any, model: Any) -> list[str]:
    """Sentences about categories that the fit has not seen."""
    notes = []
    for column in _fitted_columns(X, model):
        levels = getattr(column, "levels", None)
        strange = [] if levels is None else unseen_levels(column, X[column.name])
        if strange:
            more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
            notes.append(
                f"column {column.name!r} holds a category that the fit has not seen, which counts "
                f"as missing: {strange[0]!r}{more}"
            )
    return notes
