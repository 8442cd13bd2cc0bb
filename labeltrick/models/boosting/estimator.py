"""`GraphBoosting`: gradient-boosted trees on tables of nodes, with the labels of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from ..._utils.checks import check_choice, check_count, check_number
from ..._utils.progress import Progress
from ...graph.graph import Graph
from ..base.feature_estimator import FeatureEstimator
from ..base.node_inputs import NodeInputs
from ..base.tables import Table, read_again, read_table
from ..label_propagation.plain import tidy
from .learned import LEARN, STEP_PAIRS, BoostingOptions
from .trees import TreeOptions, check_extra


class GraphBoosting(FeatureEstimator):
    """Boosted trees (LightGBM) that use the graph and the labels of other nodes.

    For tables of mixed columns: numbers, categories and gaps as they come, classes or numbers to
    predict (paper, section 5.4).

    Parameters
    ----------
    mode : "features": means of the neighbors' columns, and of the labels that others have
        1, 2, … steps away, are further columns (leave-one-out target encoding along edges).
        "two_stage": trees, then trainable Correct & Smooth on their out-of-fold predictions.
        "end_to_end": each round fits the gradient of the loss through trainable Correct & Smooth,
        at all nodes, for a fresh split of the labels into inputs and targets.
    n_rounds, learning_rate, max_leaves : of the trees; early stopping finds the best round.
    neighbor_hops : how far means of the neighbors' columns reach; 0 for none.
    label_hops, damping : how far labels reach, step by step, and λ of one column by the resolvent
        (None for none); for ``mode="features"``.
    correct, smooth : λ of the two steps of Correct & Smooth, in the other modes; in two stages also
        lists of equal length, for several pairs of steps with weights of their own. "auto": six
        pairs in two stages, 0.6 and 0.3 end to end.
    split_rate : α of ``mode="end_to_end"``.
    patience : rounds without a better score before growing ends.
    validation_fraction : share of the labeled nodes that tell the best number of rounds where no
        validation nodes are given; the trees are then grown anew on all.
    categorical : names or places of columns that hold categories; "auto": by their type (text
        with few different values counts).
    unseen_categories : at prediction, categories that the fit did not know are an "error", or count
        as "missing".
    lightgbm_params : further parameters of LightGBM. "monotone_constraints" may be a dict by the
        names in ``feature_names_``.
    class_weight, calibrate, task, random_state, progress : as for the other estimators.

    Attributes
    ----------
    feature_names_, feature_groups_ : name of each column the trees see, and whose it is: "own",
        "neighbor" or "label".
    feature_importances_ : share of each column in what the trees gained. group_importances_ : of
        each group.
    n_rounds_ : rounds kept.
    labeled_, targets_, graph_, oof_prediction_, … : as for the other estimators. Left-out
        predictions grow the trees anew without each fifth of the labels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> src, dst = rng.integers(0, 300, (2, 6000))
    >>> near = np.abs(src - dst) < 30
    >>> graph = Graph.from_edges(src[near], dst[near], n_nodes=300)
    >>> value = np.sin(np.arange(300) / 20.0)
    >>> y = np.where(rng.random(300) < 0.5, value, np.nan)
    >>> X = rng.normal(size=(300, 2))  # tells nothing: all there is are labels of others
    >>> model = GraphBoosting(progress=False).fit(X, y, graph=graph)
    >>> float(model.score(None, np.where(np.isnan(y), value, np.nan))) > 0.5
    True
    """

    features_: Table

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

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> GraphBoosting:
        """Grow the trees. ``validation`` nodes (labeled in ``y``) tell the best round; their
        labels are neither inputs nor targets."""
        self._options = self._settle()
        self._seeds = np.random.default_rng(self.random_state).integers(2**31, size=2)
        self._start_feature_fit(X, y, graph, sample_weight, validation)
        try:
            self._check_targets()
            self.model_ = self._learn(self.fitted_inputs, int(self._seeds[0]))
        except Exception:
            del self.targets_  # neither the old fit nor the new one: not fitted
            raise
        return self

    def _settle(self) -> BoostingOptions:
        """Check parameters."""
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
        return BoostingOptions(
            trees,
            check_count("neighbor_hops", self.neighbor_hops),
            check_count("label_hops", self.label_hops),
            None if damping is None else check_number("damping", damping, 0.0, 1.0),
            *self._step_dampings(),
            check_number("split_rate", self.split_rate, 0.0, 1.0),
            check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
            if self.validation_fraction
            else 0.0,
            self.progress,
        )

    def _step_dampings(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """λ of the correction and of the smoothing, pair by pair."""
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
                f"`correct` and `smooth` must be as many (one end to end); got {len(found[0])} and "
                f"{len(found[1])}. Set both."
            )
        return found[0], found[1]

    def _check_features(self, X: Any, *, reset: bool) -> Table:
        if X is None:
            raise ValueError(
                "`X` must be given: GraphBoosting learns from columns; got None. For labels and "
                "edges alone use TrainableLabelPropagation."
            )
        if not reset:
            table = read_again(X, self.features_, self.unseen_categories)
        else:
            _check_feature_names(self, X, reset=True)
            table = read_table(X, self.categorical)
        return table

    def _check_targets(self) -> None:
        known = self.targets_
        if known.task != "regression" or len(self.labeled_) < 2:
            return
        flat = np.ptp(known.Y[self.labeled_], axis=0) == 0
        if flat.any():
            which = "" if known.flat else f"column {int(np.argmax(flat))} of "
            value = known.Y[self.labeled_, int(np.argmax(flat))][0]
            raise ValueError(
                f"{which}`y` must vary for regression; all labels are {value:g}. There is nothing "
                "to learn."
            )

    # -- learning -------------------------------------------------------------------------
    def _learn(self, inputs: NodeInputs, seed: int) -> Any:
        options = replace(self._options, trees=replace(self._options.trees, seed=seed))
        return LEARN[self.mode](inputs, self.validation_targets_, options, seed)

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        return tidy(self.model_.rows(inputs), inputs.targets.task)

    @property
    def oof_rows_(self) -> np.ndarray:
        """Each fifth of the labeled nodes by trees that were grown without their labels."""
        known, nodes = self.targets_, self.labeled_

        def predict_fold(inside: np.ndarray) -> np.ndarray:
            others = replace(self.fitted_inputs, targets=known.only(nodes[~inside]))
            learned = self._learn(others, int(self._seeds[1]))
            # Columns of labels leave out a node's own; the other modes would let it in.
            given = self.fitted_inputs if self.mode == "features" else others
            return tidy(learned.rows(given)[nodes[inside]], known.task)

        return self._oof_by_folds(predict_fold, self.progress)

    # -- what was learnt ------------------------------------------------------------------
    @property
    def n_rounds_(self) -> int:
        check_is_fitted(self, "targets_")
        return self.model_.n_rounds

    @property
    def feature_names_(self) -> list[str]:
        check_is_fitted(self, "targets_")
        return list(self.model_.column_gains()[0])

    @property
    def feature_groups_(self) -> list[str]:
        check_is_fitted(self, "targets_")
        return list(self.model_.column_gains()[1])

    @property
    def feature_importances_(self) -> np.ndarray:
        check_is_fitted(self, "targets_")
        gain = np.asarray(self.model_.column_gains()[2], np.float64)
        return gain / gain.sum() if gain.sum() > 0 else gain

    @property
    def group_importances_(self) -> dict[str, float]:
        shares, groups = self.feature_importances_, np.array(self.feature_groups_)
        return {str(group): float(shares[groups == group].sum()) for group in dict.fromkeys(groups)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
