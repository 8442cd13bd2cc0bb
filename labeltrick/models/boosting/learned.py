"""The three modes of `GraphBoosting`. The result of each has ``rows(inputs)``, the predictions of
all nodes in the units of ``y``, and ``gain()``, the gain of each column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.progress import Progress, ProgressBar
from ..._utils.targets import Targets, TargetScale
from ..base.node_inputs import NodeInputs, with_validation
from ..base.weights import apply_link, link_of
from ..correct_smooth import Spread, TrainableCorrectAndSmooth
from ..correct_smooth.base import with_gaps
from .node_columns import LabelColumns, NeighborColumns, NodeColumns
from .rounds import BoostProblem, Grown, Steps, grow
from .trees import TreeBase, TreeOptions, Trees, fit_trees

STEP_PAIRS = ((0.5, 0.1), (0.8, 0.1), (0.8, 0.3), (0.95, 0.3), (0.5, 0.5), (0.95, 0.7))
_WITHOUT_VALIDATION = 100  # rounds if labels are too few to choose the number
Rounds = int | tuple[int, ...]  # of all boosters, or of each


@dataclass(frozen=True)
class BoostingOptions:
    """Checked parameters of the estimator."""

    trees: TreeOptions
    neighbor_hops: int
    label_hops: int
    damping: float | None
    correct: tuple[float, ...]
    smooth: tuple[float, ...]
    split_rate: float
    validation_fraction: float
    progress: Progress


# -- labels as columns -------------------------------------------------------------------------
@dataclass(frozen=True)
class FeatureTrees:
    """Trees on own, neighbor and label columns."""

    neighbors: NeighborColumns
    labels: LabelColumns
    scale: TargetScale
    trees: Trees
    names: list[str]
    groups: list[str]

    @property
    def n_rounds(self) -> int:
        return self.trees.n_rounds

    def rows(self, inputs: NodeInputs) -> np.ndarray:
        columns = self.neighbors.beside_own(inputs.X, inputs.graph, False)
        columns = self.labels.beside(columns, inputs.targets, self.scale, inputs.graph, False)
        return self.scale.back(self.trees.predict(columns.values))

    def gain(self) -> np.ndarray:
        return self.trees.gain()


def learn_features(
    inputs: NodeInputs, validation: Targets, options: BoostingOptions, seed: int
) -> FeatureTrees:
    """Fit trees on columns that include the labels of other nodes; no row sees its own."""
    scale, trees = TargetScale.of(inputs.targets), options.trees
    neighbors = NeighborColumns.of(inputs.X, options.neighbor_hops)
    labels = LabelColumns(options.label_hops, options.damping)
    own = neighbors.beside_own(inputs.X, inputs.graph, options.progress)

    def fit(known: Targets, val: Targets | None, n_rounds: Rounds) -> tuple[FeatureTrees, Rounds]:
        columns = labels.beside(own, known, scale, inputs.graph, options.progress)
        fitted = _fit_on(columns, known, val, scale, replace(trees, n_rounds=n_rounds), bar)
        names = columns.names, columns.groups
        return FeatureTrees(neighbors, labels, scale, fitted, *names), fitted.rounds

    total = 2 * trees.total_rounds(inputs.targets.task, inputs.targets.Y.shape[1])
    with ProgressBar(total, "trees", options.progress) as bar:
        return _fit_twice(fit, inputs.targets, validation, options, np.random.default_rng(seed))


def _fit_twice(
    fit: Callable[[Targets, Targets | None, Rounds], tuple[Any, Rounds]],
    known: Targets,
    validation: Targets,
    options: BoostingOptions,
    rng: np.random.Generator,
) -> Any:
    """The result of ``fit(labels, validation labels, rounds)``, which returns (result, best
    rounds): first with validation labels that choose the number of rounds, then on all labels
    unless validation nodes were given."""
    given, val = with_validation(known, validation, options.validation_fraction, rng)
    found, rounds = None, _few_rounds(options)
    if val is not None:
        found, rounds = fit(given, val, options.trees.n_rounds)
    if found is None or not validation.labeled.any():
        found, _ = fit(known, None, rounds)
    return found


def _few_rounds(options: BoostingOptions) -> Rounds:
    """Number of rounds if labels are too few to choose it."""
    return min(options.trees.most_rounds, _WITHOUT_VALIDATION)


def _fit_on(
    columns: NodeColumns,
    known: Targets,
    validation: Targets | None,
    scale: TargetScale | None,
    options: TreeOptions,
    bar: ProgressBar,
) -> Trees:
    """Trees on the rows of the labeled nodes, with targets in the units of ``scale``."""

    def rows(some: Targets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        nodes = np.flatnonzero(some.labeled)
        Y = some.Y[nodes] if scale is None else scale.to(some.Y[nodes])
        return nodes, Y, some.weight[nodes]

    nodes, Y, weight = rows(known)
    truth = None
    if validation is not None:
        at, *rest = rows(validation)
        truth = (columns.values[at], *rest)
    return fit_trees(columns.rows(nodes), Y, weight, truth, known.task, options, bar)


# -- end to end --------------------------------------------------------------------------------
@dataclass(frozen=True)
class GrownTrees:
    """Trees grown through Correct & Smooth, and the weights of its steps."""

    neighbors: NeighborColumns
    scale: TargetScale
    grown: Grown
    correct: float
    smooth: float
    names: list[str]
    groups: list[str]

    @property
    def n_rounds(self) -> int:
        return self.grown.n_rounds

    def rows(self, inputs: NodeInputs) -> np.ndarray:
        link = link_of(inputs.targets.task)
        columns = self.neighbors.beside_own(inputs.X, inputs.graph, False)
        steps = Steps(inputs.graph, self.correct, self.smooth, tol=1e-6)
        base = apply_link(self.grown.scores(columns.values), link)
        known = inputs.targets
        views = steps.forward(base, self.scale.inputs(known), known.labeled)
        return self.scale.back(apply_link(self.grown.weights.scores(views), link))

    def gain(self) -> np.ndarray:
        return self.grown.booster.feature_importance("gain")


def learn_end_to_end(
    inputs: NodeInputs, validation: Targets, options: BoostingOptions, seed: int
) -> GrownTrees:
    """Grow trees through Correct & Smooth."""
    rng, trees = np.random.default_rng(seed), options.trees
    scale, link = TargetScale.of(inputs.targets), link_of(inputs.targets.task)
    neighbors = NeighborColumns.of(inputs.X, options.neighbor_hops)
    columns = neighbors.beside_own(inputs.X, inputs.graph, options.progress)
    dampings = options.correct[0], options.smooth[0]
    steps = Steps(inputs.graph, *dampings)

    def fit(known: Targets, val: Targets | None, n_rounds: Any) -> tuple[GrownTrees, Rounds]:
        rows = None
        if val is not None:
            at = np.flatnonzero(val.labeled)
            rows = at, scale.to(val.Y[at]), val.weight[at]
        weight = known.weight / known.weight[known.labeled].mean()
        args = (scale.inputs(known), weight, known.labeled, rows, link, options.split_rate, known)
        start = np.zeros(known.Y.shape[1])
        if link != "identity":
            prior = np.clip(known.prior, 1e-3, 1 - 1e-3)
            start = np.log(prior) if link == "softmax" else np.log(prior / (1 - prior))
        grown = grow(BoostProblem(steps, *args), columns, start, trees, n_rounds, rng, bar)
        names = columns.names, columns.groups
        return GrownTrees(neighbors, scale, grown, *dampings, *names), grown.n_rounds

    with ProgressBar(2 * trees.most_rounds, "trees through the graph", options.progress) as bar:
        return _fit_twice(fit, inputs.targets, validation, options, rng)


# -- two stages --------------------------------------------------------------------------------
@dataclass(frozen=True)
class StagedTrees:
    """Trees on own and neighbor columns, then trainable Correct & Smooth.

    ``classes`` are the numbers of the classes in the training labels; ``y`` may have more.
    """

    neighbors: NeighborColumns
    model: Any
    names: list[str]
    groups: list[str]
    classes: np.ndarray | None

    @property
    def _trees(self) -> Trees | None:
        """The trees of the base; None if there was a single class."""
        return getattr(self.model.model_.base.model, "trees_", None)

    @property
    def n_rounds(self) -> int:
        return 0 if self._trees is None else self._trees.n_rounds

    def rows(self, inputs: NodeInputs) -> np.ndarray:
        columns = self.neighbors.beside_own(inputs.X, inputs.graph, False)
        inputs, known = replace(inputs, X=columns.values), inputs.targets
        if self.classes is None or len(self.classes) == known.Y.shape[1]:
            return self.model.model_.rows(inputs)
        assert known.classes is not None
        some = known.only(np.flatnonzero(known.Y[:, self.classes].any(axis=1)))
        some = replace(some, Y=some.Y[:, self.classes], classes=known.classes[self.classes])
        rows = np.zeros_like(known.Y)
        rows[:, self.classes] = self.model.model_.rows(replace(inputs, targets=some))
        return rows

    def gain(self) -> np.ndarray:
        return np.zeros(len(self.names)) if self._trees is None else self._trees.gain()


def learn_two_stage(
    inputs: NodeInputs, validation: Targets, options: BoostingOptions, seed: int
) -> StagedTrees:
    """Fit trees, then the weights of Correct & Smooth on rows whose trees did not see the labels of
    their fold."""
    neighbors = NeighborColumns.of(inputs.X, options.neighbor_hops)
    columns = neighbors.beside_own(inputs.X, inputs.graph, options.progress)
    known = inputs.targets
    trees = replace(options.trees, n_rounds=_best_rounds(columns, known, validation, options, seed))
    shown: dict[str, Any] = {"progress": options.progress}
    names, categorical = tuple(columns.names), tuple(columns.categorical)
    base = TreeBase(known.task, trees, names=names, categorical=categorical, **shown)
    limit: dict[str, Any] = {"n_steps": None, "norm": "row", "clamp": False}
    model = TrainableCorrectAndSmooth(
        base,
        label_trick="deterministic",
        correct=[Spread(damping, **limit) for damping in options.correct],
        smooth=[Spread(damping, **limit) for damping in options.smooth],
        task=known.task,
        calibrate=False,
        random_state=seed,
        **shown,
    )
    model._given_keys = known.keys
    model.fit(columns.values, with_gaps(known), graph=inputs.graph, sample_weight=known.weight)
    classes = np.asarray(model.classes_, np.int64) if known.task == "classification" else None
    return StagedTrees(neighbors, model, columns.names, columns.groups, classes)


def _best_rounds(
    columns: NodeColumns, known: Targets, validation: Targets, options: BoostingOptions, seed: int
) -> Rounds:
    """Number of rounds with the best validation score, for the trees of all folds."""
    rng, trees = np.random.default_rng(seed), options.trees
    given, val = with_validation(known, validation, options.validation_fraction, rng)
    if val is None:
        return _few_rounds(options)
    total = trees.total_rounds(known.task, known.Y.shape[1])
    with ProgressBar(total, "trees", options.progress) as bar:
        return _fit_on(columns, given, val, None, trees, bar).rounds


LEARN: dict[str, Callable[..., Any]] = {
    "features": learn_features,
    "two_stage": learn_two_stage,
    "end_to_end": learn_end_to_end,
}
