"""`CorrectAndSmooth`: the original method, on any base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.progress import Progress
from ..base.node_inputs import NodeInputs
from .base import FittedBase
from .estimator import CorrectSmoothEstimator
from .steps import Spread, as_spread, check_scale, correction, smoothed


@dataclass(frozen=True)
class Corrected:
    """A fitted base and the two steps."""

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
            if known.task == "classification":  # rows are normalized to shares later
                return smoothed(rows, *args, self.smooth, self.progress)
            rows = smoothed(rows, *args, self.smooth.unclamped(), self.progress)
            P = self.smooth.linear(graph)
            rows = rows / (P @ np.ones(graph.n_nodes, rows.dtype))[:, None]
        return rows


class CorrectAndSmooth(CorrectSmoothEstimator):
    """Correct & Smooth (Huang et al., 2021; paper, section 4.3):

    Ŷ = P_s (Y_tr + M_te (Ỹ + γ(P_c (Y_tr − M_tr Ỹ))))

    The residuals of the labeled nodes are spread along the edges to correct the base predictions Ỹ.
    Then labels and corrected predictions are smoothed along the edges. Only the base is trained.

    Parameters
    ----------
    base : {"mlp", "linear"}, estimator, torch module or array of shape (n, c), default="mlp"
        Source of the base predictions. "mlp" and "linear" learn from a node's own features and
        need torch. An estimator needs predict_proba for classes or predict for numbers. A module
        maps features to scores. Estimators that are already fitted are not fitted again.
    correct : Spread, float or None, default=0.9
        The correction step. A number is the damping of 50 steps with norm "sym", as in the
        original. None omits the step.
    smooth : Spread, float or None, default=0.8
        The smoothing step, given like ``correct``.
    scale : {"auto", "mean"} or float, default="auto"
        γ. "auto" gives every row of the correction the size of the mean residual ("mean" for
        regression). "mean" is the weighted mean of the residuals that reach a node. A number
        multiplies the spread residuals, and labeled nodes keep their residual at every step.
    base_predictions : {"in_sample", "out_of_fold"}, default="in_sample"
        "out_of_fold" predicts labeled nodes by models that were fitted without them, so that their
        residuals resemble those of unseen nodes. For an array or a fitted base it states that the
        given predictions are out of fold.
    n_folds : int, default=5
        Number of folds, and of additional fits, for "out_of_fold".
    validation_labels : bool, default=False
        Whether predictions also use the labels of the validation nodes.
    class_weight : None, "balanced" or dict of class to weight, default=None
        Weight of each class in the fit of the base. "balanced" makes all classes count alike.
    calibrate : bool, default=True
        Whether `predict_proba` is calibrated, on the validation nodes if there are any, else on
        the out-of-fold predictions.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        Kind of target. "auto" infers it from the base, if that is a regressor, and from ``y``.
    random_state : int or None, default=0
        Seed of all random choices.
    progress : bool, callable or None, default=None
        None shows a bar on a terminal after a second; True or False always or never shows one; a
        function is called as ``f(done, total)``.

    Attributes
    ----------
    model_ : object
        Base and steps; ``model_.base.model`` is the fitted base.
    base_prediction_ : array of shape (n, c)
        Predictions of the base before correction and smoothing.
    oof_proba_, oof_prediction_, oof_score_ : arrays and float
        Predictions of the labeled nodes by a base and steps that were learned without their labels
        (five more fits, made at the first access), and their score.
    labeled_, validation_ : arrays of nodes
        The nodes whose labels are trained on, and the validation nodes.
    classes_ : array
        Classes in ascending order.
    prior_ : array of shape (c,)
        Class shares, or the mean target, of the labeled nodes.
    calibration_ : Calibration
        Temperature, and the calibration error before and after.

    See Also
    --------
    TrainableCorrectAndSmooth : Correct & Smooth with trained weights.

    Notes
    -----
    A node that no label reaches gets the smoothed base prediction; a node without edges gets the
    base prediction itself. Regression targets are not clamped. The cost is O(steps × edges ×
    classes).

    Examples
    --------
    >>> from labeltrick import Graph
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
        found.base.rows(inputs)  # report invalid predictions in fit, not at the first predict
        return found
