"""CSR arrays from edge lists, built by `csr_kernels` and `bucket_kernels`."""

from __future__ import annotations

import numpy as np

from .._utils.threads import get_num_threads, run_chunks
from . import bucket_kernels, csr_kernels

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray | None]

_INT32_NODES = 2**31 - 1
_LARGE = 2_000_000  # edges; below, a counting sort over all rows stays in the caches
_BLOCK = 100_000  # entries of a block that is sorted in the caches
_MOST_BLOCKS = 4096  # blocks that are written to at the same time


def index_dtype(n_nodes: int) -> type:
    """int32 if column numbers fit: half the memory traffic."""
    return np.int32 if n_nodes <= _INT32_NODES else np.int64


def csr_from_edges(
    source: np.ndarray, target: np.ndarray, weights: np.ndarray | None, n_nodes: int, *, both: bool
) -> Arrays:
    """Sorted, merged CSR arrays of an edge list; with ``both``, of its symmetric closure."""
    if weights is None and len(source) >= _LARGE and n_nodes <= _INT32_NODES:
        return (*large_csr(source, target, n_nodes, both), None)
    dtype = None if weights is None else weights.dtype
    if weights is not None:
        weights = weights.astype(np.float64, copy=False)  # sums of many duplicates
    indptr = np.zeros(n_nodes + 1, np.int64)
    csr_kernels.count_rows(source, target, both, indptr)
    np.cumsum(indptr, out=indptr)
    indices = np.empty(indptr[-1], index_dtype(n_nodes))
    values = None if weights is None else np.empty(len(indices), weights.dtype)
    csr_kernels.scatter_edges(source, target, weights, both, indptr[:-1].copy(), indices, values)
    indptr, indices, values = transposed(indptr, indices, values)
    if not both:
        indptr, indices, values = transposed(indptr, indices, values)
    indptr, indices, values = merged(indptr, indices, values)
    return indptr, indices, None if values is None else values.astype(dtype, copy=False)


def large_csr(
    source: np.ndarray, target: np.ndarray, n_nodes: int, both: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(indptr, indices) by blocks of rows; see `bucket_kernels`. As long as the row and column of
    an entry fit in 32 bits, indices overwrite the entries and need no further memory."""
    bits = max(1, int(n_nodes - 1).bit_length())
    wanted = max(1, min(_MOST_BLOCKS, (2 if both else 1) * len(source) // _BLOCK))
    shift = max(0, int(np.ceil(np.log2(max(n_nodes, 1) / wanted))))
    if bits + shift > 32 and n_nodes >> max(0, 32 - bits) <= _MOST_BLOCKS:
        shift = max(0, 32 - bits)
    narrow = bits + shift <= 32
    n_blocks = ((n_nodes - 1) >> shift) + 1
    cuts = np.linspace(0, len(source), get_num_threads() + 1).astype(np.int64)
    counts = np.zeros((len(cuts) - 1, n_blocks), np.int64)

    def count(first: int, stop: int) -> None:
        mine = counts[np.searchsorted(cuts, first, side="right") - 1]
        bucket_kernels.count_entries(source, target, first, stop, shift, both, mine)

    run_chunks(count, cuts)
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    # Each thread's part of a block begins after those of the threads before it.
    cursors = starts[:-1] + np.cumsum(counts, axis=0) - counts
    keys = np.empty(int(starts[-1]), np.uint32 if narrow else np.uint64)

    def deal(first: int, stop: int) -> None:
        mine = cursors[np.searchsorted(cuts, first, side="right") - 1]
        bucket_kernels.deal_entries(source, target, first, stop, shift, bits, both, mine, keys)

    run_chunks(deal, cuts)
    indices = keys.view(np.int32) if narrow else np.empty(len(keys), np.int32)
    degree = np.zeros(n_nodes, np.int64)
    written = np.zeros(n_blocks, np.int64)

    def sort(first: int, stop: int) -> None:
        spare = np.empty(int(np.diff(starts[first : stop + 1]).max(initial=0)), keys.dtype)
        for block in range(first, stop):
            low, high = starts[block], starts[block + 1]
            mine = degree[block << shift : min((block + 1) << shift, n_nodes)]
            part, room = keys[low:high], spare[: high - low]
            written[block] = bucket_kernels.sort_block(
                part, room, bits + shift, bits, indices[low:high], mine
            )

    per_thread = 8 * get_num_threads()
    run_chunks(sort, np.unique(np.linspace(0, n_blocks, per_thread + 1).astype(np.int64)))
    return np.concatenate([[0], np.cumsum(degree)]), _without_gaps(indices, starts, written)


def _without_gaps(indices: np.ndarray, starts: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Close the gaps that duplicates have left after the entries of each block."""
    place = int(written[0])
    for block in range(1, len(written)):
        size = int(written[block])
        if place < starts[block]:
            bucket_kernels.move_down(indices, starts[block], size, place)
        place += size
    kept = indices[:place]
    return kept if place > 0.95 * len(indices) else kept.copy()


def transposed(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> Arrays:
    """CSR arrays of the transpose, rows sorted."""
    t_indptr = np.zeros_like(indptr)
    csr_kernels.count_columns(indices, t_indptr)
    np.cumsum(t_indptr, out=t_indptr)
    t_indices = np.empty_like(indices)
    t_weights = None if weights is None else np.empty_like(weights)
    csr_kernels.transpose(indptr, indices, weights, t_indptr[:-1].copy(), t_indices, t_weights)
    return t_indptr, t_indices, t_weights


def merged(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> Arrays:
    """Merge equal neighbors within sorted rows. Overwrites its arguments."""
    merged_indptr = np.empty_like(indptr)
    size = csr_kernels.merge_duplicates(indptr, indices, weights, merged_indptr)
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
    csr_kernels.permute_rows(
        indptr, indices, weights, order, position, p_indptr, p_indices, p_weights
    )
    return p_indptr, p_indices, p_weights
