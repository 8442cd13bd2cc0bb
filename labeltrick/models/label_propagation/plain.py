"""`LabelPropagation`: predictions from labels and edges only."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._utils.checks import check_count, check_damping
from ..._utils.targets import Targets
from ...graph.graph import Graph
from ...propagation.harmonic import clamped_limit, clamped_steps
from ...propagation.polynomials import Iteration
from ...self_exclusion.label_views import LabelInputs, LabelViews, damped, label_columns
from ..base.estimator import GraphEstimator
from ..base.node_inputs import NodeInputs
from ..base.weights import tidy


@dataclass(eq=False, repr=False)
class LabelPropagation(GraphEstimator):
    """Label propagation: F = P·Y_tr divided by the label mass P·1_tr (paper, section 2.1).

    P = (1−λ)(I−λS)⁻¹ minimizes the energy of eq. 1; ``n_steps`` replaces it by an iteration. The
    prediction of a node is a mean of the known labels, weighted by P: probabilities for classes and
    indicators, weighted means for numbers. Nothing is trained.

    Parameters
    ----------
    damping : float, default=0.6
        λ in (0, 1); with ``clamp="hard"`` also 1.
    n_steps : int or None, default=None
        Number of steps of the iteration. None computes the exact limit.
    norm : {"sym", "row", "col"}, default="sym"
        Normalization of the adjacency matrix; see `Graph.normalized`.
    self_loops : bool, default=False
        Whether to add a self-loop to each node that has none.
    clamp : "hard", tuple (low, high) or None, default=None
        None is the soft fit, in which neighbors may outvote the label of a node. "hard" keeps the
        labels of labeled nodes at every step; with ``damping=1`` and ``norm="row"`` this is the
        harmonic solution. (low, high) clips every step to that range, like Correct & Smooth, and
        needs ``n_steps``. With the last two there are no out-of-fold predictions and no
        calibration.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" weighs classes by the inverse of their frequency.
    calibrate : bool, default=True
        Whether `predict_proba` is calibrated on validation nodes or, without any, on out-of-fold
        predictions. The calibration is fitted on first use; `predict` does not depend on it.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        The kind of labels. "auto" infers it from the type and shape of ``y``; floats with a
        fractional part mean regression.
    tol : float, default=1e-6
        Accuracy of the exact limit (``n_steps=None``).

    Attributes
    ----------
    labeled_ : ndarray of int
        Numbers of the labeled nodes whose labels are inputs.
    validation_ : ndarray of int
        Numbers of the validation nodes.
    classes_ : ndarray
        Classes in ascending order; only for classification.
    prior_ : ndarray of shape (c,)
        Class shares or mean target of the labeled nodes.
    calibration_ : Calibration
        How probabilities are calibrated, with the calibration error before and after.
    reached_ : ndarray of bool, shape (n,)
        Nodes that labels reach; the others are predicted by ``prior_``.
    oof_proba_ : ndarray of shape (m, c)
        Probabilities of the labeled nodes, in the order of ``labeled_``, made without their own
        labels; not calibrated.
    oof_prediction_ : ndarray of shape (m,) or (m, c)
        Predictions of the labeled nodes made without their own labels.
    oof_score_ : float
        Accuracy, or R² for regression, of these predictions.

    See Also
    --------
    TrainableLabelPropagation : Label propagation with trained weights.

    Notes
    -----
    `predict` uses a node's own label; ``oof_prediction_`` does not (exact leave-one-out).

    A single labeled node, a single class, a class with one node, fully labeled graphs and string
    labels are supported. Errors are raised if there are no labels, targets are infinite, ``y`` has
    the wrong length, or classes have mixed types.

    Examples
    --------
    >>> from labeltrick import Graph, LabelPropagation
    >>> graph = Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5])
    >>> y = ["a", None, None, "b", None, None]
    >>> model = LabelPropagation(damping=0.9).fit(None, y, graph=graph)
    >>> model.predict().tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    sees_own_label = True

    damping: float = 0.6
    n_steps: int | None = None
    _: KW_ONLY
    norm: str = "sym"
    self_loops: bool = False
    clamp: str | tuple[float | None, float | None] | None = None
    class_weight: Any = None
    calibrate: bool = True
    task: str = "auto"
    tol: float = 1e-6

    def _fit(self, *data: Any) -> None:
        self._start_fit(*data)
        self.reached_ = self._spread(self.targets_, self.graph_).reached[:, 0]

    def views_of(self, graph: Graph) -> LabelViews:
        """Views of the labels on a graph.

        Parameters
        ----------
        graph : Graph
            The graph.

        Returns
        -------
        views : LabelViews
            Self-excluded views by the propagation of this estimator.
        """
        options: dict[str, Any] = {"norm": self.norm, "self_loops": self.self_loops}
        return LabelViews([damped(graph, self.damping, self.n_steps, self.tol, **options)])

    def _spread(self, targets: Targets, graph: Graph) -> LabelInputs:
        columns = label_columns(targets.Y, targets.weight)
        if isinstance(self.clamp, bool):
            raise TypeError(
                f"`clamp` must be None, 'hard' or a pair (low, high); got {self.clamp!r}."
            )
        if self.clamp is None:
            return self.views_of(graph).inputs(columns, exclude=False, blank=self.prior_)
        if isinstance(self.clamp, str):
            spread = self._hard_clamp(columns, targets.labeled, graph)
        else:
            spread = self._range_clamp(columns, targets.task, graph)
        mass = spread[:, -1:]
        reached = mass > (self.tol if self.n_steps is None else 0.0)
        shares = np.where(reached, spread[:, :-1] / np.where(reached, mass, 1.0), self.prior_)
        return LabelInputs(shares[:, None, :], mass, reached)

    def _hard_clamp(self, columns: np.ndarray, labeled: np.ndarray, graph: Graph) -> np.ndarray:
        if self.clamp != "hard":
            raise ValueError(
                f"`clamp` must be None, 'hard' or a pair (low, high); got {self.clamp!r}."
            )
        lam = 1.0 if self.damping == 1 else check_damping(self.damping)
        S = graph.normalized(self.norm, self_loops=self.self_loops)
        if self.n_steps is None:
            return clamped_limit(S, columns, labeled, lam, self.tol)
        n_steps = check_count("n_steps", self.n_steps)
        return clamped_steps(S, columns, labeled, lam, n_steps)

    def _range_clamp(self, columns: np.ndarray, task: str, graph: Graph) -> np.ndarray:
        if self.n_steps is None:
            raise ValueError(
                "`n_steps` must be given with `clamp`; got None. Correct & Smooth uses 50."
            )
        if task != "classification":
            raise ValueError(f"`clamp` must be None or 'hard' for {task}; got {self.clamp}.")
        options: dict[str, Any] = {"norm": self.norm, "self_loops": self.self_loops}
        options["clamp"] = self.clamp
        P = Iteration(graph, self.damping, self.n_steps, **options)
        spread = P @ columns
        spread[:, -1] = spread[:, :-1].sum(axis=1)  # columns were clipped separately
        return spread

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        spread = self._spread(inputs.targets, inputs.graph)
        return tidy(spread.values[:, 0], inputs.targets.task)

    @property
    def has_oof(self) -> bool:
        return self.clamp is None

    @property
    def oof_rows_(self) -> np.ndarray:
        if self.clamp is not None:
            raise AttributeError("out-of-fold predictions need clamp=None, the soft fit.")
        if "oof" not in self._cache:
            known = self.targets_
            columns = label_columns(known.Y, known.weight_before_balance)
            inputs = self.views_of(self.graph_).inputs(columns, self.labeled_)
            if len(self.labeled_) == 1 and known.task != "classification":
                # There is no other label.
                inputs.values[:] = 0.0 if known.task == "regression" else 0.5
            rows = tidy(inputs.values[:, 0], known.task)
            self._cache["oof"] = known.balanced_without_own(rows)
        return self._cache["oof"]
