"""Numba kernels for single rows of P: what one node gets from each of the others."""

from __future__ import annotations

import numpy as np

from .._utils.jit import kernel

_jit = kernel(error_model="numpy")

RESIDUAL, SOLUTION = 0, 1  # columns of a push's state


@_jit
def next_hop(indptr, indices, weights, left, nodes, values, state, found):
    """Multiply a sparse row by S = diag(left)·A. ``found`` receives the nodes of the result, whose
    values stay in ``state`` (zeros before). Returns their number."""
    n_found = 0
    for k in range(len(nodes)):
        v = nodes[k]
        share = values[k] * left[v]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if state[u] == 0.0:
                found[n_found] = u
                n_found += 1
            if weights is None:
                state[u] += share
            else:
                state[u] += share * weights[e]
    return n_found


@_jit
def push_row(indptr, indices, weights, left, lam, start, least, budget, state, touched):
    """Row ``start`` of G = (I − λS)⁻¹ for S = diag(left)·A, from its neighborhood.

    x and ρ ≥ 0 with x = e − ρ + λxS are kept up to date, so that the row is x + ρG. Entries are
    relaxed while ρ exceeds a threshold for each edge they cost. It halves down to ``least``, or
    until ``budget`` edges have been visited. ``state`` (n, 2) holds zeros before; the nodes that
    were reached are written to ``touched``. Returns their number.
    """
    n = len(indptr) - 1
    queue = np.empty(n + 1, indices.dtype)
    upcoming = np.empty(n + 1, indices.dtype)
    state[start, RESIDUAL] = 1.0
    touched[0] = start
    n_touched = 1
    queue[0] = start
    n_queue = 1
    threshold = 0.3
    visited = 0
    while threshold > least and visited <= budget:
        while n_queue > 0 and visited <= budget:
            n_upcoming = 0
            for q in range(n_queue):
                v = queue[q]
                rho = state[v, RESIDUAL]
                state[v, SOLUTION] += rho
                state[v, RESIDUAL] = 0.0
                step = lam * rho * left[v]
                for e in range(indptr[v], indptr[v + 1]):
                    u = indices[e]
                    old = state[u, RESIDUAL]
                    new = old + (step if weights is None else step * weights[e])
                    state[u, RESIDUAL] = new
                    if old == 0.0 and state[u, SOLUTION] == 0.0 and new != 0.0:
                        touched[n_touched] = u
                        n_touched += 1
                    if new * left[u] > threshold and old * left[u] <= threshold:
                        upcoming[n_upcoming] = u
                        n_upcoming += 1
                visited += indptr[v + 1] - indptr[v]
                if visited > budget:
                    break
            queue, upcoming = upcoming, queue
            n_queue = n_upcoming
        threshold *= 0.5
        n_queue = 0
        for t in range(n_touched):
            v = touched[t]
            if state[v, RESIDUAL] * left[v] > threshold:
                queue[n_queue] = v
                n_queue += 1
    return n_touched
