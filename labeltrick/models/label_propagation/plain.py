"""`LabelPropagation`: predictions from labels and edges alone."""

from __future__ import annotations

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


def tidy(rows: np.ndarray, task: str) -> np.ndarray:
    """Probabilities from rows of shares: rounding may leave them a hair outside."""
    if task == "regression":
        return rows
    rows = np.clip(rows, 0.0, 1.0)
    if task == "multilabel":
        return rows
    total = rows.sum(axis=1, keepdims=True)
    return np.where(total > 0, rows / np.where(total > 0, total, 1.0), 1.0 / rows.shape[1])


class LabelPropagation(GraphEstimator):
    """Label propagation (paper, section 2.1): F = P·Y_tr over the label mass P·1_tr.

    P = (1−λ)(I−λS)⁻¹, or ``n_steps`` of its iteration. Each node's prediction is a mean of the
    known labels, weighted by P; classes and indicators come out as shares that are
    probabilities, numbers as weighted means. Nothing is trained.

    Parameters
    ----------
    damping : λ in (0, 1); with ``clamp="hard"`` also 1.
    n_steps : steps of the iteration; None for the exact limit.
    norm, self_loops : normalization of the adjacency; see `Graph.normalized`.
    clamp : None, the soft fit: labeled nodes may be outvoted by their neighbors. "hard":
        labeled nodes keep their label at every step (with damping=1 and norm="row" the
        harmonic solution). (low, high): cut every step to that range, as Correct & Smooth does
        (needs n_steps). The last two make predictions only: no leave-one-out, no calibration.
    class_weight : None, "balanced" or {class: weight}: how much the labels of a class count.
    calibrate : whether `predict_proba` is calibrated on the leave-one-out predictions. Found at
        the first call, at a cost close to that of the fit. `predict` is the same either way.
    task : "auto" goes by the dtype of y: floats with a fraction are regression.
    tol : accuracy of the limit.

    Attributes
    ----------
    classes_ : classes, ascending.
    prior_ : class shares (or mean targets) of the labeled nodes.
    reached_ : mask of the nodes that labels reach; the others get the prior.
    oof_proba_, oof_prediction_, oof_score_ : predictions of the labeled nodes from all labels
        but their own, in the order of ``labeled_``, and their score. Made when first asked for;
        honest without a validation set.
    calibration_ : temperature, and the expected calibration error before and after.
    labeled_ : numbers of the labeled nodes.

    Notes
    -----
    A right answer: one labeled node, one class, a class seen once, all nodes labeled, labels as
    strings. An error: no labels at all, infinite targets, a ``y`` of another length, classes of
    mixed types. NaN and None in ``y`` are missing labels, −1 among integers too.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5])
    >>> y = ["a", None, None, "b", None, None]
    >>> model = LabelPropagation(damping=0.9).fit(None, y, graph=graph)
    >>> model.predict().tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    sees_own_label = True

    def __init__(
        self,
        damping: float = 0.6,
        n_steps: int | None = None,
        *,
        norm: str = "sym",
        self_loops: bool = False,
        clamp: str | tuple[float | None, float | None] | None = None,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        tol: float = 1e-6,
    ) -> None:
        self.damping = damping
        self.n_steps = n_steps
        self.norm = norm
        self.self_loops = self_loops
        self.clamp = clamp
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.tol = tol

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> LabelPropagation:
        """Take labels and graph; ``X`` is not used. Missing labels: −1, None or NaN.

        ``sample_weight`` says how much each node's label counts; 0 is no label. Labels of
        ``validation`` nodes (numbers or a mask) are no inputs; they serve the calibration.
        """
        self._start_fit(X, y, graph, sample_weight, validation)
        self.reached_ = self._spread(self.targets_, self.graph_).reached[:, 0]
        return self

    def views_of(self, graph: Graph) -> LabelViews:
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
        spread[:, -1] = spread[:, :-1].sum(axis=1)  # each column was cut on its own
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
            raise AttributeError("leave-one-out predictions need clamp=None, the soft fit.")
        if "oof" not in self._cache:
            known = self.targets_
            columns = label_columns(known.Y, known.weight_before_balance)
            inputs = self.views_of(self.graph_).inputs(columns, self.labeled_)
            if len(self.labeled_) == 1 and known.task != "classification":
                # No other label to say anything.
                inputs.values[:] = 0.0 if known.task == "regression" else 0.5
            rows = tidy(inputs.values[:, 0], known.task)
            self._cache["oof"] = known.balanced_without_own(rows)
        return self._cache["oof"]
