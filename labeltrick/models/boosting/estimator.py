"""`GraphBoosting`: gradient-boosted trees on node tables, with the labels of other nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import check_choice, check_count, check_number, check_share
from ..._utils.progress import Progress
from ..base.learning import TableEstimator
from ..base.node_inputs import NodeInputs
from .learned import LEARN, STEP_PAIRS, BoostingOptions
from .trees import TreeOptions, check_extra


class GraphBoosting(TableEstimator):
    """Boosted trees (LightGBM) that use the graph and the labels of other nodes.

    For tables with numbers, categories, text, dates and missing values, to predict classes or
    numbers (paper, section 5.4).

    Parameters
    ----------
    mode : {"features", "two_stage", "end_to_end"}, default="features"
        "features" adds columns: means over the neighbors' columns, and over the labels of other
        nodes 1, 2, … steps away (leave-one-out target encoding along edges). "two_stage" applies
        trainable Correct & Smooth to the out-of-fold predictions of trees. "end_to_end" grows trees
        through trainable Correct & Smooth: each round fits the gradient of the loss at all nodes,
        for a new random split of the labels into inputs and targets.
    n_rounds : int, default=1000
        Largest number of rounds; early stopping chooses the best.
    learning_rate : float, default=0.05
        Factor of each tree's contribution.
    max_leaves : int, default=15
        Largest number of leaves of a tree.
    neighbor_hops : int, default=2
        Number of steps over which neighbors' columns are averaged; 0 for no such columns.
    label_hops : int, default=2
        Number of steps over which labels are averaged, for ``mode="features"``.
    damping : float or None, default=0.9
        λ of an additional mean label by the resolvent, for ``mode="features"``; None omits it.
    correct : "auto", float or list of float, default="auto"
        λ of the correction step of Correct & Smooth. In two stages, a list gives several pairs of
        steps with separate weights. "auto" means six pairs in two stages, and 0.6 end to end.
    smooth : "auto", float or list of float, default="auto"
        λ of the smoothing step, as many as in ``correct``; "auto" means 0.3 end to end.
    split_rate : float, default=0.5
        α, the share of labels that are inputs in each round, for ``mode="end_to_end"``.
    patience : int, default=50
        Rounds without a better validation score before growing stops.
    validation_fraction : float, default=0.1
        Share of the labeled nodes that choose the number of rounds if no validation nodes are
        given. The trees are then grown again on all labels.
    categorical : "auto" or list of str or int, default="auto"
        Names or positions of the categorical columns. "auto" chooses them by type; strings with few
        different values are categorical. Other strings become words or dates; see `TableEncoder`.
    unseen_categories : {"error", "missing"}, default="error"
        Whether categories that did not occur in the fit are an error at prediction, or count as
        missing.
    lightgbm_params : dict or None, default=None
        Further parameters of LightGBM. "monotone_constraints" may be a dict by the names in
        ``feature_names_``.
    class_weight : None, "balanced" or dict of class to weight, default=None
        Weight of each class in training. "balanced" makes all classes count alike.
    calibrate : bool, default=True
        Whether `predict_proba` is calibrated, on the validation nodes if there are any, else on
        the out-of-fold predictions.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        Kind of target; "auto" infers it from ``y``.
    random_state : int or None, default=0
        Seed of all random choices.
    progress : bool, callable or None, default=None
        None shows a bar on a terminal after a second; True or False always or never shows one; a
        function is called as ``f(done, total)``.

    Attributes
    ----------
    feature_names_, feature_groups_ : lists of str
        Name of each column of the trees, and its group: "own", "neighbor" or "label".
    feature_importances_ : array
        Share of each column in the total gain of the trees' splits.
    group_importances_ : dict of str to float
        Share of each group.
    n_rounds_ : int
        Number of rounds that were kept.
    oof_proba_, oof_prediction_, oof_score_ : arrays and float
        Predictions of each fifth of the labeled nodes by trees that were grown without its labels,
        and their score. They are computed at the first access, by five more fits.
    labeled_, validation_ : arrays of nodes
        The nodes whose labels are trained on, and the validation nodes.
    classes_ : array
        Classes in ascending order.
    prior_ : array of shape (c,)
        Class shares, or the mean target, of the labeled nodes.
    calibration_ : Calibration
        Temperature, and the calibration error before and after.
    graph_ : Graph
        The graph of the fit.

    See Also
    --------
    AutoModel : A blend of several models without settings.
    SelfExcludedLabels : Label columns for any scikit-learn model.
    CorrectAndSmooth : Correct the errors of any model and smooth the result.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import Graph, GraphBoosting
    >>> rng = np.random.default_rng(0)
    >>> src, dst = rng.integers(0, 300, (2, 6000))
    >>> near = np.abs(src - dst) < 30
    >>> graph = Graph.from_edges(src[near], dst[near], n_nodes=300)
    >>> value = np.sin(np.arange(300) / 20.0)
    >>> y = np.where(rng.random(300) < 0.5, value, np.nan)
    >>> X = rng.normal(size=(300, 2))  # noise: only the labels of other nodes are informative
    >>> model = GraphBoosting(progress=False).fit(X, y, graph=graph)
    >>> float(model.score(None, np.where(np.isnan(y), value, np.nan))) > 0.5
    True
    """

    def __init__(
        self,
        mode: str = "features",
        *,
        n_rounds: int = 1000,
        learning_rate: float = 0.05,
        max_leaves: int = 15,
        neighbor_hops: int = 2,
        label_hops: int = 2,
        damping: float | None = 0.9,
        correct: Any = "auto",
        smooth: Any = "auto",
        split_rate: float = 0.5,
        patience: int = 50,
        validation_fraction: float = 0.1,
        categorical: Any = "auto",
        unseen_categories: str = "error",
        lightgbm_params: dict[str, Any] | None = None,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: Any = 0,
        progress: Progress = None,
    ) -> None:
        self.mode = mode
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.neighbor_hops = neighbor_hops
        self.label_hops = label_hops
        self.damping = damping
        self.correct = correct
        self.smooth = smooth
        self.split_rate = split_rate
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.categorical = categorical
        self.unseen_categories = unseen_categories
        self.lightgbm_params = lightgbm_params
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.progress = progress

    def _settle(self) -> None:
        self._seeds = np.random.default_rng(self.random_state).integers(2**31, size=2)
        check_choice("mode", self.mode, LEARN)
        check_choice("unseen_categories", self.unseen_categories, ("error", "missing"))
        trees = TreeOptions(
            n_rounds=check_count("n_rounds", self.n_rounds, 1),
            learning_rate=check_number("learning_rate", self.learning_rate, 0.0, np.inf),
            max_leaves=check_count("max_leaves", self.max_leaves, 2),
            patience=check_count("patience", self.patience, 1),
            extra=check_extra(self.lightgbm_params),
        )
        damping = self.damping
        self._options = BoostingOptions(
            trees,
            check_count("neighbor_hops", self.neighbor_hops),
            check_count("label_hops", self.label_hops),
            None if damping is None else check_number("damping", damping, 0.0, 1.0),
            *self._step_dampings(),
            check_number("split_rate", self.split_rate, 0.0, 1.0),
            check_share("validation_fraction", self.validation_fraction),
            self.progress,
        )

    def _step_dampings(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """λ of the correction and of the smoothing of each pair of steps."""
        automatic = STEP_PAIRS if self.mode == "two_stage" else ((0.6, 0.3),)
        found = []
        for side, name in enumerate(("correct", "smooth")):
            value = getattr(self, name)
            if isinstance(value, str) and value == "auto":
                value = [pair[side] for pair in automatic]
            several = value if isinstance(value, list | tuple) else [value]
            found.append(tuple(check_number(name, entry, 0.0, 1.0) for entry in several))
        if len(found[0]) != len(found[1]) or (self.mode == "end_to_end" and len(found[0]) != 1):
            raise ValueError(
                "`correct` and `smooth` must have the same number of steps (one end to end); got "
                f"{len(found[0])} and {len(found[1])}. Set both."
            )
        return found[0], found[1]

    def _without_features(self) -> None:
        raise ValueError(
            "`X` must be given: GraphBoosting learns from columns; got None. Without features, "
            "use TrainableLabelPropagation."
        )

    # -- learning -------------------------------------------------------------------------
    def _learn(self, inputs: NodeInputs, seed: int) -> Any:
        options = replace(self._options, trees=replace(self._options.trees, seed=seed))
        return LEARN[self.mode](inputs, self.validation_targets_, options, seed)

    def _learn_all(self) -> None:
        known = self.targets_
        if known.task == "regression" and len(self.labeled_) > 1:
            flat = np.ptp(known.Y[self.labeled_], axis=0) == 0
            if flat.any():
                column = int(np.argmax(flat))
                which = "" if known.flat else f"column {column} of "
                value = known.Y[self.labeled_[0], column]
                raise ValueError(f"{which}`y` must vary for regression; all labels are {value:g}.")
        super()._learn_all()

    @property
    def _rows_use_own_label(self) -> bool:
        return self.mode != "features"  # label columns exclude a node's own label

    # -- rounds and importances -----------------------------------------------------------
    @property
    def n_rounds_(self) -> int:
        """Number of rounds that were kept."""
        check_is_fitted(self, "targets_")
        return self.model_.n_rounds

    @property
    def feature_names_(self) -> list[str]:
        """Name of each column of the trees."""
        check_is_fitted(self, "targets_")
        return list(self.model_.names)

    @property
    def feature_groups_(self) -> list[str]:
        """Group of each column: "own", "neighbor" or "label"."""
        check_is_fitted(self, "targets_")
        return list(self.model_.groups)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each column in the total gain of the trees' splits."""
        check_is_fitted(self, "targets_")
        gain = np.asarray(self.model_.gain(), np.float64)
        return gain / gain.sum() if gain.sum() > 0 else gain

    @property
    def group_importances_(self) -> dict[str, float]:
        """Share of each group of columns in the total gain."""
        shares, groups = self.feature_importances_, np.array(self.feature_groups_)
        return {str(group): float(shares[groups == group].sum()) for group in dict.fromkeys(groups)}
