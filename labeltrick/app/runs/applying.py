"""Applying a finished run to other files: predictions, and scores on newly known labels."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from ...io.tables import NodeIds, Problem, read_label_file, with_labels
from ...io.tables.places import require_opened_by_the_user
from ...io.tables.several_files import TableFiles, read_tables
from ...io.tables.sources import as_texts
from ...io.tables.targets import Target
from ...models.base.tables import unseen_levels
from .by_target import column_names, scores_by_target
from .fitting import open_run
from .folder import CONFIG, PREDICTIONS
from .models import features_for
from .predictions import prediction_frame, read_predictions, stored_rows
from .scores import NodeScores, score_rows, truth_rows
from .settings import FitSettings

_METRICS = {
    "classification": ["accuracy", "roc_auc", "log_loss"],
    "multilabel": ["subset_accuracy", "roc_auc", "average_precision", "f1_macro", "f1_micro"],
    "regression": ["rmse", "mae", "r2"],
}


def other_problem(settings: FitSettings, edges: Any, nodes: Any, unknown: str) -> Problem:
    """Read other files with the roles of the run. If a target column is missing or blank, there are
    no labels."""
    frame = None
    if nodes is not None:
        frame = read_tables(TableFiles.of(nodes, "--nodes", settings.text_format), [])[1]
    columns = None if frame is None else set(frame.columns)

    def there(name: str | None) -> str | None:
        return name if columns is None or name in columns else None

    target, ignored = settings.target, list(settings.ignore)
    if frame is not None and target is not None:
        names = (target,) if isinstance(target, str) else target
        if not all(there(name) and not _is_blank(frame[name]) for name in names):
            ignored += names
            target = None
    other = replace(
        settings,
        edges=settings.edges if edges is None else as_texts(edges),
        nodes=None if nodes is None else as_texts(nodes),
        target=target,
        split_column=there(settings.split_column),
        unknown_nodes=unknown,
        ignore=tuple(name for name in ignored if there(name)),
    )
    problem = other.read()
    if target is None and settings.labels is not None and settings.target is not None:
        args = (settings.labels, settings.id, settings.target, settings.task, settings.text_format)
        problem = with_labels(problem, *args)
    return problem


def _typed(nodes: Any) -> str:
    return shlex.join(word for file in as_texts(nodes) for word in ("--nodes", file))


def as_written(settings: FitSettings, written: dict[str, str | None] | None) -> FitSettings:
    """Settings with the delimiter, encoding and decimal sign that are given."""
    given = {name: value for name, value in (written or {}).items() if value is not None}
    return replace(settings, **given)  # type: ignore[arg-type]


def _is_blank(column: pl.Series) -> bool:
    if column.dtype.is_nested():
        return column.is_null().all()
    return column.cast(pl.String).str.strip_chars().replace("", None).is_null().all()


def apply_run(
    run: Any,
    edges: Any,
    nodes: Any,
    labels: Any,
    unknown: str,
    show: Callable[[str], None] = lambda line: None,
    written: dict[str, str | None] | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """Predictions and notes of a run for other files or its own. A run may come from strangers, so
    the files that its settings name are shown before they are read. ``written`` holds the
    delimiter, encoding and decimal sign of text files, as far as they are given."""
    folder, settings, model = open_run(run)
    settings = as_written(settings, written)
    given = {"edges": edges, "nodes": nodes, "labels": None}  # given labels add to the run's
    from_run = {name: getattr(settings, name) for name, path in given.items() if path is None}
    from_run = {name: path for name, path in from_run.items() if path is not None}
    if labels is not None:
        nodes = settings.nodes if nodes is None else nodes
    if edges is None and nodes is None:
        found = read_predictions(folder / PREDICTIONS, model)
        return found.drop("test", strict=False), []
    if nodes is None and settings.nodes is not None:
        raise ValueError(
            "`--nodes` must be given with --edges, because the run was fitted with a node table. "
            f"For other edges between the same nodes, pass {_typed(settings.nodes)}."
        )
    settings = replace(settings, task=model.targets_.task)
    for name, files in from_run.items():
        require_opened_by_the_user(str(folder / CONFIG), name, as_texts(files))
        for path in as_texts(files):
            show(f"{name} are read from '{path}', as in the run")
    problem = other_problem(settings, edges, nodes, unknown)
    if labels is not None and settings.target is not None:
        args = (str(labels), settings.id, settings.target, settings.task, settings.text_format)
        problem = with_labels(problem, *args)
    given = inputs_of(problem, settings, model)
    notes = problem.notes + _notes_on_categories(given["X"], model)
    with model._suspecting_its_file():
        predicted = NodeScores.of(model, model.inputs_of(**given))
        return prediction_frame(model, problem.ids, predicted), notes


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
        # Labels of validation and test nodes are not inputs here either.
        scored = [problem.split[part] for part in ("val", "test") if part in problem.split]
        hidden = np.concatenate([np.zeros(0, np.int64), *scored])
        y = labels.only(np.setdiff1d(np.flatnonzero(labels.known), hidden))
        if known.task == "classification":
            seen = {str(name) for name in known.classes}
            strange = sorted({v for v in y if v is not None} - seen)
            if strange:
                raise ValueError(
                    f"column {labels.name!r} must hold classes of the fit; got "
                    f"{strange[0]!r}. Fit again to add the class."
                )
        y = labels.as_y(y)
    elif known.task == "classification":
        y = np.full(problem.n_nodes, None)
    else:
        y = np.full((problem.n_nodes, known.Y.shape[1]), np.nan)
    return {"X": X, "y": y, "graph": problem.graph}


def _columns_of_fit(problem: Problem, X: Any, model: Any) -> Any:
    wanted = [column.name for column in _fitted_columns(X, model)]
    if not wanted:
        return X
    missing = [name for name in wanted if name not in X.columns]
    raw = {kind.name for kind in problem.kinds}
    absent = [name for name in missing if name not in raw]
    if absent:
        raise ValueError(
            f"the node table must have the columns of the fit; {absent[0]!r} is missing"
            + (f" (and {len(absent) - 1} more)" if len(absent) > 1 else "")
            + ". Add it, with blanks where it is not known."
        )
    # Codes and columns with at most one value in this table were left out.
    return X.with_columns(problem.left_out[name].alias(name) for name in missing)[wanted]


def _fitted_columns(X: Any, model: Any) -> list[Any]:
    """The columns of the fit, if the model was fitted to a table and gets one."""
    fitted = getattr(model, "features_", None)
    return [] if fitted is None or not hasattr(X, "columns") else fitted.given


def _notes_on_categories(X: Any, model: Any) -> list[str]:
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


def evaluate_run(
    run: Any, nodes: Any, target: Target | None, written: dict[str, str | None] | None = None
) -> dict[str, Any]:
    """Scores of a run on nodes whose labels have become known since. ``written`` is as in
    `apply_run`."""
    folder, settings, model = open_run(run)
    settings = as_written(settings, written)
    predictions = read_predictions(folder / PREDICTIONS, model)
    known_ids = predictions.to_series(0)
    ids, labels = read_label_file(
        nodes,
        settings.id,
        target or settings.target,
        model.targets_.task,
        settings.text_format,
        known_ids,
    )
    at = NodeIds(known_ids.cast(pl.String)).find(ids)
    if (at < 0).all():
        raise ValueError(f"`--nodes` must hold nodes of the run '{folder.path}'; it holds none.")
    seen = predictions["labeled"].to_numpy().copy()
    seen[model.validation_] = True  # these labels chose the model
    rows = np.flatnonzero(labels.known & (at >= 0) & ~seen[at])
    if not len(rows):
        raise ValueError(
            f"column {labels.name!r} must hold labels that the run did not know; it holds none."
        )
    found, task = stored_rows(predictions, model)[at[rows]], model.targets_.task
    names = column_names(model.targets_)
    if labels.listed:  # labels that the model does not know are never predicted
        more = tuple(name for name in labels.columns if name not in names)
        names += more
        found = np.column_stack([found, np.zeros((len(rows), len(more)))])
        Y = labels.in_columns(names).values[rows]
    else:
        _, Y = truth_rows(labels, rows, model)
    several = task == "regression" and len(names) > 1  # errors of different units are not averaged
    listed = ["r2"] if several else _METRICS[task]
    scores = {name: score_rows(name, Y, found, settings.seed) for name in listed}
    return {
        "run": str(folder.path),
        "nodes": len(rows),
        "scores": scores,
        "by_target": scores_by_target(task, names, Y, found),
        "notes": labels.notes,
    }
