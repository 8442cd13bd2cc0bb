"""Predictions as attributes of the nodes of a networkx graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.extras import require
from ..graph.graph import Graph
from ..graph.names import as_names


def to_networkx(graph: Any, model: Any) -> Any:
    """Write the predictions of a fitted model onto the nodes of a networkx graph.

    Parameters
    ----------
    graph : networkx graph or Graph
        The graph that the model was fitted on, or one with some of its nodes.
    model : estimator
        A fitted estimator.

    Returns
    -------
    networkx graph
        A copy. Each node has the columns of ``model.predict_frame()`` as attributes:
        ``prediction``, ``p_…`` for each class or ``low`` and ``high``, ``labeled`` and
        ``reached``.

    See Also
    --------
    Graph.from_networkx : Make a graph from a networkx graph.
    save_model : Write a fitted model to a folder.

    Examples
    --------
    >>> import networkx as nx
    >>> from labeltrick import LabelPropagation, to_networkx
    >>> G = nx.Graph([("ann", "bob"), ("bob", "cem"), ("cem", "dia")])
    >>> model = LabelPropagation().fit(None, {"ann": "tea", "dia": "coffee"}, graph=G)
    >>> to_networkx(G, model).nodes["bob"]["prediction"]
    'tea'
    """
    networkx = require("networkx", "to_networkx")
    made = graph.to_networkx() if isinstance(graph, Graph) else graph.copy()
    frame = model.predict_frame(output="polars")
    nodes = list(made.nodes)
    at = model.graph_.name_table.find(as_names("graph.nodes", nodes))
    if (at < 0).any():
        stranger = nodes[int(np.argmax(at < 0))]
        raise ValueError(
            f"`graph` must hold nodes of the fit; {stranger!r} was not there. Predict it with "
            "model.predict_frame(X, graph=graph)."
        )
    for column in frame.columns[1:]:
        values = frame[column].to_list()
        each = {node: values[place] for node, place in zip(nodes, at.tolist(), strict=True)}
        networkx.set_node_attributes(made, each, column)
    return made
