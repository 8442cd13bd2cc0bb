"""The table of predictions: one row per node, identified by its id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.table_errors import refusing_table
from ...evaluation.intervals import fewest_labels, interval_radius
from ...graph.graph import Graph
from .scores import NodeScores

COVERAGE = 0.9


def reached(graph: Graph, labeled: np.ndarray) -> np.ndarray:
    """Whether the component of each node contains a label."""
    component = graph.components
    has = np.zeros(int(component.max(initial=-1)) + 1, bool)
    has[component[labeled]] = True
    return has[component]


def prediction_frame(model: Any, ids: pl.Series, predicted: NodeScores) -> pl.DataFrame:
    """The ids under the name of their column ("id" if another column has that name), prediction,
    p_<class> (or low and high), labeled and reached."""
    known = predicted.inputs.targets
    columns: dict[str, Any] = {"prediction": predicted.predictions}
    if known.classes is None:
        columns |= _interval(model, predicted.rows[:, 0])
    else:
        columns |= {f"p_{n}": predicted.probabilities[:, k] for k, n in enumerate(known.classes)}
        columns["prediction"] = [str(value) for value in predicted.predictions.tolist()]
    columns["labeled"] = known.labeled
    columns["reached"] = reached(predicted.inputs.graph, np.flatnonzero(known.labeled))
    id_name = "id" if ids.name in {*columns, "low", "high", "test"} else ids.name
    return pl.DataFrame({id_name: ids, **columns})


def read_predictions(path: Path, model: Any) -> pl.DataFrame:
    """Read the table of a run, and check that `prediction_frame` can have made it."""
    with refusing_table(path, "the predictions of the run", "Copy the run again, or fit again."):
        frame = pl.read_parquet(path, glob=False)
        known = model.targets_
        numbers = []
        if known.task != "regression":
            numbers = [f"p_{name}" for name in known.classes]
        for name in ("prediction", "labeled", "reached", *numbers):
            if name not in frame.columns[1:]:  # the first column holds the ids
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


def stored_rows(frame: pl.DataFrame, model: Any) -> np.ndarray:
    """The probabilities or numbers in a table of predictions, one row per node."""
    if model.targets_.task == "regression":
        return frame["prediction"].to_numpy()[:, None].astype(np.float64)
    return np.column_stack([frame[f"p_{name}"].to_numpy() for name in model.targets_.classes])


def _interval(model: Any, predicted: np.ndarray) -> dict[str, np.ndarray]:
    if len(model.labeled_) <= fewest_labels(COVERAGE):
        return {}
    residual = model.targets_.Y[model.labeled_] - model.oof_rows_
    radius = interval_radius(residual, COVERAGE)[0]
    return {"low": predicted - radius, "high": predicted + radius}
