"""Large graphs in parts, on which a graph network is trained one after the other.

A step on a part costs as much at any size of the graph, and sees what lies between its nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...._utils.targets import Targets
from ....graph.graph import Graph
from ....graph.node_keys import renumbered
from ....graph.normalized import inverse_permutation
from ....graph.stored.graph import StoredGraph
from ....propagation.base import Propagation
from ....propagation.polynomials import Power
from ...base.draws import in_order

MOST_WHOLE = 100_000  # nodes; larger graphs are divided if that loses few edges
MOST_UNDIVIDED = 500_000  # nodes; a step on a larger graph takes too long
_PART = 40_000  # nodes per part
_ENOUGH_INSIDE = 0.5  # least share of the edges that must be within parts


@dataclass(frozen=True)
class OrderedGraph:
    """A graph whose node k is node ``order[k]`` of another one, and the first nodes of its parts.

    ``bounds`` begins with 0 and ends with the number of nodes.
    """

    graph: Graph
    order: np.ndarray
    bounds: tuple[int, ...]

    @property
    def n_parts(self) -> int:
        return len(self.bounds) - 1

    @property
    def place(self) -> np.ndarray:
        """The position of each node of the other graph."""
        return inverse_permutation(self.order)

    def parts(self) -> list[slice]:
        return [slice(*pair) for pair in itertools.pairwise(self.bounds)]

    def mean(self, part: slice) -> Propagation:
        """Means over the neighbors within a part."""
        whole = self.n_parts == 1
        return Power(self.graph if whole else _within(self.graph, part), 1, norm="row")


def whole(graph: Graph, known: Targets) -> OrderedGraph:
    """The graph as one part, in an order that does not depend on node numbers."""
    order = np.arange(graph.n_nodes)
    if not isinstance(graph, StoredGraph):
        order = in_order(known, order)
        graph = renumbered(graph, order)
    return OrderedGraph(graph, order, (0, graph.n_nodes))


def in_parts_of(graph: Graph) -> OrderedGraph:
    """Parts of equal size of a graph whose nodes are visited breadth-first; graphs on disk keep
    their order."""
    near, order = graph, np.arange(graph.n_nodes)
    if not isinstance(graph, StoredGraph):
        near, order = graph.reordered
    bounds = np.linspace(0, graph.n_nodes, n_parts_of(graph.n_nodes) + 1).round()
    return OrderedGraph(near, order, tuple(bounds.astype(int).tolist()))


def n_parts_of(n_nodes: int) -> int:
    return max(2, round(n_nodes / _PART))


def has_parts(graph: Graph) -> bool:
    """Whether most edges are within its parts."""
    found = in_parts_of(graph)
    inside = sum(int(kept.sum()) for kept in _inside(found.graph, found.parts()))
    return inside >= _ENOUGH_INSIDE * graph.nnz


def _inside(graph: Graph, parts: list[slice]) -> Iterator[np.ndarray]:
    """For each part, which of the entries of its rows lie within it."""
    for part in parts:
        ends = graph.indices[graph.indptr[part.start] : graph.indptr[part.stop]]
        yield (ends >= part.start) & (ends < part.stop)


def _within(graph: Graph, part: slice) -> Graph:
    """The nodes of a part with the edges between them."""
    first, last = graph.indptr[part.start], graph.indptr[part.stop]
    (inside,) = _inside(graph, [part])
    count = np.concatenate([[0], np.cumsum(inside)])
    indptr = count[graph.indptr[part.start : part.stop + 1] - first].astype(graph.indptr.dtype)
    indices = graph.indices[first:last][inside] - graph.indices.dtype.type(part.start)
    weights = None if graph.weights is None else np.asarray(graph.weights[first:last])[inside]
    return Graph(indptr, indices, weights, graph.directed)
