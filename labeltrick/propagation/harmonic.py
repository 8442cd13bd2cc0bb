"""Label propagation in which labeled nodes keep their labels, such as the harmonic solution.

At unlabeled nodes F = λ S F, at labeled ones F = Y. With λ = 1 and the norm "row" every
unlabeled node is the mean of its neighbors (Zhu, Ghahramani and Lafferty, 2003).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from .._utils.progress import Progress, ProgressBar
from ..graph.normalized import NormalizedAdjacency

_MOST_STEPS = 10_000
Product = Callable[[np.ndarray], np.ndarray]


def clamped_steps(
    S: NormalizedAdjacency,
    Y: np.ndarray,
    labeled: np.ndarray,
    lam: float,
    n_steps: int,
    progress: Progress = None,
) -> np.ndarray:
    """``n_steps`` steps of F ← λSF; labeled rows are reset to Y after each."""
    F = np.where(labeled[:, None], Y, 0.0)
    fixed = F[labeled]
    with ProgressBar(n_steps, "clamped steps", progress) as bar:
        for _ in range(n_steps):
            F = lam * (S @ F)
            F[labeled] = fixed
            bar.advance()
    return F


def clamped_limit(
    S: NormalizedAdjacency,
    Y: np.ndarray,
    labeled: np.ndarray,
    lam: float,
    tol: float = 1e-6,
    progress: Progress = None,
) -> np.ndarray:
    """The limit of `clamped_steps` for λ ≤ 1, up to a residual of ``tol`` relative to the input.

    Uses conjugate gradients on (I − λS) restricted to unlabeled nodes, which is self-adjoint in
    the scale of an undirected graph, and plain steps on directed graphs. O(edges × columns) per
    step.
    """
    F = np.where(labeled[:, None], Y, 0.0)
    free = ~labeled[:, None]

    def neighbors(x: np.ndarray) -> np.ndarray:
        return lam * (S @ x) * free

    if S.is_similar_to_symmetric:
        metric = (S.right / S.left)[:, None]  # S is self-adjoint for Σ metric·x·y
        found = _conjugate_gradients(neighbors, neighbors(F), metric, tol, progress)
    else:
        found = _plain_steps(neighbors, neighbors(F), tol, progress)
    solution, residual = found
    if residual > tol:
        from sklearn.exceptions import ConvergenceWarning  # scikit-learn is slow to import

        warnings.warn(
            f"hard clamp stopped after {_MOST_STEPS} steps at residual {residual:.1e}, above "
            f"tol={tol:.1e}. Lower the damping, or raise tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return F + solution


def _conjugate_gradients(
    neighbors: Product, inputs: np.ndarray, metric: np.ndarray, tol: float, progress: Progress
) -> tuple[np.ndarray, float]:
    x, r = np.zeros_like(inputs), inputs.copy()
    p, energy = r.copy(), (metric * r * r).sum(axis=0)
    asked = np.maximum(energy, np.finfo(float).tiny) * tol**2
    with ProgressBar(_MOST_STEPS, "hard clamp", progress) as bar:
        for _ in range(_MOST_STEPS):
            if (energy <= asked).all():
                break
            Ap = p - neighbors(p)
            curvature = (metric * p * Ap).sum(axis=0)
            step = np.divide(energy, curvature, out=np.zeros_like(energy), where=curvature > 0)
            x += step * p
            r -= step * Ap
            fresh = (metric * r * r).sum(axis=0)
            ratio = np.divide(fresh, energy, out=np.zeros_like(energy), where=energy > 0)
            p = r + ratio * p
            energy = fresh
            bar.advance()
    return x, tol * float(np.sqrt((energy / asked).max(initial=0.0)))


def _plain_steps(
    neighbors: Product, inputs: np.ndarray, tol: float, progress: Progress
) -> tuple[np.ndarray, float]:
    x, moved = inputs.copy(), np.inf
    size = np.maximum(np.abs(inputs).max(axis=0, initial=0.0), np.finfo(float).tiny)
    with ProgressBar(_MOST_STEPS, "hard clamp", progress) as bar:
        for _ in range(_MOST_STEPS):
            fresh = neighbors(x) + inputs
            moved = float((np.abs(fresh - x).max(axis=0, initial=0.0) / size).max(initial=0.0))
            x = fresh
            bar.advance()
            if moved <= tol:
                break
    return x, moved
