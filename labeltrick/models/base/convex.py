"""Cross-entropy of a linear map, minimized to convergence.

    Σ_i w_i·CE(link(Z_i W), Y_i) + ½·‖√ridge (W − W⁰)‖²

is convex in W. The ridge has one value per input; the link is the softmax (one class per row) or
the sigmoid (each column separately). Rare classes have almost no curvature, so plain L-BFGS
converges slowly. Here it runs in the scale of each class's block of the Hessian, renewed every 25
steps.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from ..._utils.progress import Progress, ProgressBar
from ..._utils.threads import one_blas_thread, run_chunks

_STEPS_PER_ROUND = 25
_CHUNK_BYTES = 2**19
_SINGLE_PRECISION_FROM = 50_000  # rows; with fewer, float64 costs almost nothing
_HESSIAN_FLOPS = 1e9
_WIDEST_BLOCK = 400  # inputs; with more, only the diagonal of the Hessian


@dataclass(frozen=True)
class ConvexFit:
    """Minimizing weights, mean loss, number of evaluations, and estimated excess."""

    weights: np.ndarray
    loss: float
    n_evaluations: int
    excess: float
    converged: bool


class CrossEntropy:
    """Loss and gradient at any W; many rows are kept in float32."""

    def __init__(
        self,
        Z: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        start: np.ndarray,
        ridge: np.ndarray,
        link: str,
    ) -> None:
        narrow = len(Z) >= _SINGLE_PRECISION_FROM or Z.dtype == np.float32
        dtype = np.float32 if narrow else np.float64
        self.Z = np.ascontiguousarray(Z, dtype)
        self.Y = Y.astype(dtype)
        self.codes = Y.argmax(axis=1)
        self.weight = weight.astype(dtype)
        self.start, self.ridge, self.link = start, ridge, link
        self.n_evaluations = 0
        width = self.Z.shape[1] + 2 * self.Y.shape[1]
        n_rows = max(256, _CHUNK_BYTES // (width * self.Z.itemsize))
        self._cuts = np.append(np.arange(0, len(self.Z), n_rows), len(self.Z))

    def probabilities(self, W: np.ndarray) -> tuple[float, np.ndarray]:
        """(Σ w·CE, probabilities) of all rows."""
        return self._probabilities(W.astype(self.Z.dtype), 0, len(self.Z))

    def _probabilities(self, W: np.ndarray, first: int, stop: int) -> tuple[float, np.ndarray]:
        rows, weight = slice(first, stop), self.weight[first:stop]
        scores = self.Z[rows] @ W
        if self.link == "sigmoid":
            # log(1 + e^s) − y·s, without overflow
            Y = self.Y[rows]
            each = np.maximum(scores, 0) - scores * Y + np.log1p(np.exp(-np.abs(scores)))
            loss = float(weight @ each.sum(axis=1))
            return loss, expit(scores)
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[np.arange(len(scores)), self.codes[rows]].copy()
        np.exp(scores, out=scores)
        total = scores.sum(axis=1)
        loss = float(np.sum(weight * (np.log(total) - own), dtype=np.float64))
        scores /= total[:, None]
        return loss, scores

    def loss(self, W: np.ndarray) -> float:
        """Σ w·CE, without the ridge."""
        narrow = W.astype(self.Z.dtype)
        return sum(run_chunks(lambda a, b: self._probabilities(narrow, a, b)[0], self._cuts))

    def __call__(self, W: np.ndarray) -> tuple[float, np.ndarray]:
        """Loss and gradient, in chunks of rows that fit into the inner caches."""
        self.n_evaluations += 1
        narrow = W.astype(self.Z.dtype)

        def part(first: int, stop: int) -> tuple[float, np.ndarray]:
            loss, p = self._probabilities(narrow, first, stop)
            p -= self.Y[first:stop]
            p *= self.weight[first:stop, None]
            return loss, (self.Z[first:stop].T @ p).astype(np.float64)

        parts = run_chunks(part, self._cuts)
        away = W - self.start
        loss = sum(one for one, _ in parts) + float(np.sum(self.ridge * away**2)) / 2
        return loss, sum(one for _, one in parts) + self.ridge * away

    def scales(self, W: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """For each column of W, L⁻ᵀ where L Lᵀ is its block of the Hessian, of shape (c, d, d).

        A sample of the rows is used. With very many inputs, only the diagonal, of shape (c, d, 1).
        """
        m, d = self.Z.shape
        c = self.Y.shape[1]
        wide = d > _WIDEST_BLOCK
        cost = c * d * (1 if wide else d)
        n_rows = int(min(m, max(2 * d, _HESSIAN_FLOPS // cost)))
        rows = np.arange(m) if n_rows == m else rng.choice(m, n_rows, replace=False)
        sample = CrossEntropy(
            self.Z[rows], self.Y[rows], self.weight[rows], self.start, self.ridge, self.link
        )
        _, p = sample.probabilities(W)
        curvature = p * (1 - p) * sample.weight[:, None] * (m / n_rows)
        floor = np.broadcast_to(self.ridge + 1e-12 + 1e-8 * float(curvature.sum()), (d, 1))
        if wide:
            return ((sample.Z**2).T @ curvature + floor).T[:, :, None] ** -0.5
        blocks = np.empty((c, d, d))
        for k in range(c):
            block = (sample.Z * curvature[:, k : k + 1]).T @ sample.Z
            block = block.astype(np.float64)
            block[np.diag_indices(d)] += floor[:, 0]
            blocks[k] = np.linalg.inv(np.linalg.cholesky(block)).T
        return blocks


class _Scaled:
    """The problem as a function of x with W = at + L⁻ᵀx, where its Hessian is near the identity."""

    def __init__(self, problem: CrossEntropy, at: np.ndarray, L: np.ndarray) -> None:
        self.problem, self.at, self.L = problem, at, L

    def weights(self, x: np.ndarray) -> np.ndarray:
        steps = x.reshape(self.at.shape[1], self.at.shape[0])
        if self.L.shape[2] == 1:
            return self.at + (self.L[:, :, 0] * steps).T
        return self.at + np.matmul(self.L, steps[:, :, None])[:, :, 0].T

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        total, gradient = self.problem(self.weights(x))
        slopes = gradient.T
        if self.L.shape[2] == 1:
            return total, (self.L[:, :, 0] * slopes).ravel()
        return total, np.matmul(self.L.transpose(0, 2, 1), slopes[:, :, None]).ravel()


def scaled_identity(problem: CrossEntropy, unit: np.ndarray) -> np.ndarray:
    """The multiple of ``unit`` with the least loss: propagated labels, sharpened."""
    from scipy.optimize import minimize_scalar

    def loss(log_scale: float) -> float:
        return problem.loss(math.exp(log_scale) * unit)

    with one_blas_thread():
        best = minimize_scalar(loss, bounds=(-3.0, 6.0), method="bounded", options={"xatol": 0.05})
    return float(np.exp(best.x)) * unit


def minimize_cross_entropy(
    problem: CrossEntropy,
    start: np.ndarray,
    *,
    tol: float = 1e-6,
    max_rounds: int = 40,
    progress: Progress = None,
) -> ConvexFit:
    """Weights whose loss is within about ``tol`` (relative) of the minimum.

    In the scale of the Hessian's blocks, half the squared gradient estimates the remaining gain;
    the search ends when this is below ``tol`` times the loss.
    """
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    W, loss, excess = start, math.inf, math.inf
    with one_blas_thread(), ProgressBar(max_rounds, "convex fit", progress) as bar:
        for _ in range(max_rounds):
            scaled = _Scaled(problem, W, problem.scales(W, rng))
            total, slope = scaled(np.zeros(W.size))
            loss, excess = total, float(slope @ slope) / 2
            if excess <= tol * abs(total) + 1e-12:
                break
            options = {
                "maxiter": _STEPS_PER_ROUND,
                "maxcor": 20,
                "gtol": math.sqrt(tol * abs(total) / W.size),
                "ftol": 0.01 * tol,
            }
            at = np.zeros(W.size)
            found = minimize(scaled, at, jac=True, method="L-BFGS-B", options=options)
            W = scaled.weights(found.x)
            bar.advance()
    converged = excess <= tol * abs(loss) + 1e-12
    if not converged:
        warnings.warn(
            f"the convex fit stopped {excess / abs(loss):.1e} (relative) above its minimum. "
            "Increase `ridge`.",
            ConvergenceWarning,
            stacklevel=2,
        )
    mass = float(problem.weight.sum(dtype=np.float64))
    return ConvexFit(W, loss / mass, problem.n_evaluations, excess / mass, converged)
