"""Theorem 1 and Corollary 1 as code: the expected objective of the stochastic label trick.

For squared loss, the average over all random splits at rate α, divided by 1−α, is

    ‖Y_tr − M_tr P X W_x − M_tr (P−C) Y_tr W_y‖² + (1−α)/α·‖Γ W_y‖²  (paper, eq. 8 and 9),

with Γ = (diag(Pᵀ M_tr P) − C²)^½ Y_tr. The paper prints diag(PᵀP); its proof, and an enumeration of
all splits, give the training rows only. See docs/explanation/math.md. The objective is quadratic
in the weights, so its minimizer has a closed form at every α.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from .._utils.checks import as_numpy, check_number
from .._utils.progress import Progress, ProgressBar
from ..propagation.base import Propagation
from ..propagation.diagonal.self_weight import SelfWeight, check_nodes
from .label_trick import self_excluded
from .labels import masked_labels

_RARE = 256  # columns of Y with no more entries have exact energies
_LEAST_DRAWS, _MOST_DRAWS = 16, 512


@dataclass(frozen=True)
class LabelTrickProblem:
    """The data of the objective: what it needs from the graph, the labels and the features.

    Made by `label_trick_problem`.

    Attributes
    ----------
    target : ndarray of shape (m, c)
        Labels Y of the training nodes.
    label_inputs : ndarray of shape (m, c)
        Self-excluded view (P−C)·Y_tr at the training nodes.
    feature_inputs : ndarray of shape (m, d)
        P·X at the training nodes; d = 0 without features.
    penalty : ndarray of shape (c, c)
        ΓᵀΓ = YᵀU²Y.
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
    """Minimizing weights at one split rate; they predict P·X·features + (P−C)·Y·labels."""

    split_rate: float
    features: np.ndarray
    labels: np.ndarray


def penalty_weights(
    P: Propagation,
    train: Any,
    *,
    self_weight: SelfWeight | None = None,
    rtol: float = 1e-2,
    progress: Progress = None,
) -> np.ndarray:
    """Weights of Theorem 1's penalty: u_i² = Σ_{k in train, k ≠ i} P_ki² at the training nodes.

    Γ = diag(u)·Y_tr, and the penalty at split rate α is (1−α)/α·‖ΓW‖² (paper, eq. 8).
    `penalty_matrix` computes ΓᵀΓ.

    Parameters
    ----------
    P : Propagation
        Any propagation.
    train : array-like of int or bool
        Node numbers or mask of the m training nodes.
    self_weight : SelfWeight, default=None
        The result of ``P.self_weight(train, rows=train)``. None computes it.
    rtol : float, default=1e-2
        Certified relative error of their sum if they are computed here; see
        `Propagation.column_energy`.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Returns
    -------
    u2 : ndarray of shape (m,)
        Squared weights, none of them negative.

    See Also
    --------
    penalty_matrix : Matrix of Theorem 1's penalty.
    Propagation : Base class of all kinds of propagation.

    Examples
    --------
    >>> from labeltrick import Graph, Power, penalty_weights
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 1, norm="row")
    >>> penalty_weights(P, [0, 1]).round(3).tolist()
    [0.25, 0.25]
    >>> penalty_weights(P, [0, 1, 2]).round(3).tolist()
    [0.5, 0.5, 0.5]
    """
    nodes = check_nodes("train", train, P.n_nodes)
    if self_weight is None or self_weight.column_energy is None:
        self_weight = P.column_energy(nodes, nodes, rtol=rtol, progress=progress)
    energy = self_weight.column_energy
    rows = self_weight.rows
    if energy is None or rows is None or not np.array_equal(np.sort(nodes), rows):
        raise ValueError(
            "`self_weight` must hold column energies over the training rows; it does not. "
            "Compute it with P.self_weight(train, rows=train)."
        )
    return energy[self_weight.places(nodes, P.n_nodes)]


