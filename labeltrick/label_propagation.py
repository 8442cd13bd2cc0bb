"""`LabelPropagation`: predictions from labels and edges alone."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ._estimator import GraphEstimator, decode
from .graph import Graph
from .label_trick import self_excluded
from .polynomials import Iteration
from .propagation import Propagation
from .resolvent import Resolvent
from .targets import Targets

_CERTAIN = 100  # a node's label mass must exceed so many times the error of its self-weight


def normalise(spread: np.ndarray, prior: np.ndarray, floor: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels over label mass, the prior where hardly any mass arrived.

    ``spread`` holds propagated labels and, last, the propagated mask of labelled nodes. Returns
    (rows, whether reached).
    """
    mass = spread[:, -1]
    reached = mass > floor
    rows = np.broadcast_to(prior, (len(spread), spread.shape[1] - 1)).copy()
    rows[reached] = spread[reached, :-1] / mass[reached, None]
    return rows, reached


def tidy(rows: np.ndarray, task: str) -> np.ndarray:
    """Probabilities from rows of shares: rounding may leave them a hair outside."""
    if task == "regression":
        return rows
    rows = np.clip(rows, 0.0, 1.0)
    return rows / rows.sum(axis=1, keepdims=True) if task == "classification" else rows


def prior_of_others(targets: Targets) -> np.ndarray:
    """For each labelled node, the mean label of the other ones: even the prior must not tell."""
    Y = targets.Y[targets.labelled]
    if len(Y) == 1:
        blank = 0.0 if targets.task == "regression" else 1.0 / max(1, Y.shape[1])
        return np.full_like(Y, blank)
    return (Y.sum(axis=0) - Y) / (len(Y) - 1)


class LabelPropagation(GraphEstimator):
    """Label propagation (paper, section 2.1): F = P·Y_tr over the label mass P·1_tr.

    P = (1−λ)(I−λS)⁻¹, or ``n_steps`` of its iteration. Each node's prediction is a mean of the
    known labels, weighted by P; classes and indicators come out as shares that are
    probabilities, numbers as weighted means. Nothing is trained.

    Parameters
    ----------
    damping : λ in (0, 1).
    n_steps : steps of the iteration; None for the exact limit.
    norm, self_loops : normalisation of the adjacency; see `Graph.normalized`.
    clamp : None, or (low, high) to cut every step to that range as Correct & Smooth does
        (needs n_steps; predictions only, no leave-one-out).
    task : "auto" goes by the dtype of y: floats with a fraction are regression.
    tol : accuracy of the limit.

    Attributes
    ----------
    classes_ : classes, ascending.
    prior_ : class shares (or mean targets) of the labelled nodes.
    reached_ : mask of the nodes that labels reach; the others get the prior.
    loo_proba_, loo_prediction_ : predictions of the labelled nodes from all labels but their
        own, in the order of ``labelled_``. Made when first asked for, at a cost close to that of
        the fit; honest scores without a validation set.
    labelled_ : numbers of the labelled nodes.

    Notes
    -----
    One labelled node, one class, or all nodes labelled give a right answer. No labels at all,
    infinite targets or a ``y`` of another length give an error.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5])
    >>> y = ["a", None, None, "b", None, None]
    >>> model = LabelPropagation(damping=0.9).fit(None, y, graph=graph)
    >>> model.predict().tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    def __init__(
        self,
        damping: float = 0.6,
        n_steps: int | None = None,
        *,
        norm: str = "sym",
        self_loops: bool = False,
        clamp: tuple[float | None, float | None] | None = None,
        task: str = "auto",
        tol: float = 1e-6,
    ) -> None:
        self.damping = damping
        self.n_steps = n_steps
        self.norm = norm
        self.self_loops = self_loops
        self.clamp = clamp
        self.task = task
        self.tol = tol

    def fit(self, X: Any, y: Any, *, graph: Graph | None = None) -> LabelPropagation:
        """Take labels and graph; ``X`` is not used. Missing labels: −1, None or NaN."""
        self.__dict__.pop("_left_out", None)
        self._start_fit(X, y, graph)
        self.labelled_ = np.flatnonzero(self.targets_.labelled)
        _, self.reached_ = self._spread(self.targets_, self.graph_)
        return self

    def _propagation(self, graph: Graph) -> Propagation:
        options: dict[str, Any] = {"norm": self.norm, "self_loops": self.self_loops}
        if self.n_steps is None:
            if self.clamp is not None:
                raise ValueError(
                    "`n_steps` must be given with `clamp`; got None. Correct & Smooth uses 50."
                )
            return Resolvent(graph, self.damping, tol=self.tol, **options)
        return Iteration(graph, self.damping, self.n_steps, clamp=self.clamp, **options)

    def _label_columns(self, targets: Targets) -> np.ndarray:
        """[Y, 1] at labelled nodes, zeros elsewhere."""
        return np.column_stack([targets.Y, targets.labelled.astype(np.float64)])

    def _spread(self, targets: Targets, graph: Graph) -> tuple[np.ndarray, np.ndarray]:
        P = self._propagation(graph)
        spread = P @ self._label_columns(targets)
        if self.clamp is not None:
            if targets.task != "classification":
                raise ValueError(f"`clamp` must be None for {targets.task}; got {self.clamp}.")
            spread[:, -1] = spread[:, :-1].sum(axis=1)  # each column was cut on its own
        floor = self.tol if self.n_steps is None else 0.0
        return normalise(spread, self.prior_, floor)

    def _scores(self, targets: Targets, graph: Graph) -> np.ndarray:
        return tidy(self._spread(targets, graph)[0], targets.task)

    @cached_property
    def _left_out(self) -> np.ndarray:
        """Self-excluded rows of the labelled nodes."""
        targets, nodes = self.targets_, self.labelled_
        P = self._propagation(self.graph_)
        columns = self._label_columns(targets)
        weight = P.self_weight(nodes, tol=1e-4)
        mass = self_excluded(P, columns[:, -1:], nodes, self_weight=weight)[nodes, 0]
        doubtful = mass < _CERTAIN * weight.error_bound
        if doubtful.any():
            # Little mass but one's own: an error of the self-weight would be a leak here.
            finer = P.self_weight(nodes[doubtful], tol=1e-9)
            weight.value[doubtful] = finer.value
            weight.error_bound[doubtful] = finer.error_bound
        view = self_excluded(P, columns, nodes, self_weight=weight)[nodes]
        solver = self.tol if self.n_steps is None else 1e-12
        floor = _CERTAIN * (weight.error_bound + solver)
        return tidy(normalise(view, prior_of_others(targets), floor)[0], targets.task)

    @property
    def loo_proba_(self) -> np.ndarray:
        if self.targets_.task == "regression":
            raise AttributeError("loo_proba_ is for classes; use loo_prediction_ for regression.")
        return self._left_out

    @property
    def loo_prediction_(self) -> np.ndarray:
        return decode(self.targets_, self._left_out)
