"""Kernels of functions of edges and of their gradients."""

import numpy as np

from .._utils.jit import kernel

_jit = kernel()


@_jit
def add_products(indptr, indices, left, right, factor, sums):
    """Add factor·⟨left_i, right_j⟩ to the sum of each entry (i, j)."""
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            total = 0.0
            for c in range(left.shape[1]):
                total += left[i, c] * right[j, c]
            sums[e] += factor * total


@_jit
def through_norm(indptr, indices, weights, sums, scales, powers, loops, gradient, own, result):
    """Gradient of the weights from that of S = left (A + loops) right, where left and right are the
    powers −p and −q of the sums of rows and columns.

    ``sums`` and ``scales`` hold these of the rows and of the columns; ``gradient`` is that of the
    entries of S, ``own`` that of its added loops. Entries of nodes whose weights are all zero
    get 0.
    """
    n = len(indptr) - 1
    of_row, of_column = np.zeros(n), np.zeros(n)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            result[e] = 0.0
            if sums[0, i] > 0 and sums[1, j] > 0:
                result[e] = scales[0, i] * scales[1, j] * gradient[e]
            of_row[i] += weights[e] * result[e]
            of_column[j] += weights[e] * result[e]
        if loops[i] > 0:
            at_loop = loops[i] * scales[0, i] * scales[1, i] * own[i]
            of_row[i] += at_loop
            of_column[i] += at_loop
    for i in range(n):
        of_row[i] *= powers[0] / sums[0, i] if sums[0, i] > 0 else 0.0
        of_column[i] *= powers[1] / sums[1, i] if sums[1, i] > 0 else 0.0
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if sums[0, i] > 0 and sums[1, j] > 0:
                result[e] -= of_row[i] + of_column[j]


@_jit
def pair_products(first, second, left, right):
    """⟨left_u, right_v⟩ of each pair (u, v)."""
    found = np.zeros(len(first))
    for e in range(len(first)):
        u, v = first[e], second[e]
        for c in range(left.shape[1]):
            found[e] += left[u, c] * right[v, c]
    return found


@_jit
def add_pairs(first, second, factor, right, n):
    """The sum of factor·right_v over the pairs (u, v) of each u."""
    found = np.zeros((n, right.shape[1]))
    for e in range(len(first)):
        u, v = first[e], second[e]
        for c in range(right.shape[1]):
            found[u, c] += factor[e] * right[v, c]
    return found
