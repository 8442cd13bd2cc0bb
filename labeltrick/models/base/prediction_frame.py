"""Predictions as a data frame: one row per node, with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.checks import check_choice, check_number
from ..._utils.extras import require
from ...evaluation.intervals import fewest_labels, interval_radius
from ...graph.graph import Graph
from ...graph.names import Kept, NodeNames
from .out_of_fold import decode

if TYPE_CHECKING:
    from ..._utils.targets import Targets
    from .node_inputs import NodeInputs

OUTPUTS = (None, "pandas", "polars")


def reached(graph: Graph, labeled: np.ndarray) -> np.ndarray:
    """Whether the component of each node contains a label."""
    component = graph.components
    has = np.zeros(int(component.max(initial=-1)) + 1, bool)
    has[component[labeled]] = True
    return has[component]


class PredictionFrames:
    """Base of estimators, with predictions as data frames."""

    def predict_frame(
        self: Any,
        X: Any = None,
        y: Any = None,
        *,
        graph: Any = None,
        output: str | None = None,
        coverage: float = 0.9,
    ) -> Any:
        """Predict all nodes, as a data frame with one row per node.

        Parameters
        ----------
        X : data frame, array-like, sparse matrix or None, default=None
            Features of all nodes. None uses those of the fit.
        y : array-like, Series, dict or None, default=None
            Known labels to predict from. None uses those of the fit; on another graph, of the
            nodes that the fit knew by name.
        graph : Graph, networkx or igraph graph, default=None
            The graph to predict on. None uses that of the fit.
        output : {"pandas", "polars"} or None, default=None
            The kind of frame. None gives the kind that was passed to `fit`, or polars.
        coverage : float, default=0.9
            Probability in (0, 1) that the interval of a number contains it.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            The name of each node (in pandas, the index), its ``prediction``, the probability
            ``p_…`` of each class or the interval from ``low`` to ``high``, whether it is
            ``labeled``, and whether a label is ``reached`` along edges. With several targets,
            there is one ``prediction_…`` for each.

        Examples
        --------
        >>> from labeltrick import Graph, LabelPropagation
        >>> graph = Graph.from_edges(["ann", "bob", "cem"], ["bob", "cem", "dia"])
        >>> known = {"ann": "tea", "dia": "coffee"}
        >>> model = LabelPropagation().fit(None, known, graph=graph)
        >>> model.predict_frame()["name", "prediction", "labeled"].rows()[:2]
        [('ann', 'tea', True), ('bob', 'tea', False)]
        """
        check_number("coverage", coverage, 0.0, 1.0)
        with self._suspecting_its_file():
            inputs = self._inputs(X, y, graph)
            columns = prediction_columns(self, inputs, coverage)
        return frame_of(self, inputs.graph.name_table.kept, columns, output)


def kind_of_frame(model: Any) -> str:
    """The kind of frame that was passed to `fit`, or polars."""
    came_as = (getattr(model, "_names_in", None) or {}).get("frames")
    return "pandas" if came_as == "pandas" else "polars"


def frame_of(model: Any, kept: Kept, columns: dict[str, Any], output: str | None) -> Any:
    """Columns with the names of the nodes, as a frame of pandas or polars."""
    check_choice("output", output, OUTPUTS)
    if (output or kind_of_frame(model)) == "pandas":
        pandas = require("pandas", "predict_frame(output='pandas')")
        names = NodeNames(kept).values.tolist()
        index = pandas.Index(names, name="name", tupleize_cols=False)
        return pandas.DataFrame(columns, index=index)
    import polars as pl

    # Names that are neither integers nor strings stay the objects that they are.
    own = kept if isinstance(kept, pl.Series) else pl.Series("name", kept, dtype=pl.Object)
    return pl.DataFrame({"name": own, **columns})


def prediction_columns(model: Any, inputs: NodeInputs, coverage: float) -> dict[str, Any]:
    """Predictions, probabilities or intervals, and which nodes are labeled and reached."""
    known = inputs.targets
    columns = columns_of_rows(model, model.scores_of(inputs), coverage)
    columns["labeled"] = known.labeled
    columns["reached"] = reached(inputs.graph, np.flatnonzero(known.labeled))
    return columns


def columns_of_rows(model: Any, rows: np.ndarray, coverage: float) -> dict[str, Any]:
    """Predictions, and probabilities or intervals, from rows before calibration."""
    known = model.targets_
    if known.task == "regression":
        return _numbers(model, known, rows, coverage)
    found = decode(known, rows)
    labels = _label_names(known)
    columns: dict[str, Any] = {"prediction": found}
    if known.task == "multilabel":
        columns = {f"prediction_{name}": found[:, k] for k, name in enumerate(labels)}
    shares = model.calibration_.apply(rows, known.task)
    return columns | {f"p_{name}": shares[:, k] for k, name in enumerate(labels)}


def _label_names(known: Targets) -> list[str]:
    if known.task == "multilabel" and known.columns is not None:
        return list(known.columns)
    return known.class_names


def _numbers(model: Any, known: Targets, rows: np.ndarray, coverage: float) -> dict[str, Any]:
    if known.flat:
        return number_columns(model, rows, [""], coverage)
    names = range(rows.shape[1]) if known.columns is None else known.columns
    return number_columns(model, rows, [f"_{name}" for name in names], coverage)


def number_columns(
    model: Any, rows: np.ndarray, endings: list[str], coverage: float
) -> dict[str, Any]:
    """The predicted number of each target and, if there are enough labels, its interval; the names
    of the columns end as given."""
    radius = None
    if model.has_oof and len(model.labeled_) > fewest_labels(coverage):
        residual = model.targets_.Y[model.labeled_] - model.oof_rows_
        radius = interval_radius(residual, coverage)
    columns = {}
    for k, ending in enumerate(endings):
        columns[f"prediction{ending}"] = rows[:, k]
        if radius is not None:
            columns[f"low{ending}"] = rows[:, k] - radius[k]
            columns[f"high{ending}"] = rows[:, k] + radius[k]
    return columns
