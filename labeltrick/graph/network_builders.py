"""The constructors of `Graph` from networkx and igraph, which are not imported; objects need only
the right attributes."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from .graph import Graph

_PLAIN = (bool, int, float, str, np.number, np.bool_, datetime.date, datetime.datetime)


class NetworkBuilders:
    """Base class of `Graph` with the constructors from graph libraries with attributes."""

    @classmethod
    def from_networkx(
        cls: Any,
        graph: Any,
        *,
        weight: str | None = "weight",
        node_type: str | None = None,
        edge_type: str | None = None,
        node_features: Sequence[str] | None = None,
    ) -> Graph:
        """Build a graph from a networkx graph; nodes keep their names and their order.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            The graph to convert. Parallel edges are merged, and their weights are summed.
        weight : str or None, default="weight"
            Edge attribute with the weights; edges without it have weight 1. If no edge has it,
            or with None, the graph is unweighted.
        node_type : str or None, default=None
            Node attribute with the type of each node, for `node_types`.
        edge_type : str or None, default=None
            Edge attribute with the type of each edge, for `relations`.
        node_features : list of str or None, default=None
            Node attributes to keep as columns of ``node_features``, a polars frame with one row
            per node. None keeps every attribute whose values are numbers, texts, booleans or
            dates. No estimator uses them unless they are passed as ``X``.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import networkx as nx
        >>> from labeltrick import Graph
        >>> club = Graph.from_networkx(nx.karate_club_graph(), node_features=["club"])
        >>> club.node_features["club"][33]
        'Officer'
        """
        nodes = list(graph.nodes)
        number = {node: k for k, node in enumerate(nodes)}
        ends = np.array([(number[u], number[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2)
        weights = kinds = None
        if weight is not None:
            found = [w for _, _, w in graph.edges(data=weight)]
            if any(w is not None for w in found):
                weights = np.array([1.0 if w is None else w for w in found])
        if edge_type is not None:
            kinds = _column([kind for _, _, kind in graph.edges(data=edge_type)])
        attributes = [data for _, data in graph.nodes(data=True)]
        made = cls.from_edges(
            *ends.T,
            weight=weights,
            n_nodes=len(number),
            directed=bool(graph.is_directed()),
            edge_type=kinds,
            node_type=_types(attributes, node_type),
        )
        return _described(made, nodes, attributes, node_type, node_features)

    @classmethod
    def from_igraph(
        cls: Any,
        graph: Any,
        *,
        weight: str | None = "weight",
        name: str = "name",
        node_type: str | None = None,
        edge_type: str | None = None,
        node_features: Sequence[str] | None = None,
    ) -> Graph:
        """Build a graph from an igraph graph; nodes keep their order.

        Parameters
        ----------
        graph : igraph.Graph
            The graph to convert. Parallel edges are merged, and their weights are summed.
        weight : str or None, default="weight"
            Edge attribute with the weights. If there is none, or with None, the graph is
            unweighted.
        name : str, default="name"
            Vertex attribute with the names; vertices without it are named 0…n−1.
        node_type : str or None, default=None
            Vertex attribute with the type of each node, for `node_types`.
        edge_type : str or None, default=None
            Edge attribute with the type of each edge, for `relations`.
        node_features : list of str or None, default=None
            Vertex attributes to keep as columns of ``node_features``. None keeps every attribute
            whose values are numbers, texts, booleans or dates.

        Returns
        -------
        Graph
        """
        if not hasattr(graph, "vcount") or not hasattr(graph, "get_edgelist"):
            raise TypeError(f"`graph` must be an igraph graph; got {type(graph).__name__}.")
        n_nodes = int(graph.vcount())
        ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
        weights = (
            graph.es[weight] if weight is not None and weight in graph.es.attributes() else None
        )
        attributes = [vertex.attributes() for vertex in graph.vs]
        made = cls.from_edges(
            *ends.T,
            weight=weights,
            n_nodes=n_nodes,
            directed=bool(graph.is_directed()),
            edge_type=None if edge_type is None else _column(graph.es[edge_type]),
            node_type=_types(attributes, node_type),
        )
        named = name in graph.vs.attributes()
        nodes = list(graph.vs[name]) if named else list(range(n_nodes))
        rest = [{k: v for k, v in each.items() if k != name} for each in attributes]
        return _described(made, nodes, rest, node_type, node_features)


def _described(
    made: Any, nodes: list[Any], attributes: list[Any], node_type: Any, wanted: Any
) -> Graph:
    """The graph with names and attributes of its nodes."""
    import polars as pl

    from .names import NodeNames

    names = NodeNames.of(nodes, "graph.nodes") if nodes else None
    made = made.named(None if names is None or names.are_numbers else names)
    columns = dict.fromkeys(key for each in attributes for key in each if key != node_type)
    if wanted is not None:
        strange = [name for name in wanted if name not in columns]
        if strange:
            listed = ", ".join(repr(name) for name in list(columns)[:10]) or "none"
            raise ValueError(
                f"`node_features` must name attributes of nodes; got {strange[0]!r}. The nodes "
                f"have: {listed}."
            )
        columns = dict.fromkeys(wanted)
    found = {}
    for name in columns:
        values = [each.get(name) for each in attributes]
        plain = all(value is None or isinstance(value, _PLAIN) for value in values)
        if not plain and wanted is not None:
            raise ValueError(
                f"`node_features` must name attributes that are numbers, texts, booleans or dates; "
                f"{name!r} holds other values."
            )
        if plain:
            found[str(name)] = _series(str(name), values)
    made.node_features = pl.DataFrame(found) if found else None
    return made


def _series(name: str, values: list[Any]) -> pl.Series:
    import polars as pl

    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    try:
        return pl.Series(name, plain, strict=True)
    except (TypeError, pl.exceptions.PolarsError):  # whole and broken numbers, or a mix of types
        numbers = all(value is None or isinstance(value, int | float) for value in plain)
        if numbers:
            return pl.Series(name, [None if v is None else float(v) for v in plain])
        return pl.Series(name, [None if value is None else str(value) for value in plain])


def _types(attributes: list[Any], node_type: str | None) -> np.ndarray | None:
    return None if node_type is None else _column([each.get(node_type) for each in attributes])


def _column(values: Any) -> np.ndarray:
    return np.fromiter(values, dtype=object, count=len(values))
