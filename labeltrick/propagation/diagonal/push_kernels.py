"""Numba kernels for one node's neighborhood: pushes for the resolvent, moments by hops.

Both work with the symmetric form S = diag(s)·A·diag(s), whose diagonal every normalization
shares, and keep "hat" variables v̂ = v/s: then (Sv)^_u = Σ_v w_uv·s_v²·v̂_v, and an edge needs
nothing from its far end but the cell it adds to.
"""

from __future__ import annotations

import numpy as np

from ..._utils.jit import kernel

_jit = kernel(error_model="numpy")

RESIDUAL, SOLUTION, FACTOR = 0, 1, 2  # columns of a push's state


@_jit
def _other_energy(touched, n_touched, state, in_rows, row_scale, i):
    """Σ (x + ρ)² / t² over the touched rows other than i."""
    squares = 0.0
    for t in range(n_touched):
        v = touched[t]
        if in_rows[v] and v != i:
            known = state[v, SOLUTION] + state[v, RESIDUAL]
            squares += state[v, FACTOR] * known * known / row_scale[v]
    return squares


@_jit
def push_resolvent(
    indptr, indices, weights, loops, lam, nodes, tol, budget, in_rows, row_scale, rtol, atol,
    smallest, state, value, bound, energy, unseen, edges, first, stop,
):  # fmt: skip
    """C_ii of P = (1−λ)(I − λS)⁻¹ and Σ_{k in rows, k ≠ i} P_ki², for nodes[first:stop].

    For each node i, x ≈ G e_i with G = (I − λS)⁻¹ is built by relaxing one entry at a time, which
    keeps ρ = e_i − (I − λS)x ≥ 0 up to date. Then, exactly,

        G_ii = x_i + xᵀρ + ρᵀGρ,   ‖ρ‖² ≤ ρᵀGρ ≤ ‖ρ‖²/(1−λ),

    the lower bound because ρ and G are non-negative and G's diagonal is at least 1. Entries are
    relaxed while they hold more than a threshold for each edge they cost; the threshold halves
    until the bound is met or ``budget`` edges have been visited.

    The column is at least x + ρ, entry by entry, and ``unseen`` bounds the norm of the rest. The
    energy is right once 2√energy·unseen + unseen² ≤ max(rtol·energy, atol); rtol = inf asks for C
    alone. The own row is left out: energies may be far smaller than C², and a difference of the two
    would lose them.

    ``loops`` is the diagonal of S, ``row_scale`` is t² of `SymmetricForm`, ``smallest`` is the
    smallest t of a row. ``state`` (n, 4) holds zeros, and s² in column FACTOR, before and after.
    ``edges`` receives the number of edges visited.
    """
    n = len(indptr) - 1
    touched = np.empty(n + 1, indices.dtype)
    queue = np.empty(n + 1, indices.dtype)
    upcoming = np.empty(n + 1, indices.dtype)
    share = np.sqrt(1 + rtol) - 1
    for place in range(first, stop):
        i = nodes[place]
        target = 2 * tol / lam
        s_i = np.sqrt(state[i, FACTOR])
        state[i, RESIDUAL] = 1 / s_i
        norm2 = 1.0
        threshold = 0.3 * s_i
        visited = 0
        touched[0] = i
        n_touched = 1
        queue[0] = i
        n_queue = 1
        done = False
        while not done:
            while n_queue > 0 and not done:
                n_upcoming = 0
                for q in range(n_queue):
                    v = queue[q]
                    rho, factor = state[v, RESIDUAL], state[v, FACTOR]
                    norm2 -= factor * rho * rho
                    gain = rho / (1 - lam * loops[v])
                    state[v, SOLUTION] += gain
                    step = lam * factor * gain
                    added = 0.0
                    for e in range(indptr[v], indptr[v + 1]):
                        u = indices[e]
                        increment = step
                        if weights is not None:
                            increment = step * weights[e]
                        old, factor_u = state[u, RESIDUAL], state[u, FACTOR]
                        new = old + increment
                        state[u, RESIDUAL] = new
                        # Always written, counted if it holds: a branch would often mispredict.
                        touched[n_touched] = u
                        n_touched += (old == 0.0) & (state[u, SOLUTION] == 0.0) & (new != 0.0)
                        upcoming[n_upcoming] = u
                        n_upcoming += (factor_u * new > threshold) & (factor_u * old <= threshold)
                        added += factor_u * increment * (old + new)
                    # The loop's share (and any stored loop's) is solved for in `gain`.
                    left = state[v, RESIDUAL]
                    norm2 += added - factor * (left * left - rho * rho)
                    state[v, RESIDUAL] = 0.0
                    visited += indptr[v + 1] - indptr[v]
                    if norm2 <= target:
                        norm2 = 0.0  # recomputed: the running sum has rounding errors
                        for t in range(n_touched):
                            u = touched[t]
                            norm2 += state[u, FACTOR] * state[u, RESIDUAL] ** 2
                        if norm2 <= target and share < np.inf:
                            # The squared norm at which the energy known so far is accurate. It
                            # grows with the energy: what is met once stays met.
                            known = (
                                (1 - lam) ** 2
                                * row_scale[i]
                                * _other_energy(touched, n_touched, state, in_rows, row_scale, i)
                            )
                            reach = max(
                                share * np.sqrt(known), np.sqrt(known + atol) - np.sqrt(known)
                            )
                            allowed = (reach * smallest / lam) ** 2 / row_scale[i]
                            if norm2 > allowed:
                                target = max(allowed, norm2 / 16)
                    if norm2 <= target or visited > budget:
                        done = True
                        break
                queue, upcoming = upcoming, queue
                n_queue = n_upcoming
            if not threshold > 1e-30 * s_i:
                done = True  # nothing is left to relax: the component is solved to rounding
            if not done:
                threshold *= 0.5
                n_queue = 0
                for t in range(n_touched):
                    v = touched[t]
                    queue[n_queue] = v
                    n_queue += state[v, RESIDUAL] * state[v, FACTOR] > threshold
        x_i = state[i, SOLUTION] * s_i
        norm2 = 0.0
        product = 0.0
        squares = _other_energy(touched, n_touched, state, in_rows, row_scale, i)
        for t in range(n_touched):
            v = touched[t]
            weighted = state[v, FACTOR] * state[v, RESIDUAL]
            norm2 += weighted * state[v, RESIDUAL]
            product += weighted * state[v, SOLUTION]
            state[v, RESIDUAL] = 0.0
            state[v, SOLUTION] = 0.0
        value[place] = (1 - lam) * (x_i + product) + (1 - 0.5 * lam) * norm2
        bound[place] = 0.5 * lam * norm2
        edges[place] = visited
        energy[place] = (1 - lam) ** 2 * squares * row_scale[i]
        unseen[place] = lam * np.sqrt(norm2 * row_scale[i]) / smallest


