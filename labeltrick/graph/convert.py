"""CSR arrays from edge lists and from other libraries' objects.

The other libraries are not imported; objects need only the right attributes. The ``from_``
functions return the arguments of `Graph`: ``(indptr, indices, weights, directed)``. Their
parameters are those of the constructors of `Graph`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.checks import (
    as_numpy,
    check_count,
    check_edge_weights,
    check_flag,
    check_ids_are_dense,
    check_node_ids,
    check_same_length,
)
from .._utils.sparse_checks import check_sparse
from . import build

Parts = tuple[np.ndarray, np.ndarray, np.ndarray | None, bool]


def from_edges(src: Any, dst: Any, weight: Any, n_nodes: int | None, directed: bool) -> Parts:
    check_flag("directed", directed)
    if n_nodes is not None:
        n_nodes = check_count("n_nodes", n_nodes)
    source = check_node_ids("src", src, n_nodes)
    target = check_node_ids("dst", dst, n_nodes)
    check_same_length("src", source, "dst", target)
    if weight is not None:
        weight = check_edge_weights("weight", weight, len(source))
    if n_nodes is None:
        n_nodes = 1 + max(int(source.max()), int(target.max())) if len(source) else 0
        check_ids_are_dense(n_nodes, len(source))
    if weight is not None and not weight.all():
        real = weight > 0
        source, target, weight = source[real], target[real], weight[real]
    arrays = build.csr_from_edges(source, target, weight, n_nodes, both=not directed)
    return (*arrays, bool(directed))


def from_scipy(matrix: Any, directed: bool | None) -> Parts:
    import scipy.sparse as sp

    A = check_sparse("matrix", matrix) if sp.issparse(matrix) else as_numpy("matrix", matrix)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"`matrix` must be square; got shape {A.shape}.")
    A = sp.csr_array(A, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    data = check_edge_weights("matrix", A.data, A.nnz)
    weights = None if (data == 1).all() else data
    indices = A.indices.astype(build.index_dtype(A.shape[0]))
    arrays = (A.indptr.astype(np.int64), indices, weights)
    symmetric = not directed and _is_symmetric(*arrays)
    if directed is False and not symmetric:
        raise ValueError(
            "`matrix` must be symmetric for directed=False; it is not. "
            "Pass directed=True, or symmetrize it first (for example A + A.T)."
        )
    return (*arrays, not symmetric)


def from_networkx(graph: Any, weight: str | None) -> Parts:
    number = {node: k for k, node in enumerate(graph.nodes)}
    ends = np.array([(number[u], number[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2)
    weights = None
    if weight is not None:
        found = [w for _, _, w in graph.edges(data=weight)]
        if any(w is not None for w in found):
            weights = np.array([1.0 if w is None else w for w in found])
    return from_edges(ends[:, 0], ends[:, 1], weights, len(number), bool(graph.is_directed()))


def from_pyg(data: Any, edge_weight: Any, n_nodes: int | None, directed: bool | None) -> Parts:
    edge_index = data
    if hasattr(data, "edge_index"):
        edge_index = data.edge_index
        if edge_index is None:
            raise ValueError("`data.edge_index` must be set; got None.")
        n_nodes = data.num_nodes if n_nodes is None else n_nodes
        edge_weight = getattr(data, "edge_weight", None) if edge_weight is None else edge_weight
    index = as_numpy("edge_index", edge_index)
    if index.ndim != 2 or index.shape[0] != 2:
        raise ValueError(
            f"`edge_index` must have shape (2, edges); got {index.shape}."
            + (" Transpose it." if index.ndim == 2 and index.shape[1] == 2 else "")
        )
    # PyG's messages flow from source to target: the row that gathers is the target's.
    return _from_two_way_list(index[1], index[0], edge_weight, n_nodes, directed)


def from_dgl(graph: Any, weight: str | None, directed: bool | None) -> Parts:
    if not hasattr(graph, "edges") or not hasattr(graph, "num_nodes"):
        raise TypeError(f"`graph` must be a DGL graph; got {type(graph).__name__}.")
    source, target = graph.edges()
    values = None if weight is None else graph.edata[weight]
    return _from_two_way_list(target, source, values, int(graph.num_nodes()), directed)


def _from_two_way_list(
    source: Any, target: Any, weight: Any, n_nodes: int | None, directed: bool | None
) -> Parts:
    """From a list that holds an undirected edge in both directions."""
    check_flag("directed", directed, optional=True)
    indptr, indices, weights, _ = from_edges(source, target, weight, n_nodes, True)
    if directed:
        return indptr, indices, weights, True
    if _is_symmetric(indptr, indices, weights):
        return indptr, indices, weights, False
    if directed is None:
        return indptr, indices, weights, True
    if weights is None:
        return from_edges(source, target, None, n_nodes, False)
    # Adding both directions would double edges that are listed twice: take the larger weight.
    import scipy.sparse as sp

    A = sp.csr_array((weights, indices, indptr), shape=(len(indptr) - 1,) * 2)
    indptr, indices, larger, _ = from_scipy(A.maximum(A.T), False)
    return indptr, indices, np.ones(len(indices)) if larger is None else larger, False


def edges_by_type(
    src: Any, dst: Any, weight: Any, edge_type: Any
) -> dict[Any, tuple[Any, Any, Any]]:
    """(src, dst, weight) of the edges of each type; empty without types."""
    if edge_type is None:
        return {}
    kinds = as_numpy("edge_type", edge_type)
    source, target = as_numpy("src", src), as_numpy("dst", dst)
    check_same_length("edge_type", kinds, "src", source)
    _check_no_type_missing("edge_type", kinds)
    values = None if weight is None else as_numpy("weight", weight)
    found = {}
    for kind in np.unique(kinds).tolist():
        chosen = kinds == kind
        some = None if values is None else values[chosen]
        found[kind] = (source[chosen], target[chosen], some)
    return found


def pyg_relations(data: Any, edge_weight: Any) -> dict[Any, tuple[np.ndarray, Any]]:
    """(edge_index, weight) of the edges of each type of a PyG object."""
    edge_type = getattr(data, "edge_type", None)
    if edge_type is None:
        return {}
    index = as_numpy("edge_index", data.edge_index)
    weight = getattr(data, "edge_weight", None) if edge_weight is None else edge_weight
    by_type = edges_by_type(index[0], index[1], weight, edge_type)
    return {kind: (np.stack(edges[:2]), edges[2]) for kind, edges in by_type.items()}


def types_of_nodes(node_type: Any, n_nodes: int) -> np.ndarray | None:
    """A checked copy of the types of the nodes."""
    if node_type is None:
        return None
    kinds = as_numpy("node_type", node_type)
    if kinds.shape != (n_nodes,):
        raise ValueError(
            f"`node_type` must have one type per node ({n_nodes}); got shape {kinds.shape}."
        )
    _check_no_type_missing("node_type", kinds)
    return kinds.copy()


def _check_no_type_missing(name: str, kinds: np.ndarray) -> None:
    if kinds.dtype.kind == "O":
        missing = np.array([kind is None or kind != kind for kind in kinds.tolist()], bool)
    else:
        missing = kinds != kinds  # NaN
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"`{name}` must have no missing types; row {row} is missing. Name it.")


def _is_symmetric(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> bool:
    t_indptr, t_indices, t_weights = build.transposed(indptr, indices, weights)
    return (
        np.array_equal(indptr, t_indptr)
        and np.array_equal(indices, t_indices)
        and (weights is None or t_weights is None or np.array_equal(weights, t_weights))
    )
