"""`TrainableCorrectAndSmooth`: Correct & Smooth with weights, in two stages or end to end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import check_choice, check_count, check_flag, check_number, check_share
from ..._utils.extras import require
from ..._utils.progress import Progress
from ..._utils.targets import Targets, TargetScale
from ..base.node_inputs import NodeInputs, with_validation
from ..base.trained import check_divergence
from .base import BASES
from .end_to_end import EndToEnd, train_end_to_end
from .estimator import CorrectSmoothEstimator
from .steps import as_pairs, check_scale
from .two_stage import StageOptions, StageProblem, TwoStage
from .views import SideBySide, StepViews

SPLIT_RATES = tuple(round(0.1 * k, 1) for k in range(1, 10))  # of the paper


class TrainableCorrectAndSmooth(CorrectSmoothEstimator):
    """Correct & Smooth with trained weights (paper, section 4.3 and appendix B.4):

    Ŷ = P_s (Y_in + M_free Ỹ) W_s + P_s M_free γ(P_c (Y_in − M_in Ỹ)) Ŵ_c

    A node whose label is a target is free: its label is not an input. Whether the base has learned
    from that label depends on ``base_predictions``. The weights start at plain Correct & Smooth.

    Parameters
    ----------
    base : {"mlp", "linear"}, estimator, torch module or array of shape (n, c), default="mlp"
        Source of the base predictions. "mlp" and "linear" learn from a node's own features (with
        torch); end to end accepts only these. An estimator needs predict_proba for classes or
        predict for numbers. A module maps features to scores.
    mode : {"two_stage", "end_to_end"}, default="two_stage"
        "two_stage" fits the base first and then the weights. "end_to_end" trains both together:
        gradients pass through both propagations into the base network.
    label_trick : {"stochastic", "deterministic"}, default="stochastic"
        "stochastic" splits the labels at random into inputs and targets, as in the paper.
        "deterministic" (two stages only) leaves each node's own label out of its row, by folds or,
        for a fixed base and a numeric ``scale`` on small graphs, exactly; the problem is convex.
    correct : Spread, float, None or a list of them, default=0.9
        The correction step, without clamps. A number is the damping λ of the limit. None omits the
        step. In two stages, a list gives several pairs of steps, each with its own weights.
    smooth : Spread, float or a list of them, default=0.5
        The smoothing step, given like ``correct`` and of equal length; it cannot be omitted.
    scale : {"auto", "mean"} or float, default="auto"
        γ. "auto" gives every row of the correction the size of the mean residual ("mean" for
        regression). "mean" is the weighted mean of the residuals that reach a node. A number
        multiplies the spread residuals.
    split_rate : "auto" or float, default="auto"
        α, the share of labels that are inputs. "auto" is the best of 0.1, …, 0.9 by validation
        score in two stages, and 0.5 end to end or if labels are too few to validate.
    n_splits : int, default=10
        Number of random splits per rate, in two stages. End to end draws one in each epoch.
    base_predictions : {"auto", "in_sample", "out_of_fold", "by_fold"}, default="auto"
        Which predictions of labeled nodes the weights are trained on. In-sample residuals are
        smaller than those of unseen nodes. "out_of_fold" predicts labeled nodes by models fitted
        without them. "by_fold" ("deterministic" only) builds the rows of each fold like those of
        unlabeled nodes, with a base fitted without the fold. "auto" is "by_fold" or, with random
        splits, "out_of_fold" if the base is fitted here, and "in_sample" otherwise.
    n_folds : int, default=5
        Number of folds, and of additional fits, of the base.
    normalize : bool, default=True
        Whether rows are divided by P_s·1; False is the paper's formula.
    ridge : float, default=1.0
        Strength of the penalty towards plain Correct & Smooth ("deterministic").
    validation_fraction : float, default=0.1
        Share of the labeled nodes that choose the best epoch and split rate if no validation nodes
        are given. Their labels are not trained on, but predictions use them.
    learning_rate : float or None, default=None
        Learning rate of Adam. None means 0.01 in two stages and 0.005 end to end.
    max_epochs : int, default=300
        Largest number of epochs.
    patience : int, default=100
        Epochs without a better validation score before training stops.
    hidden : int, default=256
        Units per hidden layer of the base network, end to end.
    n_layers : int, default=3
        Number of layers of the base network, end to end.
    dropout : float, default=0.5
        Dropout of the base network, end to end.
    weight_decay : float, default=5e-4
        Weight decay of the base network, end to end.
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
    coef_smooth_, coef_correct_ : arrays of shape (pairs × c, c)
        W_s and Ŵ_c; those of several pairs of steps are stacked.
    split_rate_ : float
        The split rate α that was used.
    split_rate_scores_ : dict of float to float
        Validation score of each split rate, in two stages.
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
    CorrectAndSmooth : The original, without trained weights.

    Examples
    --------
    >>> from labeltrick import Graph
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> src, dst = rng.integers(0, 200, (2, 4000))
    >>> same = y[src] == y[dst]
    >>> graph = Graph.from_edges(src[same], dst[same])
    >>> X = y[:, None] + rng.normal(size=(200, 5))
    >>> model = TrainableCorrectAndSmooth(LogisticRegression(), label_trick="deterministic")
    >>> model = model.fit(X, np.where(rng.random(200) < 0.3, y, -1), graph=graph)
    >>> float(model.oof_score_) > 0.95
    True
    """

    model_: Any
    _base_choices = ("in_sample", "out_of_fold", "by_fold", "auto")

    def __init__(
        self,
        base: Any = "mlp",
        *,
        mode: str = "two_stage",
        label_trick: str = "stochastic",
        correct: Any = 0.9,
        smooth: Any = 0.5,
        scale: str | float = "auto",
        split_rate: str | float = "auto",
        n_splits: int = 10,
        base_predictions: str = "auto",
        n_folds: int = 5,
        normalize: bool = True,
        ridge: float = 1.0,
        validation_fraction: float = 0.1,
        learning_rate: float | None = None,
        max_epochs: int = 300,
        patience: int = 100,
        hidden: int = 256,
        n_layers: int = 3,
        dropout: float = 0.5,
        weight_decay: float = 5e-4,
        validation_labels: bool = False,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: Any = 0,
        progress: Progress = None,
    ) -> None:
        self.base = base
        self.mode = mode
        self.label_trick = label_trick
        self.correct = correct
        self.smooth = smooth
        self.scale = scale
        self.split_rate = split_rate
        self.n_splits = n_splits
        self.base_predictions = base_predictions
        self.n_folds = n_folds
        self.normalize = normalize
        self.ridge = ridge
        self.validation_fraction = validation_fraction
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.hidden = hidden
        self.n_layers = n_layers
        self.dropout = dropout
        self.weight_decay = weight_decay
        self.validation_labels = validation_labels
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.progress = progress

    def _check_training(self) -> None:
        if isinstance(self.model_, EndToEnd):
            check_divergence(self.model_.training, self._rate)

    @property
    def _rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        return 0.01 if self.mode == "two_stage" else 0.005

    def _epochs(self) -> dict[str, Any]:
        return {
            "learning_rate": self._rate,
            "max_epochs": check_count("max_epochs", self.max_epochs, 1),
            "patience": check_count("patience", self.patience, 1),
        }

    @property
    def _by_fold(self) -> bool:
        """Whether training rows do not use the labels of their fold at all."""
        if self.base_predictions == "auto":
            return self._fits_base and self.label_trick == "deterministic"
        return self.base_predictions == "by_fold"

    @property
    def _out_of_fold(self) -> bool:
        return super()._out_of_fold and not self._by_fold

    def _settle(self) -> None:
        super()._settle()
        by_fold = self.base_predictions == "by_fold"
        if by_fold and (self.label_trick != "deterministic" or not self._fits_base):
            raise ValueError(
                "base_predictions='by_fold' needs label_trick='deterministic' and an unfitted "
                "base. Use 'out_of_fold'."
            )
        check_choice("mode", self.mode, ("two_stage", "end_to_end"))
        check_choice("label_trick", self.label_trick, ("stochastic", "deterministic"))
        check_flag("normalize", self.normalize)
        check_scale(self.scale)
        as_pairs(self.correct, self.smooth)
        check_count("n_splits", self.n_splits, 1)
        check_share("dropout", self.dropout)
        check_share("validation_fraction", self.validation_fraction)
        check_number("ridge", self.ridge, -1e-300, np.inf)
        if self.learning_rate is not None:
            check_number("learning_rate", self.learning_rate, 0.0, np.inf)
        if self.split_rate != "auto":
            check_number("split_rate", self.split_rate, 0.0, 1.0)
        if self.mode == "end_to_end":
            self._settle_end_to_end()

    def _settle_end_to_end(self) -> None:
        require("torch", "mode='end_to_end'")
        if not isinstance(self.base, str):
            raise ValueError(
                f"`base` must be one of {BASES} for mode='end_to_end', which trains it; got "
                f"{type(self.base).__name__}. Use mode='two_stage'."
            )
        if isinstance(self.correct, list | tuple | np.ndarray):
            raise ValueError("`correct` must be one step for mode='end_to_end'; got several.")
        if self.label_trick == "deterministic" or self.correct is None:
            raise ValueError(
                "mode='end_to_end' needs label_trick='stochastic' and a correction. Use "
                "mode='two_stage'."
            )

    # -- learning -------------------------------------------------------------------------
    def _learn(self, inputs: NodeInputs, seed: int) -> TwoStage | EndToEnd:
        numbers = inputs.targets.task == "regression"
        size = "mean" if numbers and self.scale == "auto" else self.scale
        views = [
            StepViews(inputs.graph, correct, smooth, size, self.normalize, self.progress)
            for correct, smooth in as_pairs(self.correct, self.smooth)
        ]
        scale = TargetScale.of(inputs.targets)
        if self.mode == "end_to_end":
            return self._learn_network(inputs, views[0], scale, seed)
        several = views[0] if len(views) == 1 else SideBySide(tuple(views))
        return self._learn_weights(inputs, several, scale, seed)

    def _with_validation(self, known: Targets, seed: int) -> tuple[Targets, Targets | None]:
        rng = np.random.default_rng(seed)
        return with_validation(known, self.validation_targets_, self.validation_fraction, rng)

    def _learn_weights(
        self, inputs: NodeInputs, views: StepViews | SideBySide, scale: TargetScale, seed: int
    ) -> TwoStage:
        rates = SPLIT_RATES if self.split_rate == "auto" else (float(self.split_rate),)
        args = (rates, self.n_splits, self.ridge, self._epochs(), seed, self.progress)
        options = StageOptions(*args)
        base = self._fit_base(inputs, seed)
        folds = None
        if self._by_fold and len(base.folds):
            folds = ((nodes, scale.to(rows)) for nodes, rows in base.by_fold(inputs))
            base = replace(base, folds=())
        rows = base.rows(inputs)
        if self.label_trick == "deterministic":
            problem = StageProblem(views, rows, inputs.targets, None, scale, options)
            return TwoStage(base, views, scale, problem.deterministic(folds))
        given, validation = self._with_validation(inputs.targets, seed)
        problem = StageProblem(views, rows, given, validation, scale, options)
        return TwoStage(base, views, scale, problem.by_splits())

    def _learn_network(
        self, inputs: NodeInputs, views: StepViews, scale: TargetScale, seed: int
    ) -> EndToEnd:
        from ...nn.training import TrainingOptions

        given, validation = self._with_validation(inputs.targets, seed)
        decay = check_number("weight_decay", self.weight_decay, -1e-300, np.inf)
        options = TrainingOptions(weight_decay=decay, **self._epochs())
        n_layers = check_count("n_layers", self.n_layers, 1) if self.base == "mlp" else 1
        hidden = check_count("hidden", self.hidden, 1)
        shape = {"hidden": hidden, "n_layers": n_layers, "dropout": self.dropout}
        rate = 0.5 if self.split_rate == "auto" else float(self.split_rate)
        args = (validation, views, scale, shape, options, rate, seed, self.progress)
        return train_end_to_end(replace(inputs, targets=given), *args)

    # -- learned weights ------------------------------------------------------------------
    @property
    def coef_smooth_(self) -> np.ndarray:
        check_is_fitted(self, "targets_")
        return self.model_.coefficients()[0]

    @property
    def coef_correct_(self) -> np.ndarray:
        check_is_fitted(self, "targets_")
        return self.model_.coefficients()[1]

    @property
    def split_rate_(self) -> float:
        check_is_fitted(self, "targets_")
        return self.model_.split_rate

    @property
    def split_rate_scores_(self) -> dict[float, float]:
        check_is_fitted(self, "targets_")
        return dict(self.model_.fit.scores or {}) if isinstance(self.model_, TwoStage) else {}