@_jit
def hop_moments(
    indptr, indices, weights, loops, factor, nodes, n_steps, budget, state, moments, first, stop
):
    """(S^k)_ii for k = 0…n_steps into ``moments``, exactly, from half as many hops:

    ``(S^2j)_ii = ⟨S^j e_i, S^j e_i⟩`` and ``(S^(2j+1))_ii = ⟨S^j e_i, S^(j+1) e_i⟩``.

    ``loops`` are weights of *added* loops, ``factor`` is s². A node whose neighborhood takes
    more than ``budget`` edges gets NaN. ``state`` (n, 2) holds zeros before and after.
    """
    n = len(indptr) - 1
    touched = np.empty((2, n + 1), indices.dtype)
    for place in range(first, stop):
        i = nodes[place]
        moments[place, 0] = 1.0
        now, nxt = 0, 1
        touched[now, 0] = i
        n_now, n_next = 1, 0
        state[i, now] = 1 / np.sqrt(factor[i])
        visited = 0
        k = 0
        while k < n_steps:
            n_next = 0
            for t in range(n_now):
                v = touched[now, t]
                share = factor[v] * state[v, now]
                visited += indptr[v + 1] - indptr[v]
                for e in range(indptr[v], indptr[v + 1]):
                    u = indices[e]
                    increment = share
                    if weights is not None:
                        increment = share * weights[e]
                    touched[nxt, n_next] = u
                    n_next += (state[u, nxt] == 0.0) & (increment != 0.0)
                    state[u, nxt] += increment
                if share * loops[v] > 0:
                    touched[nxt, n_next] = v
                    n_next += state[v, nxt] == 0.0
                    state[v, nxt] += share * loops[v]
                if visited > budget:
                    break
            if visited > budget:
                moments[place, 1:] = np.nan
                break
            odd = 0.0
            even = 0.0
            for t in range(n_next):
                u = touched[nxt, t]
                odd += factor[u] * state[u, now] * state[u, nxt]
                even += factor[u] * state[u, nxt] * state[u, nxt]
            moments[place, k + 1] = odd
            if k + 2 <= n_steps:
                moments[place, k + 2] = even
            k += 2
            for t in range(n_now):
                state[touched[now, t], now] = 0.0
            now, nxt = nxt, now
            n_now, n_next = n_next, 0
        for t in range(n_now):
            state[touched[now, t], now] = 0.0
        for t in range(n_next):
            state[touched[nxt, t], nxt] = 0.0


@_jit
def column_products(left, right, row_weight, first, stop):
    """``Σ_v left[v, k]·right[v, k]·row_weight[v]`` over rows [first, stop), for each column k."""
    sums = np.zeros(left.shape[1])
    for v in range(first, stop):
        for k in range(left.shape[1]):
            sums[k] += left[v, k] * right[v, k] * row_weight[v]
    return sums
