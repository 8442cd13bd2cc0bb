"""Weights of edges as a function of the features and degrees of their ends.

    weight(u, v) = given weight · exp(f),   f = c(u, v)·θ + p_uᵀ M p_v,   |f| bounded,

where c holds the cosine of the two feature rows and two columns made from the degrees, and p is the
feature row of a node, reduced to a few columns. The function is symmetric in the two ends. Labels
are not among its inputs: they only train θ and M.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...graph.edges import EdgeList
from ...graph.graph import Graph

N_COLUMNS = 32  # columns that features are reduced to
_ROW_LENGTH = 2.0  # length of p: steps of M then have a similar effect to steps of θ
BOUND = 4.0  # weights are changed by a factor of at most e^4
_AT_ONCE = 250_000  # edges whose rows are gathered together


@dataclass(frozen=True)
class EdgeInputs:
    """The inputs of the function on one graph.

    Attributes
    ----------
    edges : the edges.
    nodes : (n, q): the reduced features p.
    columns : (edges, 3): cosine, sum and difference of the log degrees of the ends; standardized.
    """

    edges: EdgeList
    nodes: np.ndarray
    columns: np.ndarray


@dataclass(frozen=True)
class EdgeFunction:
    """A function of the ends of an edge. Its first part is set by the features and the graph of the
    fit, ``theta`` and ``interaction`` are trained.

    Attributes
    ----------
    center, spread : (d,): scale of the feature columns.
    basis : (d, q): the directions of features that p keeps.
    middle : (q,): mean of p before its rows get the same length.
    column_mean, column_spread : (3,): scale of the columns of edges.
    theta : (3,): θ.
    interaction : (q, q): M, symmetric.
    """

    center: np.ndarray
    spread: np.ndarray
    basis: np.ndarray
    middle: np.ndarray
    column_mean: np.ndarray
    column_spread: np.ndarray
    theta: np.ndarray
    interaction: np.ndarray

    @classmethod
    def untrained(cls, graph: Graph, X: Any, edges: EdgeList) -> EdgeFunction:
        """The function that keeps all weights; everything but θ and M is set."""
        width = X.shape[1]
        center, spread = np.zeros(width), np.ones(width)
        if not sp.issparse(X):  # words keep their zeros; columns of a table have units
            center = X.mean(axis=0, dtype=np.float64)
            deviation = X.std(axis=0, dtype=np.float64)
            # Columns that are constant up to rounding carry no information.
            spread = np.where(deviation <= 1e-6 * np.abs(center), np.inf, deviation)
        rows = _unit_rows(_scaled(X, center, spread))
        basis = _basis(rows)
        middle = np.asarray(rows @ basis).mean(axis=0)
        raw = _edge_columns(rows, node_degrees(graph), edges)
        mean, size = np.zeros(3), np.ones(3)
        if len(edges):
            mean, size = raw.mean(axis=0), raw.std(axis=0)
        size = np.where(size > 1e-9, size, np.inf)
        q = basis.shape[1]
        return cls(center, spread, basis, middle, mean, size, np.zeros(3), np.zeros((q, q)))

    def trained(self, theta: np.ndarray, interaction: np.ndarray) -> EdgeFunction:
        return replace(self, theta=theta, interaction=interaction)

    def inputs(self, degrees: np.ndarray, X: Any, edges: EdgeList) -> EdgeInputs:
        """The inputs on any graph with these features, given the degrees of its nodes."""
        rows = _unit_rows(_scaled(X, self.center, self.spread))
        nodes = _ROW_LENGTH * _unit_rows(np.asarray(rows @ self.basis) - self.middle)
        columns = (_edge_columns(rows, degrees, edges) - self.column_mean) / self.column_spread
        return EdgeInputs(edges, nodes, columns)

    def factors(self, inputs: EdgeInputs) -> np.ndarray:
        """The factor exp(f) of each edge."""
        f, edges = inputs.columns @ self.theta, inputs.edges
        mapped = inputs.nodes @ self.interaction
        for first in range(0, len(edges), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            pairs = mapped[edges.first[part]], inputs.nodes[edges.second[part]]
            f[part] += np.einsum("eq,eq->e", *pairs)
        return np.exp(BOUND * np.tanh(f / BOUND))

    def reweighted(self, graph: Graph, X: Any, known: EdgeInputs | None = None) -> Graph:
        """The graph with its weights, and those of its relations, multiplied by the factors.

        ``known`` are the inputs of the graph, if they have been computed.
        """
        degrees = node_degrees(graph)

        def applied(part: Graph, known: EdgeInputs | None) -> Graph:
            inputs = self.inputs(degrees, X, EdgeList.of(part)) if known is None else known
            factors, edges = self.factors(inputs), inputs.edges
            if not np.isfinite(factors).all():
                raise ValueError("the function of edges must be finite; it is not. Fit again.")
            return edges.reweighted(part, edges.given_weights(part) * factors)

        made = applied(graph, known)
        made.relations = {kind: applied(part, None) for kind, part in graph.relations.items()}
        return made


def _scaled(X: Any, center: np.ndarray, spread: np.ndarray) -> Any:
    if sp.issparse(X):
        return sp.csr_array(X, dtype=np.float64)
    return (np.asarray(X, np.float64) - center) / spread


def _unit_rows(rows: Any) -> Any:
    """Rows of length 1; rows of zeros stay zeros."""
    if sp.issparse(rows):
        length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1.0)) @ rows)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    # Rows that are zero up to rounding have no direction.
    return np.where(length > 1e-9, rows / np.where(length > 1e-9, length, 1.0), 0.0)


def _basis(rows: Any) -> np.ndarray:
    """Leading right singular vectors of the rows, or all directions if these are few.

    Random numbers are drawn for columns, never for rows: the result does not depend on the order
    of the nodes.
    """
    width = rows.shape[1]
    if width <= N_COLUMNS:
        return np.eye(width)
    from sklearn.utils.extmath import randomized_svd

    most = min(N_COLUMNS, rows.shape[0])
    options = {"transpose": False, "power_iteration_normalizer": "QR", "random_state": 0}
    return randomized_svd(rows, most, **options)[2].T.astype(np.float64)


def node_degrees(graph: Graph) -> np.ndarray:
    """Number of edges of each node, in both directions."""
    if not graph.directed:
        return np.asarray(graph.degrees)
    return graph.degrees + np.bincount(graph.indices, minlength=graph.n_nodes)


def _edge_columns(rows: Any, degrees: np.ndarray, edges: EdgeList) -> np.ndarray:
    size = np.log1p(degrees)
    first, second = size[edges.first], size[edges.second]
    cosine = np.empty(len(edges))
    for start in range(0, len(edges), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        pairs = rows[edges.first[part]], rows[edges.second[part]]
        if sp.issparse(rows):
            cosine[part] = np.asarray(pairs[0].multiply(pairs[1]).sum(axis=1)).ravel()
        else:
            cosine[part] = np.einsum("ed,ed->e", *pairs)
    return np.column_stack([cosine, first + second, np.abs(first - second)])
