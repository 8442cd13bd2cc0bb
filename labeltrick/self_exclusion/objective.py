"""Theorem 1 and Corollary 1 as code: the objective that the random label trick amounts to.

For squared loss, averaging over all random splits at rate α gives, divided by 1−α,

    ‖Y_tr − M_tr P X W_x − M_tr (P−C) Y_tr W_y‖² + (1−α)/α·‖Γ W_y‖²,

with Γ = (diag(Pᵀ M_tr P) − C²)^½ Y_tr. (The paper prints diag(PᵀP); its proof, and enumeration of
all splits, have the training rows only. See docs/math.md.) It is quadratic in the weights,
so its minimizer has a closed form at every α.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from .._utils.checks import as_numpy, check_count, check_number
from .._utils.progress import Progress, ProgressBar
from ..propagation.base import Propagation
from ..propagation.diagonal.self_weight import SelfWeight, check_nodes
from .label_trick import penalty_matrix, penalty_weights, self_excluded


@dataclass(frozen=True)
class LabelTrickProblem:
    """What the objective needs of graph, labels and features; made by `label_trick_problem`.

    Attributes
    ----------
    target : Y at the training nodes, (m, c).
    label_inputs : Z, the self-excluded view at the training nodes, (m, c).
    feature_inputs : P·X at the training nodes, (m, d); d = 0 without features.
    penalty : YᵀU²Y, (c, c).
    """

    target: np.ndarray
    label_inputs: np.ndarray
    feature_inputs: np.ndarray
    penalty: np.ndarray

    @property
    def n_features(self) -> int:
        return self.feature_inputs.shape[1]


@dataclass(frozen=True)
class LabelTrickWeights:
    """Minimizing weights at one split rate: predict with PX·features + (P−C)Y·labels."""

    split_rate: float
    features: np.ndarray
    labels: np.ndarray


def label_trick_problem(
    P: Propagation,
    Y: Any,
    train: Any,
    X: Any = None,
    *,
    self_weight: SelfWeight | None = None,
    tol: float = 1e-4,
    progress: Progress = None,
) -> LabelTrickProblem:
    """Propagate labels and features once and collect what every split rate shares.

    ``self_weight`` may be ``P.self_weight(train, rows=train)``, if at hand. ``tol`` bounds the
    error of C; that of the penalty follows from it.
    """
    nodes = check_nodes("train", train, P.n_nodes)
    matrix = as_numpy("Y", Y)
    matrix = matrix.reshape(len(matrix), -1).astype(np.float64)
    if self_weight is None or self_weight.column_energy is None:
        self_weight = P.self_weight(nodes, tol=tol, rows=nodes, progress=progress)
    Z = self_excluded(P, matrix, nodes, self_weight=self_weight, progress=progress)[nodes]
    u2 = penalty_weights(P, nodes, self_weight=self_weight)
    propagated = np.zeros((len(nodes), 0))
    if X is not None:
        propagated = P.apply(X, progress=progress)[nodes].astype(np.float64)
        propagated = propagated.reshape(len(nodes), -1)
    return LabelTrickProblem(matrix[nodes], Z, propagated, penalty_matrix(matrix, nodes, u2))


def probed_penalty(
    P: Propagation,
    Y: Any,
    train: Any,
    *,
    rows: Any,
    self_weight: SelfWeight,
    n_probes: int = 32,
    random_state: int = 0,
    progress: Progress = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(YᵀU²Y, its standard error), c×c, without the energy of each single column of P.

    For independent signs s, E ‖M (P−C) diag(s) Y w‖² = Σ_i u_i² (Y w)_i²: a propagation of c
    columns for each draw, where single energies take one for each training node. Two columns of Y
    that no node has both of (two classes) have a product of exactly 0.

    Parameters
    ----------
    train, rows : the nodes with an input label; the rows of P that energies are summed over, these
        nodes among them.
    self_weight : C of the training nodes at least.
    n_probes : draws; the error falls with their root.
    """
    matrix = as_numpy("Y", Y).reshape(P.n_nodes, -1)
    nodes, counted = check_nodes("train", train, P.n_nodes), check_nodes("rows", rows, P.n_nodes)
    if not np.isin(nodes, counted).all():
        raise ValueError("`rows` must hold the training nodes; some are missing.")
    n_probes = check_count("n_probes", n_probes, 2)
    labels = matrix[nodes].astype(np.float64)
    own = self_weight.value[self_weight.places(nodes, P.n_nodes)][:, None]
    rng = np.random.default_rng(random_state)
    draws = np.empty((n_probes, labels.shape[1], labels.shape[1]))
    signed = np.zeros((P.n_nodes, labels.shape[1]))
    with ProgressBar(n_probes, "penalty", progress) as bar:
        for draw in draws:
            signed[nodes] = labels * rng.choice((-1.0, 1.0), size=(len(nodes), 1))
            spread = P.apply(signed, progress=False)
            spread[nodes] -= own * signed[nodes]
            draw[:] = spread[counted].T @ spread[counted]
            bar.advance()
    draws *= np.abs(labels).T @ np.abs(labels) > 0
    return draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(n_probes)


def objective(
    problem: LabelTrickProblem,
    split_rate: float,
    labels: np.ndarray,
    features: np.ndarray | None = None,
) -> float:
    """The deterministic objective: E over splits of the squared loss, divided by 1−α."""
    alpha = _check_rate(split_rate)
    prediction = problem.label_inputs @ labels
    if features is not None:
        prediction = prediction + problem.feature_inputs @ features
    fit = np.sum((problem.target - prediction) ** 2)
    return float(fit + (1 - alpha) / alpha * np.sum(labels * (problem.penalty @ labels)))


def _check_rate(value: Any) -> float:
    """A split rate in (0, 1]; 1 is the limit, the self-excluded objective without penalty."""
    return 1.0 if value == 1 else check_number("split_rate", value, 0.0, 1.0)


def minimize(
    problem: LabelTrickProblem, split_rates: Any, *, ridge: float | np.ndarray = 0.0
) -> list[LabelTrickWeights]:
    """The minimizer of the objective at each split rate.

    Products with the data are formed once, O(m(c+d)²); each rate then costs one
    factorization of a (c+d)×(c+d) matrix. ``ridge`` ≥ 0 adds ridge·‖W‖² on all weights, or one
    value for each input, features first. Where
    the minimizer is not unique, the one of least norm is given.
    """
    inputs = np.concatenate([problem.feature_inputs, problem.label_inputs], axis=1)
    gram, right = inputs.T @ inputs, inputs.T @ problem.target
    if np.any(np.asarray(ridge) < 0):
        raise ValueError(f"`ridge` must be at least 0; got {ridge}.")
    gram[np.diag_indices_from(gram)] += ridge
    d = problem.n_features
    found = []
    for rate in np.atleast_1d(as_numpy("split_rates", split_rates)):
        alpha = _check_rate(float(rate))
        system = gram.copy()
        system[d:, d:] += (1 - alpha) / alpha * problem.penalty
        weights = solve_semidefinite(system, right)
        found.append(LabelTrickWeights(alpha, weights[:d], weights[d:]))
    return found


def solve_semidefinite(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric system that may be singular (a class without inputs, say)."""
    try:
        factor = scipy.linalg.cho_factor(system)
    except scipy.linalg.LinAlgError:
        return scipy.linalg.lstsq(system, right)[0]
    diagonal = np.abs(np.diag(factor[0]))
    if diagonal.min(initial=np.inf) < 1e-7 * diagonal.max(initial=0.0):
        return scipy.linalg.lstsq(system, right)[0]
    return scipy.linalg.cho_solve(factor, right)