def certify_columns(
    P: Propagation, Y: np.ndarray, weight: SelfWeight, rtol: float, progress: Progress = None
) -> SelfWeight:
    """Energies that are accurate in each column of ``Y``, not only in sum: those of nodes in a
    column of small energies (a class far from all others) are computed again where needed.

    ``Y`` are the labels of ``weight.nodes``.
    """
    nodes, rows, squares = weight.nodes, weight.rows, Y.astype(np.float64) ** 2
    energy, bound = weight.column_energy, weight.energy_bound
    assert nodes is not None
    assert energy is not None
    assert bound is not None
    weak = squares.T @ bound > rtol * (squares.T @ energy)
    if not weak.any():
        return weight
    energy, bound = energy.copy(), bound.copy()
    for column in np.flatnonzero(weak):
        some = np.flatnonzero((squares[:, column] > 0) & (bound > rtol / 2 * energy))
        if len(some):
            finer = P.column_energy(rows, nodes[some], rtol=rtol / 2, progress=progress)
            energy[some], bound[some] = finer.column_energy, finer.energy_bound
    return replace(weight, column_energy=energy, energy_bound=bound)


def penalty_matrix(Y: Any, train: Any, u2: np.ndarray) -> np.ndarray:
    """Matrix of Theorem 1's penalty: ΓᵀΓ = Σ_i u_i² y_i y_iᵀ over the training nodes.

    Parameters
    ----------
    Y : array-like of shape (n,) or (n, c)
        Labels: one-hot rows, indicators or real targets.
    train : array-like of int or bool
        Node numbers or mask of the m training nodes.
    u2 : ndarray of shape (m,)
        Squared weights from `penalty_weights`.

    Returns
    -------
    penalty : ndarray of shape (c, c)
        Diagonal for one-hot labels.

    See Also
    --------
    penalty_weights : Weights of Theorem 1's penalty.
    self_exclusion.label_trick_problem : The objective at every split rate.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import Graph, Power, penalty_matrix, penalty_weights
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 1, norm="row")
    >>> u2 = penalty_weights(P, [0, 1, 2])
    >>> penalty_matrix(np.eye(2)[[0, 0, 1]], [0, 1, 2], u2).round(3).tolist()
    [[1.0, 0.0], [0.0, 0.5]]
    """
    matrix = as_numpy("Y", Y)
    Y_tr, nodes = masked_labels(matrix, train, len(matrix))
    return Y_tr[nodes].T @ (u2[:, None] * Y_tr[nodes])


