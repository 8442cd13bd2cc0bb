"""diag(P) from random signs: E[z ∘ Bz] = diag(B) for z of independent ±1.

Known parts are subtracted first, which leaves B small: the part of the largest eigenvectors
(deflation) and the first two powers of S, whose diagonals are sums over a node's own edges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._utils.progress import Progress, ProgressBar
from ...graph.normalized import NormalizedAdjacency
from . import neighborhoods

_RANK = 16  # eigenvectors subtracted
_BLOCK = 32


def top_eigenpairs(S: NormalizedAdjacency, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of the symmetric form of S, and their eigenvectors."""
    import scipy.sparse.linalg as sla

    n = S.graph.n_nodes
    t = np.sqrt(S.right / S.left)
    symmetric = sla.LinearOperator(
        (n, n), matvec=lambda v: t * (S @ (v.ravel() / t)), dtype=np.float64
    )
    start = np.random.default_rng(seed).normal(size=n)
    return sla.eigsh(symmetric, k=rank, which="LA", v0=start, tol=1e-6)


def probe_diagonal(
    apply: Callable[[np.ndarray], np.ndarray],
    S: NormalizedAdjacency,
    coefficients: np.ndarray,
    *,
    n_probes: int,
    seed: int,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """(estimate of diag(P), its standard error) at all nodes.

    ``coefficients`` are those of P on the powers of S (the first few, for the resolvent). A
    directed graph has no eigenvectors to deflate and no closed forms: nothing is subtracted.
    """
    n = S.graph.n_nodes
    known = np.zeros(n)
    low = np.zeros(3)
    t = np.sqrt(S.right / S.left)
    vectors, images = np.zeros((n, 0)), np.zeros((n, 0))
    if S.is_similar_to_symmetric:
        low[: len(coefficients)] = coefficients[:3]
        moments = neighborhoods.hop_moments(
            neighborhoods.SymmetricForm.of(S), 2, np.arange(n), budget=2**62, progress=progress
        )
        known = moments @ low
        rank = min(_RANK, n - 2)
        if rank > 0 and S.graph.nnz > 0 and coefficients.any():
            values, vectors = top_eigenpairs(S, rank, seed)
            powers = np.polynomial.polynomial.polyval(values, coefficients)
            gains = powers - np.polynomial.polynomial.polyval(values, low)
            known = known + (vectors**2) @ gains
            images = vectors * gains
    rng = np.random.default_rng(seed)
    total, squares = np.zeros(n), np.zeros(n)
    with ProgressBar(n_probes, "probes", progress) as bar:
        for first in range(0, n_probes, _BLOCK):
            count = min(_BLOCK, n_probes - first)
            z = rng.choice((-1.0, 1.0), size=(n, count))
            rest = apply(z) - low[0] * z
            if low[1:].any():
                once = S @ z
                rest -= low[1] * once + low[2] * (S @ once)
            if images.shape[1]:
                rest -= images @ (vectors.T @ (z * t[:, None])) / t[:, None]
            sample = z * rest
            total += sample.sum(axis=1)
            squares += (sample**2).sum(axis=1)
            bar.advance(count)
    mean = total / n_probes
    variance = np.maximum(squares / n_probes - mean**2, 0) / max(1, n_probes - 1)
    return known + mean, np.sqrt(variance)
