"""`CorrectAndSmooth`: the original, on any base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.progress import Progress
from ...graph.graph import Graph
from ..base.node_inputs import NodeInputs
from .base import FittedBase
from .estimator import CorrectSmoothEstimator
from .steps import Spread, as_spread, check_scale, correction, smoothed


@dataclass(frozen=True)
class Corrected:
    """A base and the two steps."""

    base: FittedBase
    correct: Spread | None
    smooth: Spread | None
    scale: str | float
    progress: Progress = None

    def base_rows(self, inputs: NodeInputs) -> np.ndarray:
        return self.base.rows(inputs)

    def rows(self, inputs: NodeInputs) -> np.ndarray:
        known, graph = inputs.targets, inputs.graph
        rows = self.base.rows(inputs)
        args = (known.Y, known.labeled, graph)
        if self.correct is not None:
            rows = rows + correction(rows, *args, self.correct, self.scale, self.progress)
        if self.smooth is not None:
            if known.task == "classification":  # told by shares, whatever a row sums to
                return smoothed(rows, *args, self.smooth, self.progress)
            rows = smoothed(rows, *args, self.smooth.unclamped(), self.progress)
            P = self.smooth.linear(graph)
            rows = rows / (P @ np.ones(graph.n_nodes, rows.dtype))[:, None]
        return rows


class CorrectAndSmooth(CorrectSmoothEstimator):
    """Correct & Smooth (Huang et al., 2021; paper, section 4.3):

    Ŷ = P_s (Y_tr + M_te (Ỹ + γ(P_c (Y_tr − M_tr Ỹ))))

    Base predictions Ỹ are corrected by the spread residuals of the labeled nodes, then labels and
    corrected predictions are smoothed along the edges. Nothing but the base is trained.

    Parameters
    ----------
    base : "mlp" or "linear" (on the node's own features; need torch), an estimator with
        predict_proba (or predict, for numbers), a torch module from features to scores, or an
        array of predictions, one row a node. An unfitted estimator is fitted on the labeled
        nodes; what was fitted outside is used as it is.
    correct, smooth : the steps: a `Spread`; a number for the original's 50 steps with that
        damping and the norm "sym"; or None to leave the step out.
    scale : γ. "auto": rows of the correction are made as large as the mean residual; for numbers
        "mean". "mean": the mean of the residuals that arrive. A number: that multiple, residuals
        of labeled nodes staying as they are at each step.
    base_predictions : "in_sample", or "out_of_fold": labeled nodes by models that were not
        fitted on them (``n_folds`` more fits), whose residuals are those of unseen nodes. For an
        array or a fitted base, "out_of_fold" says that its predictions are such already.
    validation_labels : whether predictions use the labels of the validation nodes too.
    class_weight : how much labels of a class count in the fit of the base.
    calibrate, task, random_state, progress : as for `LabelPropagation` and `SGC`.

    Attributes
    ----------
    model_ : base and steps; ``model_.base.model`` is the fitted base.
    base_prediction_ : (n, c) what the base alone predicts.
    oof_proba_, oof_prediction_, oof_score_ : of the labeled nodes by base and steps without their
        labels (five more fits of the base, when first asked for).
    labeled_, classes_, prior_, calibration_ : as for `LabelPropagation`.

    Notes
    -----
    Nodes that no label reaches get the smoothed base predictions, nodes without edges the base
    prediction itself. Errors: predictions that are NaN, no probabilities, or of fewer classes than
    ``y`` has; an empty validation mask. Numbers are not clamped. O(steps × edges × classes).

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> graph = Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5])
    >>> X = np.array([[0.0], [0.4], [0.6], [1.0], [0.4], [0.6]])
    >>> y = ["a", None, None, "b", None, None]
    >>> model = CorrectAndSmooth(LogisticRegression()).fit(X, y, graph=graph)
    >>> model.predict().tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    def __init__(
        self,
        base: Any = "mlp",
        *,
        correct: Any = 0.9,
        smooth: Any = 0.8,
        scale: str | float = "auto",
        base_predictions: str = "in_sample",
        n_folds: int = 5,
        validation_labels: bool = False,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: Any = 0,
        progress: Progress = None,
    ) -> None:
        self.base = base
        self.correct = correct
        self.smooth = smooth
        self.scale = scale
        self.base_predictions = base_predictions
        self.n_folds = n_folds
        self.validation_labels = validation_labels
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> CorrectAndSmooth:
        """Fit the base on the labeled nodes, unless it is fitted.

        ``X``: features of all nodes, as the base takes them; None where the base is an array.
        Missing labels in ``y``: −1, None or NaN. Labels of ``validation`` nodes tell the best
        epoch of a network and the calibration; they are no inputs unless ``validation_labels``.
        """
        return self._fit(X, y, graph, sample_weight, validation)

    def _settle(self) -> None:
        super()._settle()
        check_scale(self.scale)
        for name in ("correct", "smooth"):
            as_spread(name, getattr(self, name))

    def _learn(self, inputs: NodeInputs, seed: int) -> Corrected:
        numbers = inputs.targets.task == "regression"
        correct, smooth = as_spread("correct", self.correct), as_spread("smooth", self.smooth)
        if numbers:
            correct, smooth = (step and step.unclamped() for step in (correct, smooth))
        scale = "mean" if numbers and self.scale == "auto" else self.scale
        found = Corrected(self._fit_base(inputs, seed), correct, smooth, scale, self.progress)
        found.base.rows(inputs)  # wrong predictions are told here, not at the first predict
        return found
