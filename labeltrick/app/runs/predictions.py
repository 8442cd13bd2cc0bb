"""The table of predictions: one row a node, by its id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.table_errors import refusing_table
from ...evaluation.intervals import fewest_labels
from ...graph.graph import Graph

COVERAGE = 0.9


def reached(graph: Graph, labeled: np.ndarray) -> np.ndarray:
    """Whether any known label is in the same component as a node."""
    component = graph.components
    has = np.zeros(int(component.max(initial=-1)) + 1, bool)
    has[component[labeled]] = True
    return has[component]


def prediction_frame(model: Any, ids: pl.Series, inputs: dict[str, Any] | None = None) -> Any:
    """id, prediction, probability of each class (or an interval), labeled, reached.

    ``inputs`` (X, y, graph) predict for others than the nodes of the fit.
    """
    given = inputs or {}
    graph = given.get("graph", model.graph_)
    fitted = model.inputs_of(given.get("X"), given.get("y"), given.get("graph"))
    known = fitted.targets
    columns: dict[str, Any] = {"id": ids, "prediction": model.predict(**given)}
    if known.task == "regression":
        columns |= _interval(model, given)
    else:
        proba = model.predict_proba(**given)
        names = [str(name) for name in known.classes]
        columns |= {f"p_{name}": proba[:, k] for k, name in enumerate(names)}
        if known.task == "classification":
            columns["prediction"] = [str(value) for value in columns["prediction"].tolist()]
    labeled = np.flatnonzero(known.labeled)
    columns["labeled"] = known.labeled
    columns["reached"] = reached(graph, labeled)
    return pl.DataFrame(columns)


def read_predictions(path: Path, model: Any) -> pl.DataFrame:
    """The stored table of a run's model, if it is as `prediction_frame` made it."""
    with refusing_table(path, "the predictions of the run", "Copy the run again, or fit again."):
        frame = pl.read_parquet(path, glob=False)
        known = model.targets_
        numbers = []
        if known.task != "regression":
            numbers = [f"p_{name}" for name in known.classes]
        for name in ("id", "prediction", "labeled", "reached", *numbers):
            if name not in frame.columns:
                raise ValueError(f"no column {name!r}")
        if frame.height != model.graph_.n_nodes:
            raise ValueError(f"{frame.height} rows for {model.graph_.n_nodes} nodes")
        for name in numbers:
            if frame[name].dtype != pl.Float64 or not frame[name].is_finite().all():
                raise ValueError(f"column {name!r} without numbers")
        if known.task == "regression" and not frame["prediction"].dtype.is_numeric():
            raise ValueError("predictions that are not numbers")
        if frame["labeled"].dtype != pl.Boolean or frame.select(pl.nth(0)).null_count().item():
            raise ValueError("rows without an id or without a mark")
    return frame


def _interval(model: Any, given: dict[str, Any]) -> dict[str, np.ndarray]:
    if len(model.labeled_) <= fewest_labels(COVERAGE):
        return {}
    low, high = model.predict_interval(coverage=COVERAGE, **given).T
    return {"low": low, "high": high}
