"""CSR arrays from edge lists: allocation around the kernels of `_csr`."""

from __future__ import annotations

import numpy as np

from . import _csr

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray | None]

_INT32_NODES = 2**31 - 1


def index_dtype(n_nodes: int) -> type:
    """int32 for column numbers where they fit: half the memory traffic."""
    return np.int32 if n_nodes <= _INT32_NODES else np.int64


def csr_from_edges(
    source: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray | None,
    n_nodes: int,
    *,
    both: bool,
) -> Arrays:
    """Sorted, merged CSR arrays of an edge list; with ``both``, of its symmetric closure."""
    dtype = None if weights is None else weights.dtype
    if weights is not None:
        weights = weights.astype(np.float64, copy=False)  # a million duplicates must add up
    indptr = np.zeros(n_nodes + 1, np.int64)
    _csr.count_rows(source, target, both, indptr)
    np.cumsum(indptr, out=indptr)
    indices = np.empty(indptr[-1], index_dtype(n_nodes))
    values = None if weights is None else np.empty(len(indices), weights.dtype)
    _csr.scatter_edges(source, target, weights, both, indptr[:-1].copy(), indices, values)
    indptr, indices, values = transposed(indptr, indices, values)
    if not both:
        indptr, indices, values = transposed(indptr, indices, values)
    indptr, indices, values = merged(indptr, indices, values)
    return indptr, indices, None if values is None else values.astype(dtype, copy=False)


def transposed(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> Arrays:
    """CSR arrays of the transpose, rows sorted."""
    t_indptr = np.zeros_like(indptr)
    _csr.count_columns(indices, t_indptr)
    np.cumsum(t_indptr, out=t_indptr)
    t_indices = np.empty_like(indices)
    t_weights = None if weights is None else np.empty_like(weights)
    _csr.transpose(indptr, indices, weights, t_indptr[:-1].copy(), t_indices, t_weights)
    return t_indptr, t_indices, t_weights


def merged(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> Arrays:
    """Merge equal neighbours within sorted rows. Overwrites its arguments."""
    merged_indptr = np.empty_like(indptr)
    size = _csr.merge_duplicates(indptr, indices, weights, merged_indptr)
    if size < len(indices):
        indices = indices[:size].copy()
        weights = None if weights is None else weights[:size].copy()
    return merged_indptr, indices, weights


def permuted(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray | None,
    order: np.ndarray,
    position: np.ndarray,
) -> Arrays:
    """CSR arrays with node order[k] renumbered as k."""
    p_indptr = np.empty_like(indptr)
    p_indices = np.empty_like(indices)
    p_weights = None if weights is None else np.empty_like(weights)
    _csr.permute_rows(indptr, indices, weights, order, position, p_indptr, p_indices, p_weights)
    return p_indptr, p_indices, p_weights
