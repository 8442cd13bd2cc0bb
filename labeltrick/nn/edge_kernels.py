"""Kernels of the gradient of edge weights."""

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
def through_norm(indptr, indices, weights, rows, columns, loops, powers, gradient, own, result):
    """Gradient of the weights from that of S = rows^-p (A + loops) columns^-q, (p, q) = powers.

    ``gradient`` is that of the entries of S, ``own`` that of its added loops. Entries of nodes
    whose weights are all zero get 0.
    """
    n = len(indptr) - 1
    of_row, of_column = np.zeros(n), np.zeros(n)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            result[e] = 0.0
            if rows[i] > 0 and columns[j] > 0:
                result[e] = rows[i] ** -powers[0] * columns[j] ** -powers[1] * gradient[e]
            of_row[i] += weights[e] * result[e]
            of_column[j] += weights[e] * result[e]
        if loops[i] > 0:
            at_loop = loops[i] * rows[i] ** -powers[0] * columns[i] ** -powers[1] * own[i]
            of_row[i] += at_loop
            of_column[i] += at_loop
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if rows[i] > 0 and columns[j] > 0:
                result[e] -= powers[0] * of_row[i] / rows[i] + powers[1] * of_column[j] / columns[j]
