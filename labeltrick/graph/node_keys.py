"""Keys of nodes that do not depend on how the nodes are numbered, for random draws.

A key is a hash of a node's features, type and neighborhood, and of whether it has a label.
Renumbering the nodes permutes the keys without changing them, bit for bit: sums of hashes are
integers. **Which** label a node has does not enter: folds that depended on labels would leak them.

Indistinguishable nodes (twins, nodes without edges or features) share a key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._utils.jit import kernel
from . import build
from .graph import Graph
from .normalized import inverse_permutation

_jit = kernel()
_MOST_WORK = 500_000_000  # edges and nodes to visit, over all rounds: a second or two


@_jit
def _mixed(x):
    """splitmix64: one bit of the input changes half of the bits of the output."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@_jit
def _add_entries(columns, bits, keys):
    """Add a hash of each nonzero entry and its column to the key of its dense row."""
    for i in range(bits.shape[0]):
        total = keys[i]
        for j in range(bits.shape[1]):
            if bits[i, j] != 0:  # as in sparse rows
                total += _mixed(bits[i, j] ^ _mixed(np.uint64(columns + j)))
        keys[i] = total


@_jit
def _add_stored_entries(indptr, indices, bits, keys):
    """`_add_entries` for sparse rows."""
    for i in range(len(indptr) - 1):
        total = keys[i]
        for e in range(indptr[i], indptr[i + 1]):
            if bits[e] != 0:
                total += _mixed(bits[e] ^ _mixed(np.uint64(indices[e])))
        keys[i] = total


@_jit
def _refined(indptr, indices, bits, keys):
    """Keys combined with those of the neighbors, differently along and against edges."""
    seen = np.zeros(len(keys), np.uint64)
    for i in range(len(indptr) - 1):
        here = _mixed(keys[i] ^ np.uint64(1))
        for e in range(indptr[i], indptr[i + 1]):
            weight = bits[e] if len(bits) else np.uint64(0)
            j = indices[e]
            seen[i] += _mixed(keys[j] ^ weight)
            seen[j] += _mixed(here ^ weight)
    for i in range(len(keys)):
        seen[i] = _mixed(keys[i] ^ _mixed(seen[i]))
    return seen


@_jit
def mixed_with(keys, seed):
    """Different keys, in a different order, for each seed."""
    result = np.empty_like(keys)
    for i in range(len(keys)):
        result[i] = _mixed(keys[i] ^ _mixed(seed))
    return result


def _bits(values: np.ndarray) -> np.ndarray:
    """Numbers as bits; −0 becomes 0."""
    return (np.ascontiguousarray(values, np.float64) + 0.0).view(np.uint64)


def _hash_rows(X: Any, keys: np.ndarray) -> None:
    if sp.issparse(X):
        rows = X.tocsr()
        rows.sum_duplicates()
        _add_stored_entries(rows.indptr, rows.indices, _bits(rows.data), keys)
        return
    width = max(1, 2**24 // max(len(keys), 1))  # columns at a time: bits take as much memory as X
    for first in range(0, X.shape[1], width):
        _add_entries(first, _bits(X[:, first : first + width]), keys)


def node_keys(graph: Graph, X: Any, part: np.ndarray) -> np.ndarray:
    """Keys of all nodes, given their features (or None) and, as ``part``, small numbers such as 0
    for unlabeled, 1 for training, 2 for validation. Larger neighborhoods are used until all nodes
    outside part 0 differ, or nothing more is found."""
    keys = part.astype(np.uint64)
    if graph.node_types is not None:
        keys += np.uint64(8) * np.unique(graph.node_types, return_inverse=True)[1].astype(np.uint64)
    if X is not None and X.shape[1]:
        _hash_rows(X, keys)
    weights = graph.weights
    bits = np.zeros(0, np.uint64) if weights is None else _bits(weights)
    drawn = np.flatnonzero(part)
    n_kinds, work = 0, 0
    while work < _MOST_WORK and len(np.unique(keys[drawn])) < len(drawn):
        found = len(np.unique(keys))
        if found == n_kinds:
            break
        n_kinds = found
        keys = _refined(graph.indptr, graph.indices, bits, keys)
        work += graph.nnz + graph.n_nodes
    return keys


def renumbered(graph: Graph, order: np.ndarray) -> Graph:
    """The graph whose node k is node ``order[k]`` of ``graph``, with ascending neighbors, so that
    sums over them do not depend on how the nodes of ``graph`` are numbered."""
    place = inverse_permutation(order)
    indptr, indices, weights = build.permuted(
        graph.indptr, graph.indices, graph.weights, order, place
    )
    values = np.zeros(len(indices), np.int8) if weights is None else weights
    rows = sp.csr_matrix((values, indices, indptr), shape=(graph.n_nodes, graph.n_nodes))
    rows.sort_indices()
    return Graph(indptr, rows.indices, None if weights is None else rows.data, graph.directed)
