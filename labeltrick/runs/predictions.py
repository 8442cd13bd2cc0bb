"""The table of predictions: one row a node, by its id."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..graph import Graph
from ..intervals import fewest_labels

COVERAGE = 0.9


def reached(graph: Graph, labelled: np.ndarray) -> np.ndarray:
    """Whether any known label is in the same component as a node."""
    component = graph.components
    has = np.zeros(int(component.max(initial=-1)) + 1, bool)
    has[component[labelled]] = True
    return has[component]


def prediction_frame(model: Any, ids: pl.Series, inputs: dict[str, Any] | None = None) -> Any:
    """id, prediction, probability of each class (or an interval), labelled, reached.

    ``inputs`` (X, y, graph) predict for others than the nodes of the fit.
    """
    given = inputs or {}
    graph = given.get("graph", model.graph_)
    fitted = model._inputs(given.get("X"), given.get("y"), given.get("graph"))
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
    labelled = np.flatnonzero(known.labelled)
    columns["labelled"] = known.labelled
    columns["reached"] = reached(graph, labelled)
    return pl.DataFrame(columns)


def _interval(model: Any, given: dict[str, Any]) -> dict[str, np.ndarray]:
    if len(model.labelled_) <= fewest_labels(COVERAGE):
        return {}
    low, high = model.predict_interval(coverage=COVERAGE, **given).T
    return {"low": low, "high": high}
