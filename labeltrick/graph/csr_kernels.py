"""Numba kernels that build and rearrange CSR arrays in linear time.

Rows come out sorted by counting, never by comparison: transposing a CSR matrix visits its
rows in order, so the rows of the result are sorted. An undirected graph, which is its own
transpose, therefore needs one transposition; a directed one needs two.
"""

from __future__ import annotations

import numpy as np

from .._utils.jit import kernel

_jit = kernel()


@_jit
def count_rows(source, target, both, indptr):
    """Add the number of entries of row i to ``indptr[i + 1]``; with ``both``, also of the reverse
    edges (a self-loop has no reverse)."""
    for k in range(len(source)):
        u, v = source[k], target[k]
        indptr[u + 1] += 1
        if both and u != v:
            indptr[v + 1] += 1


@_jit
def scatter_edges(source, target, weights, both, cursor, indices, values):
    """Write each edge (with ``both``, also its reverse) at its row's cursor."""
    for k in range(len(source)):
        u, v = source[k], target[k]
        p = cursor[u]
        cursor[u] = p + 1
        indices[p] = v
        if weights is not None:
            values[p] = weights[k]
        if both and u != v:
            p = cursor[v]
            cursor[v] = p + 1
            indices[p] = u
            if weights is not None:
                values[p] = weights[k]


@_jit
def count_columns(indices, indptr):
    """Add the number of entries of column j to ``indptr[j + 1]``."""
    for k in range(len(indices)):
        indptr[indices[k] + 1] += 1


@_jit
def transpose(indptr, indices, weights, cursor, t_indices, t_values):
    """Write the transpose at the row cursors of the result."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            p = cursor[j]
            cursor[j] = p + 1
            t_indices[p] = i
            if weights is not None:
                t_values[p] = weights[k]


@_jit
def merge_duplicates(indptr, indices, values, merged_indptr):
    """Merge equal neighbors of sorted rows in place (weights are summed); return the new size."""
    p = 0
    for i in range(len(indptr) - 1):
        merged_indptr[i] = p
        first = p
        for k in range(indptr[i], indptr[i + 1]):
            if p > first and indices[p - 1] == indices[k]:
                if values is not None:
                    values[p - 1] += values[k]
            else:
                indices[p] = indices[k]
                if values is not None:
                    values[p] = values[k]
                p += 1
    merged_indptr[len(indptr) - 1] = p
    return p


@_jit
def add_row_sums(indptr, weights, sums):
    """Add the weights of each row to its sum one by one, so that a row in parts rounds the same."""
    for i in range(len(sums)):
        for k in range(indptr[i], indptr[i + 1]):
            sums[i] += weights[k]


@_jit
def column_sums(indices, weights, n):
    """Sums of the stored weights (ones if None) of each column."""
    sums = np.zeros(n, np.float64)
    for k in range(len(indices)):
        sums[indices[k]] += 1.0 if weights is None else weights[k]
    return sums


@_jit
def has_loop(indptr, indices, first_row=0):
    """Whether each row, counted from ``first_row``, stores its diagonal entry."""
    found = np.zeros(len(indptr) - 1, np.bool_)
    for i in range(len(found)):
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == first_row + i:
                found[i] = True
                break
    return found


@_jit
def stored_diagonal(indptr, indices, weights):
    """Weights of the stored self-loops; zero for nodes without one."""
    n = len(indptr) - 1
    diagonal = np.zeros(n, np.float64)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == i:
                diagonal[i] = 1.0 if weights is None else weights[k]
    return diagonal


@_jit
def back_and_forth(
    first_row, indptr, indices, weights, t_indptr, t_indices, t_weights, factor, loops, sums
):
    """A_ii and Σ_j A_ij A_ji factor_j of each row of a part, from its rows in A and in Aᵀ, whose
    pointers count the entries before the part too."""
    for i in range(len(indptr) - 1):
        p, stop = indptr[i] - indptr[0], indptr[i + 1] - indptr[0]
        q, t_stop = t_indptr[i] - t_indptr[0], t_indptr[i + 1] - t_indptr[0]
        row = first_row + i
        while p < stop and q < t_stop:
            j, k = indices[p], t_indices[q]
            if j == k:
                there = 1.0 if weights is None else weights[p]
                back = 1.0 if t_weights is None else t_weights[q]
                sums[row] += there * back * factor[j]
                if j == row:
                    loops[row] = there
            if j <= k:
                p += 1
            if k <= j:
                q += 1


@_jit
def breadth_first_order(indptr, indices, roots):
    """Nodes in breadth-first order, with a new search from each root not yet seen."""
    n = len(indptr) - 1
    order = np.empty(n, indices.dtype)
    seen = np.zeros(n, np.bool_)
    tail = 0
    for r in range(n):
        root = roots[r]
        if seen[root]:
            continue
        seen[root] = True
        order[tail] = root
        head = tail
        tail += 1
        while head < tail:
            i = order[head]
            head += 1
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if not seen[j]:
                    seen[j] = True
                    order[tail] = j
                    tail += 1
    return order


@_jit
def permute_rows(indptr, indices, weights, order, position, p_indptr, p_indices, p_values):
    """Relabel node order[k] as k. Rows keep the order of their neighbors, so that sums round
    exactly as before."""
    p = 0
    for row in range(len(order)):
        i = order[row]
        p_indptr[row] = p
        for k in range(indptr[i], indptr[i + 1]):
            p_indices[p] = position[indices[k]]
            if weights is not None:
                p_values[p] = weights[k]
            p += 1
    p_indptr[len(order)] = p


@_jit
def count_equal_neighbors(indptr, indices, codes):
    """Count the entries i ≠ j whose codes are both ≥ 0, and those whose codes are equal."""
    both = 0
    equal = 0
    for i in range(len(indptr) - 1):
        if codes[i] < 0:
            continue
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j != i and codes[j] >= 0:
                both += 1
                if codes[j] == codes[i]:
                    equal += 1
    return both, equal
