"""The paper's formulas, dense and literal. Slow on purpose: fast code is compared with this."""

from __future__ import annotations

import itertools

import numpy as np


def adjacency(n, edges, weights=None, directed=False):
    """A from a list of pairs, an entry at a time. Duplicates sum if weighted, merge if not."""
    A = np.zeros((n, n))
    for k, (u, v) in enumerate(edges):
        pairs = {(u, v)} if directed else {(u, v), (v, u)}
        for i, j in pairs:
            if weights is None:
                A[i, j] = 1.0
            else:
                A[i, j] += weights[k]
    return A


def with_self_loops(A):
    """Add 1 to each diagonal entry that is zero."""
    A = A.copy()
    for i in range(len(A)):
        if A[i, i] == 0:
            A[i, i] = 1.0
    return A


def normalized(A, norm):
    """r^-1/2 A c^-1/2, r^-1 A or A c^-1, with row sums r and column sums c; 0/0 = 0."""
    rows, columns = A.sum(axis=1), A.sum(axis=0)
    S = np.zeros_like(A)
    for i in range(len(A)):
        for j in range(len(A)):
            if A[i, j] != 0:
                divisor = {
                    "sym": np.sqrt(rows[i] * columns[j]),
                    "row": rows[i],
                    "col": columns[j],
                }[norm]
                S[i, j] = A[i, j] / divisor
    return S


def resolvent(S, lam):
    """(1−λ)(I − λS)⁻¹, section 2.1."""
    return (1 - lam) * np.linalg.inv(np.eye(len(S)) - lam * S)


def iteration(S, lam, n_steps, F, clamp=None):
    """F ← λSF + (1−λ)F⁰ from F⁰ = F, section 2.1."""
    F0 = F
    for _ in range(n_steps):
        F = lam * S @ F + (1 - lam) * F0
        if clamp is not None:
            F = np.clip(F, *clamp)
    return F


def series(S, lam, n_steps):
    """(1−λ) Σ_{i≤k} λ^i S^i, section 2.1."""
    return (1 - lam) * sum(lam**i * np.linalg.matrix_power(S, i) for i in range(n_steps + 1))


def power(S, n_steps):
    return np.linalg.matrix_power(S, n_steps)


def hops(S, n_steps, F):
    """[F, SF, …, S^K F], columns side by side."""
    return np.concatenate([power(S, k) @ F for k in range(n_steps + 1)], axis=1)


def unfolded(A, lam, n_steps, F, step_size=None, precondition=True):
    """TWIRLS' gradient steps from F = h₀; A includes its self-loops."""
    a = 1 / (1 + lam) if step_size is None else step_size
    h0, D = F, A.sum(axis=1)
    if precondition:
        D_tilde = np.where(D > 0, lam * D + 1 - lam, 1.0)
        root = np.diag(D_tilde**-0.5)
        for _ in range(n_steps):
            F = (1 - a) * F + a * lam * root @ A @ root @ F + a * np.diag(1 / D_tilde) @ h0
        return F
    S = normalized(A, "sym")
    for _ in range(n_steps):
        F = (1 - a - a * lam) * F + a * lam * S @ F + a * h0
    return F


def weighted_propagation(first, second, weights, n, directed, norm, self_loops, coefficients, F):
    """Σ_k c_k S^k F for tensors, with the weight of each edge given; a number λ in place of the
    coefficients means (1−λ)(I − λS)⁻¹F. Every operation is torch's, so that it has a gradient."""
    import torch

    A = torch.zeros(n, n, dtype=weights.dtype)
    for e in range(len(first)):
        at = torch.zeros(n, n, dtype=weights.dtype)
        at[first[e], second[e]] = 1.0
        if not directed:
            at[second[e], first[e]] = 1.0
        A = A + weights[e] * at
    if self_loops:
        A = A + torch.diag((torch.diag(A) == 0).to(A))
    rows, columns = A.sum(dim=1), A.sum(dim=0)
    rows, columns = torch.where(rows > 0, rows, 1.0), torch.where(columns > 0, columns, 1.0)
    left = {"sym": rows**-0.5, "row": 1 / rows, "col": torch.ones(n).to(A)}[norm]
    right = {"sym": columns**-0.5, "row": torch.ones(n).to(A), "col": 1 / columns}[norm]
    S = left[:, None] * A * right
    if isinstance(coefficients, float):
        lam = coefficients
        return (1 - lam) * torch.linalg.solve(torch.eye(n).to(A) - lam * S, F)
    return sum(float(c) * torch.matrix_power(S, k) @ F for k, c in enumerate(coefficients))


# -- the label trick ------------------------------------------------------------------------------
def self_excluded(P, Y, train):
    """Row i: Σ_k P_ik y_k over training nodes k ≠ i, an entry at a time (eq. 6)."""
    view = np.zeros((len(P), Y.shape[1]))
    for i in range(len(P)):
        for k in train:
            if k != i:
                view[i] += P[i, k] * Y[k]
    return view


def all_splits(train, alpha):
    """Every division of the training nodes into inputs and targets, with its probability."""
    for choice in itertools.product([True, False], repeat=len(train)):
        inside = [i for i, c in zip(train, choice, strict=True) if c]
        outside = [i for i, c in zip(train, choice, strict=True) if not c]
        yield inside, outside, alpha ** len(inside) * (1 - alpha) ** len(outside)