def label_trick_problem(
    P: Propagation,
    Y: Any,
    train: Any,
    X: Any = None,
    *,
    self_weight: SelfWeight | None = None,
    tol: float = 1e-4,
    rtol: float = 1e-2,
    progress: Progress = None,
) -> LabelTrickProblem:
    """Propagate labels and features once and collect the data that all split rates share.

    Parameters
    ----------
    P : Propagation
        Any propagation.
    Y : array-like of shape (n,) or (n, c)
        Labels: one-hot rows, indicators or real targets.
    train : array-like of int or bool
        Node numbers or mask of the m training nodes.
    X : array-like of shape (n, d), default=None
        Node features. None uses labels only.
    self_weight : SelfWeight, default=None
        The result of ``P.self_weight(train, rows=train)``. None computes it.
    tol : float, default=1e-4
        Largest error of C if it is computed here.
    rtol : float, default=1e-2
        Certified error of the diagonal of the penalty, relative to it.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Returns
    -------
    problem : LabelTrickProblem
        Targets, inputs and penalty at the training nodes.

    See Also
    --------
    penalty_weights : Weights of Theorem 1's penalty.
    LabelFeatureRegression : Least squares on features and labels.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import Graph, Power
    >>> from labeltrick.self_exclusion import label_trick_problem
    >>> P = Power(Graph.from_edges([0, 1, 2], [1, 2, 0]), 1, norm="row")
    >>> problem = label_trick_problem(P, np.eye(2)[[0, 0, 1]], [0, 1, 2])
    >>> problem.label_inputs.round(3).tolist()
    [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]
    >>> problem.penalty.round(3).tolist()
    [[1.0, 0.0], [0.0, 0.5]]
    """
    nodes = check_nodes("train", train, P.n_nodes)
    matrix = as_numpy("Y", Y)
    matrix = matrix.reshape(len(matrix), -1).astype(np.float64)
    if self_weight is None or self_weight.column_energy is None:
        options: dict[str, Any] = {"tol": tol, "rows": nodes, "energy_rtol": rtol}
        self_weight = P.self_weight(nodes, **options, progress=progress)
    Z = self_excluded(P, matrix, nodes, self_weight=self_weight, progress=progress)[nodes]
    self_weight = certify_columns(P, matrix[nodes], self_weight, rtol, progress)
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
    rtol: float = 1e-2,
    random_state: int = 0,
    progress: Progress = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(YᵀU²Y, its standard error), each c×c, without the energy of every single column of P.

    For independent random signs s, E ‖M (P−C) diag(s) Y w‖² = Σ_i u_i² (Y w)_i². Each draw
    propagates c columns, where exact energies take one column per training node. Draws go on until
    the standard errors are small; nodes with a label in a small column of Y (a rare class) have
    exact energies, since signs would need more draws than it has nodes. Two columns of Y that share
    no node (two classes) have a product of exactly 0.

    Parameters
    ----------
    train, rows : node numbers or masks of the nodes with an input label, and of the rows of P over
        which energies are summed; ``rows`` includes ``train``.
    self_weight : C at the training nodes at least.
    rtol : standard error to reach, relative to the diagonal of the result.
    """
    matrix = as_numpy("Y", Y).reshape(P.n_nodes, -1)
    nodes, counted = check_nodes("train", train, P.n_nodes), check_nodes("rows", rows, P.n_nodes)
    if not np.isin(nodes, counted).all():
        raise ValueError("`rows` must include all training nodes; some are missing.")
    rtol = check_number("rtol", rtol, 0.0, 1.0)
    labels = matrix[nodes].astype(np.float64)
    rare = (labels[:, (labels != 0).sum(axis=0) <= _RARE] != 0).any(axis=1)
    known = np.zeros((labels.shape[1],) * 2)
    if rare.any():
        energy = P.column_energy(counted, nodes[rare], progress=progress).column_energy
        assert energy is not None
        known = labels[rare].T @ (energy[:, None] * labels[rare])
        nodes, labels = nodes[~rare], labels[~rare]
    own = self_weight.value[self_weight.places(nodes, P.n_nodes)][:, None]
    rng = np.random.default_rng(random_state)
    shared = np.abs(labels).T @ np.abs(labels) > 0
    signed = np.zeros((P.n_nodes, labels.shape[1]))
    draws: list[np.ndarray] = []
    mean, error = np.zeros_like(known), np.zeros_like(known)
    with ProgressBar(_MOST_DRAWS if len(nodes) else 0, "penalty", progress) as bar:
        while len(nodes) and len(draws) < _MOST_DRAWS:
            signed[nodes] = labels * rng.choice((-1.0, 1.0), size=(len(nodes), 1))
            spread = P.apply(signed, progress=False)
            spread[nodes] -= own * signed[nodes]
            draws.append(shared * (spread[counted].T @ spread[counted]))
            bar.advance()
            if len(draws) < _LEAST_DRAWS:
                continue
            mean, error = np.mean(draws, axis=0), np.std(draws, axis=0, ddof=1)
            error /= np.sqrt(len(draws))
            if (np.diag(error) <= rtol * np.diag(known + mean)).all():
                break
    return known + mean, error


def objective(
    problem: LabelTrickProblem,
    split_rate: float,
    labels: np.ndarray,
    features: np.ndarray | None = None,
) -> float:
    """The deterministic objective: the expected squared loss over all splits, divided by 1−α."""
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

    Products with the data are formed once, in O(m(c+d)²); each rate then costs one factorization of
    a (c+d)×(c+d) matrix. ``ridge`` ≥ 0 adds ridge·‖W‖²: one value for all weights, or one per
    input, features first. Where the minimizer is not unique, the one of least norm is returned.
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
    """Solve a symmetric system that may be singular, for example for a class without inputs."""
    try:
        factor = scipy.linalg.cho_factor(system)
    except scipy.linalg.LinAlgError:
        return scipy.linalg.lstsq(system, right)[0]
    diagonal = np.abs(np.diag(factor[0]))
    if diagonal.min(initial=np.inf) < 1e-7 * diagonal.max(initial=0.0):
        return scipy.linalg.lstsq(system, right)[0]
    return scipy.linalg.cho_solve(factor, right)
