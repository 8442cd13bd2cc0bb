"""`TrainableCorrectAndSmooth`: Correct & Smooth with weights, in two stages or end to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import check_choice, check_count, check_flag, check_number, check_share
from ..._utils.extras import require
from ..._utils.progress import Progress
from ..._utils.targets import Targets, TargetScale
from ...graph.graph import Graph
from ..base.node_inputs import NodeInputs, draw_validation
from ..base.trained import check_divergence
from .base import BASES
from .end_to_end import EndToEnd, NetworkShape, train_end_to_end
from .estimator import CorrectSmoothEstimator
from .steps import Spread, as_spread, check_scale
from .two_stage import Folds, StageOptions, StageProblem, TwoStage
from .views import SideBySide, StepViews

PAPER_SPLIT_RATES = tuple(round(0.1 * k, 1) for k in range(1, 10))


class TrainableCorrectAndSmooth(CorrectSmoothEstimator):
    """Correct & Smooth with trained weights (paper, section 4.3 and appendix B.4):

    Ŷ = P_s (Y_in + M_free Ỹ) W_s + P_s M_free γ(P_c (Y_in − M_in Ỹ)) Ŵ_c

    A node whose label is a target is free: its own label is not among the inputs. (What the base
    has learnt from it is another matter: see ``base_predictions``.) The weights of each class start
    at plain Correct & Smooth.

    Parameters
    ----------
    base : as for `CorrectAndSmooth`; "mlp" or "linear" for ``mode="end_to_end"``.
    mode : "two_stage": the weights are trained on the predictions of a base that is fitted
        first; "end_to_end": gradients pass through both propagations into the base network.
    label_trick : "stochastic": random splits of the labels into inputs and targets, as in the
        paper; two stages make ``n_splits`` of them once and cycle over them, end to end draws a
        fresh one for each epoch. "deterministic" (two stages): every node's own label is left
        out, and the convex problem that remains is solved to the end; by the folds of the base
        (see ``base_predictions``), or, where the base is fixed, exactly for a linear correction (a
        number for ``scale``, no clamps) on small graphs and by ten folds otherwise.
    correct, smooth : as for `CorrectAndSmooth`, without clamps; a number means the limit. In two
        stages, lists of equal length make several pairs of steps, each with weights of its own.
    scale : as for `CorrectAndSmooth`.
    split_rate : α, or "auto": the best of 0.1, …, 0.9 by validation nodes or labels set aside (in
        two stages); 0.5 end to end, and where labels are too few to hold any out.
    base_predictions : see `CorrectAndSmooth`. In-sample residuals are smaller than those of unseen
        nodes, and weights trained on them are made for the wrong ones. "by_fold" ("deterministic"
        only): the rows of each fold of nodes are made as those of unlabeled nodes are, by a base
        that was fitted without the fold's labels, residuals of the others and all; predictions
        are in sample then. "auto": "by_fold", or "out_of_fold" with random splits, where the base
        is fitted here, "in_sample" otherwise.
    normalize : whether rows are divided by P_s·1; False is the paper's formula.
    ridge : pull towards plain Correct & Smooth ("deterministic").
    validation_fraction : share of the labeled nodes that choose the best epoch and rate if no
        validation nodes are given. Their labels are not trained on; predictions use them.
    learning_rate, max_epochs, patience : of Adam. None: 0.01 for the weights, 0.005 end to end; 300
        epochs; 100.
    hidden, n_layers, dropout, weight_decay : of the base network, end to end.
    others : as for `CorrectAndSmooth`, attributes too.

    Attributes
    ----------
    coef_smooth_, coef_correct_ : (c, c) W_s and Ŵ_c; of several pairs of steps one below the other.
    split_rate_ : α chosen. split_rate_scores_ : validation score of each, in two stages.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> src, dst = rng.integers(0, 200, (2, 4000))
    >>> same = y[src] == y[dst]
    >>> graph = Graph.from_edges(src[same], dst[same])
    >>> X = y[:, None] + rng.normal(size=(200, 5))
    >>> model = TrainableCorrectAndSmooth(LogisticRegression(), label_trick="deterministic")
    >>> model = model.fit(X, np.where(rng.random(200) < 0.3, y, -1), graph=graph)
    >>> float(model.score(None, y)) > 0.95
    True
    """

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

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> TrainableCorrectAndSmooth:
        """Fit base and weights. ``validation`` nodes tell the best epoch and split rate; arguments
        as for `CorrectAndSmooth`. Training that diverges is an error that names the learning rate;
        the weights of the best epoch are kept."""
        self._fit(X, y, graph, sample_weight, validation)
        if isinstance(self.model_, EndToEnd):
            check_divergence(self.model_.training, self._rate)
        return self

    @property
    def _rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        return 0.01 if self.mode == "two_stage" else 0.005

    @property
    def _by_fold(self) -> bool:
        """Whether the weights are trained on rows made without a fold's labels altogether."""
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
                "base_predictions='by_fold' needs label_trick='deterministic' and a base that can "
                "be fitted here. Use 'out_of_fold'."
            )
        check_choice("mode", self.mode, ("two_stage", "end_to_end"))
        check_choice("label_trick", self.label_trick, ("stochastic", "deterministic"))
        check_flag("normalize", self.normalize)
        check_scale(self.scale)
        self._pairs()
        check_count("n_splits", self.n_splits, 1)
        check_share("dropout", self.dropout)
        if self.validation_fraction:
            check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
        check_number("ridge", self.ridge, -1e-300, np.inf)
        if self.learning_rate is not None:
            check_number("learning_rate", self.learning_rate, 0.0, np.inf)
        if self.split_rate != "auto":
            check_number("split_rate", self.split_rate, 0.0, 1.0)
        if any(smooth is None for _, smooth in self._pairs()):
            raise ValueError(
                "`smooth` must be a damping or a Spread; got None. The weights follow it."
            )
        if self.mode == "end_to_end":
            self._settle_end_to_end()

    def _settle_end_to_end(self) -> None:
        require("torch", "mode='end_to_end'")
        if not isinstance(self.base, str):
            raise ValueError(
                f"`base` must be one of {BASES} for mode='end_to_end', where it is trained; got "
                f"{type(self.base).__name__}. Use mode='two_stage'."
            )
        if _is_list(self.correct):
            raise ValueError("`correct` must be one step for mode='end_to_end'; got several.")
        if self.label_trick == "deterministic" or self.correct is None:
            raise ValueError(
                "mode='end_to_end' needs label_trick='stochastic' and a correction: its base "
                "learns from labels on the way. Use mode='two_stage'."
            )

    # -- learning -------------------------------------------------------------------------
    def _pairs(self) -> list[tuple[Spread | None, Spread | None]]:
        """The steps, pair by pair."""
        given = [value if _is_list(value) else [value] for value in (self.correct, self.smooth)]
        if len(given[0]) != len(given[1]) or not len(given[0]):
            raise ValueError(
                f"`correct` and `smooth` must be as many; got {len(given[0])} and {len(given[1])}."
            )
        return [
            (as_spread("correct", correct, None), as_spread("smooth", smooth, None))
            for correct, smooth in zip(*given, strict=True)
        ]

    def _views(self, inputs: NodeInputs) -> list[StepViews]:
        numbers = inputs.targets.task == "regression"
        scale = "mean" if numbers and self.scale == "auto" else self.scale
        found = []
        for correct, smooth in self._pairs():
            assert smooth is not None
            steps = correct and correct.unclamped(), smooth.unclamped()
            found.append(StepViews(inputs.graph, *steps, scale, self.normalize, self.progress))
        return found

    def _learn(self, inputs: NodeInputs, seed: int) -> TwoStage | EndToEnd:
        views, scale = self._views(inputs), TargetScale.of(inputs.targets)
        if self.mode == "end_to_end":
            return self._learn_network(inputs, views[0], scale, seed)
        several = views[0] if len(views) == 1 else SideBySide(tuple(views))
        return self._learn_weights(inputs, several, scale, seed)

    def _with_validation(self, inputs: NodeInputs, seed: int) -> tuple[NodeInputs, Targets | None]:
        """(what to train on, whose labels choose): validation nodes, else some set aside."""
        if len(self.validation_):
            return inputs, self.validation_targets_
        known = inputs.targets
        nodes = np.flatnonzero(known.labeled)
        kept, drawn = draw_validation(
            known, nodes, self.validation_fraction, np.random.default_rng(seed)
        )
        if not len(drawn):
            return inputs, None
        return replace(inputs, targets=known.only(kept)), known.only(drawn)

    def _learn_weights(
        self, inputs: NodeInputs, views: StepViews | SideBySide, scale: TargetScale, seed: int
    ) -> TwoStage:
        options = StageOptions(
            rates=PAPER_SPLIT_RATES if self.split_rate == "auto" else (float(self.split_rate),),
            n_splits=self.n_splits,
            n_folds=10,
            ridge=self.ridge,
            learning_rate=self._rate,
            max_epochs=check_count("max_epochs", self.max_epochs, 1),
            patience=check_count("patience", self.patience, 1),
            seed=seed,
            progress=self.progress,
        )
        base = self._fit_base(inputs, seed)
        folds: Folds = []
        if self._by_fold and len(base.folds):
            folds = [(nodes, _in_units(rows, scale)) for nodes, rows in base.by_fold(inputs)]
            base = base.alone()
        rows = base.rows(inputs)
        if self.label_trick == "deterministic":
            problem = StageProblem(views, rows, inputs.targets, None, scale, options)
            return TwoStage(base, views, scale, problem.deterministic(folds))
        given, validation = self._with_validation(inputs, seed)
        problem = StageProblem(views, rows, given.targets, validation, scale, options)
        return TwoStage(base, views, scale, problem.by_splits())

    def _learn_network(
        self, inputs: NodeInputs, views: StepViews, scale: TargetScale, seed: int
    ) -> EndToEnd:
        from ...nn.training import TrainingOptions

        given, validation = self._with_validation(inputs, seed)
        options = TrainingOptions(
            learning_rate=self._rate,
            max_epochs=check_count("max_epochs", self.max_epochs, 1),
            patience=check_count("patience", self.patience, 1),
            weight_decay=check_number("weight_decay", self.weight_decay, -1e-300, np.inf),
        )
        n_layers = check_count("n_layers", self.n_layers, 1) if self.base == "mlp" else 1
        shape = NetworkShape(check_count("hidden", self.hidden, 1), n_layers, self.dropout)
        rate = 0.5 if self.split_rate == "auto" else float(self.split_rate)
        return train_end_to_end(
            given, validation, views, scale, shape, options, rate, seed, self.progress
        )

    # -- what was learnt ------------------------------------------------------------------
    @property
    def coef_smooth_(self) -> np.ndarray:
        return self._weights()[0]

    @property
    def coef_correct_(self) -> np.ndarray:
        return self._weights()[1]

    def _weights(self) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "targets_")
        c = self.targets_.Y.shape[1]
        if isinstance(self.model_, TwoStage):
            views, found = self.model_.views, self.model_.fit.weights
            each = views.each if isinstance(views, SideBySide) else (views,)
            sizes = np.cumsum([len(view.unit(c)) for view in each])
            blocks = np.split(found[: sizes[-1]], sizes[:-1])
            return (
                np.concatenate([block[:c] for block in blocks]),
                np.concatenate([block[c:] for block in blocks]),
            )
        assert isinstance(self.model_, EndToEnd)
        network = self.model_.network
        parts = network.smooth_weight, network.correct_weight
        return tuple(part.detach().numpy().astype(np.float64) for part in parts)

    @property
    def split_rate_(self) -> float:
        check_is_fitted(self, "targets_")
        model: Any = self.model_
        return model.fit.split_rate if isinstance(model, TwoStage) else model.split_rate

    @property
    def split_rate_scores_(self) -> dict[float, float]:
        check_is_fitted(self, "targets_")
        fit = getattr(self.model_, "fit", None)
        return dict(fit.scores or {}) if fit is not None else {}


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


def _in_units(rows: Callable[[], np.ndarray], scale: TargetScale) -> Callable[[], np.ndarray]:
    return lambda: scale.to(rows())
