"""New nodes beside those of a fit: their names, features and edges, read without the old ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._utils.checks import check_number
from ...graph.graph import Graph
from ...graph.grown import grown
from ...graph.names import Kept, NodeNames
from ...graph.stored.graph import StoredGraph
from .extending import new_edges, rows_and_names
from .node_inputs import NodeInputs
from .prediction_frame import columns_of_rows, frame_of, prediction_columns, reached


@dataclass(frozen=True)
class _Names:
    """Names of old nodes followed by new ones."""

    old: NodeNames
    new: NodeNames

    @property
    def kept(self) -> Kept:
        return self.old.kept

    def find(self, wanted: Kept) -> np.ndarray:
        fresh = self.new.find(wanted)
        if (fresh >= 0).all():
            return len(self.old) + fresh
        there = self.old.find_few(wanted)
        return np.where(fresh >= 0, len(self.old) + fresh, there)


@dataclass(frozen=True)
class NewNodes:
    """Nodes that the fit did not have.

    Attributes
    ----------
    names : polars.Series or array of objects
    X : features of the new nodes, as the model reads them; None if it has none
    graph : Graph
        The graph of all nodes, old ones first, without names.
    n_old : int
    changed : array of int
        The old nodes with new edges.
    """

    names: Kept
    X: Any
    graph: Graph
    n_old: int
    changed: np.ndarray

    @classmethod
    def of(cls, model: Any, nodes: Any, edges: Any, id: str | None) -> NewNodes | None:
        """Read new nodes and edges; None if some of the nodes are those of the fit."""
        inputs: NodeInputs = model.inputs_of(None, None, None)
        graph, old = inputs.graph, inputs.graph.name_table
        rows, names = rows_and_names(inputs, nodes, id)
        if (old.find_few(names) >= 0).any():
            return None
        source, target, weight = new_edges(graph, _Names(old, NodeNames(names)), edges)
        n, n_old = graph.n_nodes + len(names), graph.n_nodes
        ends = np.unique(np.concatenate([source, target]))
        X = None if inputs.X is None else model._check_features(rows, reset=False)
        made = grown(graph, n, source, target, weight).with_compute(graph.compute)
        return cls(names, X, made, n_old, ends[ends < n_old])

    def __len__(self) -> int:
        return self.graph.n_nodes - self.n_old

    @cached_property
    def nodes(self) -> np.ndarray:
        """The numbers of the new nodes."""
        return np.arange(self.n_old, self.graph.n_nodes)

    def reached(self, before: np.ndarray) -> np.ndarray:
        """Whether a label reaches each new node along edges, from which old nodes one reaches."""
        found = np.concatenate([before, np.zeros(len(self), bool)])
        while True:
            now = np.array([found[self.graph.neighbors(int(v))].any() for v in self.nodes])
            if (now == found[self.n_old :]).all():
                return now
            found[self.n_old :] |= now


class PredictingNew:
    """Base of estimators that predict new nodes by themselves."""

    def predict_new(
        self: Any,
        nodes: Any,
        edges: Any = None,
        labels: Any = None,
        *,
        id: str | None = None,
        output: str | None = None,
        coverage: float = 0.9,
    ) -> Any:
        """Predict new nodes with their edges, as `extend` does, but only these.

        `AutoModel` computes only what the neighborhoods of a few new nodes change: from the second
        call on, milliseconds for one node of a large graph. The first call keeps what it needs to
        know about the other nodes, which takes about as long as predicting all of them. Results
        agree with those of `extend` to about 1e-4, beside hubs to about 1e-3. Where that is not
        possible (nodes of the fit with new features, ``labels``, a graph network in the blend),
        everything is computed.

        Parameters
        ----------
        nodes : data frame or array-like of shape (k, d)
            Features of new nodes, as in `extend`.
        edges : data frame or tuple of arrays, default=None
            New edges, as in `extend`.
        labels : Series, dict or data frame, default=None
            Labels that have become known, as in `extend`.
        id : str, default=None
            Column of ``nodes`` (and of ``labels``, if it is a frame) that holds the names.
        output : {"pandas", "polars"} or None, default=None
            The kind of frame. None gives the kind that was passed to `fit`, or polars.
        coverage : float, default=0.9
            Probability in (0, 1) that the interval of a number contains it.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            The rows of these nodes, as `GraphEstimator.predict_frame` returns them.

        Examples
        --------
        >>> from labeltrick import Graph, LabelPropagation
        >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cem"])
        >>> model = LabelPropagation().fit(None, {"ann": "tea", "cem": "coffee"}, graph=graph)
        >>> model.predict_new(["dia"], edges=(["dia"], ["cem"]))["name", "prediction"].rows()
        [('dia', 'coffee')]
        """
        model = getattr(self, "best_estimator_", self)  # of a search
        check_number("coverage", coverage, 0.0, 1.0)
        graph = model.graph_
        plain = not graph.relations and graph.node_types is None
        if labels is None and plain and not isinstance(graph, StoredGraph):
            new = NewNodes.of(model, nodes, edges, id)
            rows = None if new is None else model._scores_of_new(new)
            if new is not None and rows is not None:
                columns = columns_of_rows(model, rows, coverage)
                columns["labeled"] = np.zeros(len(new), bool)
                columns["reached"] = new.reached(model._reached)
                return frame_of(model, new.names, columns, output)
        more = model.extend(nodes, edges, labels, id=id)
        _, names = rows_and_names(model.inputs_of(None, None, None), nodes, id)
        at = more.graph_.name_table.find(names)
        columns = prediction_columns(model, more.inputs, coverage)
        return frame_of(model, names, {name: part[at] for name, part in columns.items()}, output)

    def _scores_of_new(self, new: Any, keep: bool = True) -> np.ndarray | None:
        """Rows of new nodes, or None if they cannot be computed by themselves. ``keep`` what is
        computed of the other nodes."""
        return None

    @property
    def _reached(self: Any) -> np.ndarray:
        """Whether a label reaches each node of the fit."""
        known = self._default_inputs.targets
        return self._once("reached", lambda: reached(self.graph_, np.flatnonzero(known.labeled)))