def expected_loss(loss, P, Y, train, alpha, W_y, PX_W=0.0):
    """E over splits of Σ_{i in out} loss(y_i, [P X W_x + P Y_in/α W_y]_i), divided by 1−α."""
    total = 0.0
    for inside, outside, probability in all_splits(train, alpha):
        Y_in = np.zeros_like(Y)
        Y_in[inside] = Y[inside] / alpha
        prediction = P @ Y_in @ W_y + PX_W
        total += probability * sum(loss(Y[i], prediction[i]) for i in outside)
    return total / (1 - alpha)


def squared(y, prediction):
    return np.sum((y - prediction) ** 2)


def cross_entropy(y, prediction):
    return np.log(np.sum(np.exp(prediction))) - y @ prediction


def column_energy(P, rows):
    """Σ_{k in rows, k ≠ i} P_ki² of each node i."""
    others = P - np.diag(np.diag(P))
    return (others[rows] ** 2).sum(axis=0)


def theorem_one(P, Y, train, alpha, W_y, PX_W=0.0, energy_rows=None):
    """The right side of Theorem 1 and Corollary 1, with diag(Pᵀ M P) − C² over given rows."""
    rows = train if energy_rows is None else energy_rows
    C = np.diag(P)
    Y_tr = np.zeros_like(Y)
    Y_tr[train] = Y[train]
    fit = (Y_tr - PX_W - (P - np.diag(C)) @ Y_tr @ W_y)[train]
    U2 = np.diag(P[rows].T @ P[rows]) - C**2
    Gamma = np.sqrt(np.maximum(U2, 0))[:, None] * Y_tr
    return np.sum(fit**2) + (1 - alpha) / alpha * np.sum((Gamma @ W_y) ** 2)


def hard_clamp(S, lam, Y, labeled):
    """F = λSF at unlabeled nodes, F = Y at labeled ones, by a dense solve."""
    U, L = ~labeled, labeled
    F = np.where(L[:, None], Y, 0.0)
    right = lam * S[np.ix_(U, L)] @ Y[L]
    F[U] = np.linalg.lstsq(np.eye(U.sum()) - lam * S[np.ix_(U, U)], right, rcond=None)[0]
    return F


def self_excluded_shares(P, Y, labeled):
    """(P−C)Y over (P−C)1 at labeled nodes; the mean label of the others where nothing comes."""
    rows = np.zeros_like(Y)
    for i in range(len(P)):
        others = labeled.copy()
        others[i] = False
        mass = P[i, others].sum()
        rows[i] = P[i, others] @ Y[others] / mass if mass > 1e-9 else Y[others].mean(axis=0)
    return rows


def correct(S, lam, n_steps, base, Y, train, scale):
    """C&S, first step: base predictions plus scaled, spread residuals of the training nodes.

    scale "auto": each row in proportion to the mean residual, cut to [−1, 1] at every step; a
    number: residuals of training nodes stay as they are at every step.
    """
    E = np.where(train[:, None], Y - base, 0.0)
    F = E.copy()
    for _ in range(n_steps):
        F = lam * S @ F + (1 - lam) * E
        F = np.clip(F, -1, 1) if scale == "auto" else np.where(train[:, None], E, F)
    if scale != "auto":
        return base + scale * F
    sigma = np.abs(E[train]).sum() / train.sum()
    size = np.abs(F).sum(axis=1)
    factor = np.array([sigma / s if s > 0 and sigma / s <= 1000 else 1.0 for s in size])
    return base + factor[:, None] * F


def smooth(S, lam, n_steps, corrected, Y, train):
    """C&S, second step: labels where known, corrected predictions elsewhere, spread."""
    return iteration(S, lam, n_steps, np.where(train[:, None], Y, corrected), clamp=(0.0, 1.0))


def trainable_correct_smooth(P_c, P_s, base, Y, in_mask, gamma, W_s, W_c):
    """The paper's predictor of trainable C&S for one split, literally; `gamma` scales rows."""
    M_in = np.diag(in_mask.astype(float))
    M_free = np.eye(len(Y)) - M_in
    E_in = gamma(P_c @ (M_in @ Y - M_in @ base))
    return P_s @ (M_in @ Y + M_free @ base) @ W_s + P_s @ M_free @ E_in @ W_c


# -- explanations -------------------------------------------------------------------------------
def label_propagation_effects(P, Y, labeled, node):
    """(prior of the other labels, {k: its part of the prediction of the node}), entry by entry:
    F_i = prior + Σ_{k≠i} P_ik·(y_k − prior) / Σ_{k≠i} P_ik."""
    others = [k for k in labeled if k != node]
    prior = sum(Y[k] for k in others) / len(others)
    mass = sum(P[node, k] for k in others)
    return prior, {k: P[node, k] * (Y[k] - prior) / mass for k in others}


def regression_effects(P, X, Y, labeled, node, center, spread, W_x, W_y):
    """(own columns, columns of the others, {k: label}): each term of (P X − center)/spread·W_x and
    of Σ_{k≠i} P_ik y_k W_y at the node. The center is divided like the row of P."""
    n, d = X.shape
    total = sum(P[node, k] for k in range(n))
    own, others = np.zeros((d, W_x.shape[1])), np.zeros((d, W_x.shape[1]))
    for k in range(n):
        for f in range(d):
            term = P[node, k] * (X[k, f] - center[f] / total) / spread[f] * W_x[f]
            if k == node:
                own[f] += term
            else:
                others[f] += term
    return own, others, {k: P[node, k] * Y[k] @ W_y for k in labeled if k != node}
