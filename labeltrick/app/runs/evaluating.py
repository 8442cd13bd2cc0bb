"""Scoring the predictions of a run on labels that have become known since."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ...io.tables import NodeIds, read_label_file
from ...io.tables.labels import Labels
from ...io.tables.missing_values import notes_on_unused
from ...io.tables.several_files import ReadTable, TableFiles, read_tables
from ...io.tables.targets import Target
from .applying import as_written
from .by_target import column_names, scores_by_target
from .careful import missing_among
from .extending import some_of
from .fitting import open_run
from .folder import PREDICTIONS
from .predictions import read_predictions, read_written_predictions, stored_rows
from .scores import few_nodes_warning, score_rows, truth_rows
from .spellings import warnings_on_new_classes

_METRICS = {
    "classification": ["accuracy", "roc_auc", "log_loss"],
    "multilabel": ["subset_accuracy", "roc_auc", "average_precision", "f1_macro", "f1_micro"],
    "regression": ["rmse", "mae", "r2"],
}


def evaluate_run(
    run: Any,
    nodes: Any,
    target: Target | None,
    written: dict[str, Any] | None = None,
    predicted: Any = None,
) -> dict[str, Any]:
    """Scores of a run on nodes whose labels have become known since. ``written`` is as in
    `applying.apply_run`. ``predicted`` is a file of predictions that it made with the run; None
    scores those of the fit."""
    folder, settings, model = open_run(run)
    settings = as_written(settings, written)
    predictions = read_predictions(folder / PREDICTIONS, model)
    seen = predictions["labeled"].to_numpy().copy()
    seen[model.validation_] = True  # these labels chose the model
    fitted_ids = predictions.to_series(0)
    if predicted is not None:
        predictions, seen = _written_predictions(predicted, model, predictions, seen)
    known_ids = predictions.to_series(0)
    files = TableFiles.of(nodes, "--nodes", settings.text_format)
    table = ReadTable(*read_tables(files, []))
    ids, labels = read_label_file(
        table,
        settings.id,
        target or settings.target,
        model.targets_.task,
        settings.text_format,
        known_ids,
    )
    at = NodeIds(known_ids.cast(pl.String)).find(ids)
    if (at < 0).all():
        raise ValueError(_none_of_the_run(folder.path, predicted))
    rows = np.flatnonzero(labels.known & (at >= 0) & ~seen[at])
    if not len(rows):
        raise ValueError(
            f"column {labels.name!r} must hold labels that the run did not know; it holds none."
        )
    fitted = NodeIds(fitted_ids.cast(pl.String)).find(ids)
    asked = settings.missing if (written or {}).get("missing") else ()
    unused = notes_on_unused(asked, table.source.given_missing)
    strangers = _notes_on_strangers(ids.filter(at < 0).to_list(), predicted)
    scored = _scored(labels, rows, stored_rows(predictions, model)[at[rows]], model, settings.seed)
    scored["warnings"] += _other_labels(labels, ids, fitted, model)
    notes = [*labels.notes, *unused, *strangers]
    return {"run": str(folder.path), "nodes": len(rows), **scored, "notes": notes}


def _scored(
    labels: Labels, rows: np.ndarray, found: np.ndarray, model: Any, seed: int
) -> dict[str, Any]:
    """The scores of the predictions ``found`` for some rows of the labels, and warnings."""
    task = model.targets_.task
    _, Y, names = _label_rows(labels, rows, model)
    more = Y.shape[1] - found.shape[1]  # labels that the model does not know are never predicted
    found = np.column_stack([found, np.zeros((len(rows), more))]) if more else found
    several = task == "regression" and len(names) > 1  # errors of different units are not averaged
    listed = ["r2"] if several else _METRICS[task]
    scores = {name: score_rows(name, Y, found, seed) for name in listed}
    few = few_nodes_warning(scores[listed[0]])
    new = warnings_on_new_classes(labels, rows, model.targets_)
    return {
        "scores": scores,
        "by_target": scores_by_target(task, names, Y, found),
        "warnings": [*few, *new, *(missing_among(labels.values[rows], labels.name) if new else [])],
    }


def _label_rows(
    labels: Labels, rows: np.ndarray, model: Any
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """The rows that have labels, the labels, and their names. Of lists, labels that the model does
    not know come last."""
    names = column_names(model.targets_)
    if not labels.listed:
        return *truth_rows(labels, rows, model), names
    names += tuple(name for name in labels.columns if name not in names)
    return rows, labels.in_columns(names).values[rows], names


def _other_labels(labels: Labels, ids: pl.Series, fitted: np.ndarray, model: Any) -> list[str]:
    """A sentence about nodes whose label was another one in the fit; ``fitted`` is the node of the
    fit of each row, -1 for others."""
    known = model.targets_
    rows = np.flatnonzero(labels.known & (fitted >= 0))
    rows = rows[known.labeled[fitted[rows]]]
    rows, Y, _ = _label_rows(labels, rows, model)
    before = np.zeros_like(Y, dtype=np.float64)
    before[:, : known.Y.shape[1]] = known.Y[fitted[rows]]
    other = rows[~np.isclose(Y, before).all(axis=1)]
    if not len(other):
        return []
    what = "1 node has a label" if len(other) == 1 else f"{len(other):,} nodes have labels"
    it = "It is" if len(other) == 1 else "They are"
    return [
        f"{what} other than in the fit: {some_of(ids[other.tolist()].to_list())}. {it} not scored. "
        "If the labels of the fit were wrong, fit again"
    ]


def _written_predictions(
    file: Any, model: Any, stored: pl.DataFrame, seen: np.ndarray
) -> tuple[pl.DataFrame, np.ndarray]:
    """The predictions in a file, and which of them are of nodes whose labels the run has seen."""
    frame = read_written_predictions(file, model)
    known = stored.to_series(0).filter(pl.Series(seen)).cast(pl.String)
    ids = frame.to_series(0).cast(pl.String)
    return frame, (frame["labeled"] | ids.is_in(known.implode())).to_numpy()


def _none_of_the_run(run: Any, predicted: Any) -> str:
    if predicted is not None:
        return (
            f"`--nodes` must hold nodes of '{predicted}'; it holds none. Check the column of ids."
        )
    return (
        f"`--nodes` must hold nodes of the run '{run}'; it holds none. If they were predicted "
        "later, pass the file that predict wrote with --predictions."
    )


def _notes_on_strangers(ids: list[str], predicted: Any) -> list[str]:
    """Rows of nodes that the run does not have, which have no prediction that could be scored."""
    if not ids:
        return []
    what = "1 row is not a node" if len(ids) == 1 else f"{len(ids):,} rows are not nodes"
    where = "the run" if predicted is None else f"'{predicted}'"
    return [f"{what} of {where} and not scored: {some_of(ids)}"]
