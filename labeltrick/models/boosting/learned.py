"""The three modes of `GraphBoosting`. The result of each has ``rows(inputs)``, the predictions of
all nodes in the units of ``y``, and ``gain()``, the gain of each column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.progress import Progress, ProgressBar
from ..._utils.targets import Targets, TargetScale
from ..base.node_inputs import NodeInputs, with_validation
from ..base.tables import Table
from ..base.weights import apply_link, link_of
from ..correct_smooth import Spread, TrainableCorrectAndSmooth
from ..correct_smooth.base import with_gaps
from .node_columns import (
    LABEL,
    NEIGHBOR,
    LabelColumns,
    NeighborColumns,
    NodeColumns,
    output_names,
)
from .rounds import BoostProblem, Grown, Steps, grow
from .tree_base import TreeBase
from .trees import TreeOptions, Trees, fit_trees, sum_of_gains

STEP_PAIRS = ((0.5, 0.1), (0.8, 0.1), (0.8, 0.3), (0.95, 0.3), (0.5, 0.5), (0.95, 0.7))
_WITHOUT_VALIDATION = 100  # rounds if labels are too few to choose the number


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


def feature_columns(
    neighbors: NeighborColumns, inputs: NodeInputs, progress: Progress
) -> NodeColumns:
    """A node's own columns, and means over its neighbors."""
    table: Table = inputs.X
    found = NodeColumns.own(table.values, table.names, table.categorical)
    if neighbors.n_hops:
        values = neighbors.values(table, inputs.graph, progress)
        found = found.beside(values, neighbors.column_names(), NEIGHBOR)
    return found


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
        columns = _columns(inputs, self.neighbors, self.labels, self.scale, False)
        return self.scale.back(self.trees.predict(columns.values))

    def gain(self) -> np.ndarray:
        return self.trees.gain()


def _columns(
    inputs: NodeInputs,
    neighbors: NeighborColumns,
    labels: LabelColumns,
    scale: TargetScale,
    progress: Progress,
) -> NodeColumns:
    columns = feature_columns(neighbors, inputs, progress)
    if not labels.n_hops and labels.damping is None:
        return columns
    values = labels.values(inputs.targets, scale, inputs.graph, progress=progress)
    return columns.beside(values, labels.column_names(output_names(inputs.targets)), LABEL)


def learn_features(
    inputs: NodeInputs, validation: Targets, options: BoostingOptions, seed: int
) -> FeatureTrees:
    """Fit trees on columns that include the labels of other nodes; no row sees its own."""
    rng = np.random.default_rng(seed)
    scale, known = TargetScale.of(inputs.targets), inputs.targets
    neighbors = NeighborColumns.of(inputs.X, options.neighbor_hops)
    labels = LabelColumns(options.label_hops, options.damping)
    given, val = with_validation(known, validation, options.validation_fraction, rng)
    trees = options.trees

    def columns_for(known: Targets) -> NodeColumns:
        some = replace(inputs, targets=known)
        return _columns(some, neighbors, labels, scale, options.progress)

    total = 2 * trees.total_rounds(known.task, known.Y.shape[1])
    with ProgressBar(total, "trees", options.progress) as bar:
        rounds: int | tuple[int, ...] = min(trees.most_rounds, _WITHOUT_VALIDATION)
        fitted = None
        if val is not None:
            columns = columns_for(given)
            fitted = _fit_on(columns, given, val, scale, trees, bar)
            rounds = fitted.rounds
        if fitted is None or not validation.labeled.any():
            columns = columns_for(known)
            fitted = _fit_on(columns, known, None, scale, replace(trees, n_rounds=rounds), bar)
    return FeatureTrees(neighbors, labels, scale, fitted, columns.names, columns.groups)


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
        columns = feature_columns(self.neighbors, inputs, False)
        steps = Steps(inputs.graph, self.correct, self.smooth, tol=1e-6)
        base = apply_link(self.grown.scores(columns.values), link)
        known = inputs.targets
        views = steps.forward(base, self.scale.inputs(known), known.labeled)
        return self.scale.back(apply_link(self.grown.weights.scores(views), link))

    def gain(self) -> np.ndarray:
        return sum_of_gains((self.grown.booster,))


def learn_end_to_end(
    inputs: NodeInputs, validation: Targets, options: BoostingOptions, seed: int
) -> GrownTrees:
    """Grow trees through Correct & Smooth: first with validation labels that choose the number of
    rounds, then on all labels unless validation nodes were given."""
    rng = np.random.default_rng(seed)
    scale, link = TargetScale.of(inputs.targets), link_of(inputs.targets.task)
    neighbors = NeighborColumns.of(inputs.X, options.neighbor_hops)
    columns = feature_columns(neighbors, inputs, options.progress)
    correct, smooth = options.correct[0], options.smooth[0]
    steps = Steps(inputs.graph, correct, smooth)
    given, val = with_validation(inputs.targets, validation, options.validation_fraction, rng)
    trees = options.trees

    def grown(known: Targets, val: Targets | None, n_rounds: int, bar: ProgressBar) -> Grown:
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
        return grow(BoostProblem(steps, *args), columns, start, trees, n_rounds, rng, bar)

    with ProgressBar(2 * trees.most_rounds, "trees through the graph", options.progress) as bar:
        n_rounds = min(trees.most_rounds, _WITHOUT_VALIDATION)
        found = None
        if val is not None:
            found = grown(given, val, trees.most_rounds, bar)
            n_rounds = found.n_rounds
        if found is None or not validation.labeled.any():
            found = grown(inputs.targets, None, n_rounds, bar)
    names, groups = columns.names, columns.groups
    return GrownTrees(neighbors, scale, found, correct, smooth, names, groups)


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
        columns = feature_columns(self.neighbors, inputs, False)
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
    columns = feature_columns(neighbors, inputs, options.progress)
    known = inputs.targets
    trees = replace(options.trees, n_rounds=_best_rounds(columns, known, validation, options, seed))
    base = TreeBase(
        known.task,
        trees,
        names=tuple(columns.names),
        categorical=tuple(columns.categorical),
        progress=options.progress,
    )
    spread: dict[str, Any] = {"n_steps": None, "norm": "row", "clamp": False}
    model = TrainableCorrectAndSmooth(
        base,
        label_trick="deterministic",
        correct=[Spread(damping, **spread) for damping in options.correct],
        smooth=[Spread(damping, **spread) for damping in options.smooth],
        task=known.task,
        calibrate=False,
        random_state=seed,
        progress=options.progress,
    )
    y = with_gaps(known, known.only(np.zeros(0, np.int64)))
    model._given_keys = known.keys
    model.fit(columns.values, y, graph=inputs.graph, sample_weight=known.weight)
    classes = np.asarray(model.classes_) if known.task == "classification" else None
    return StagedTrees(neighbors, model, columns.names, columns.groups, classes)


def _best_rounds(
    columns: NodeColumns,
    known: Targets,
    validation: Targets,
    options: BoostingOptions,
    seed: int,
) -> int | tuple[int, ...]:
    """Number of rounds with the best validation score, for the trees of all folds."""
    rng, trees = np.random.default_rng(seed), options.trees
    given, val = with_validation(known, validation, options.validation_fraction, rng)
    if val is None:
        return min(trees.most_rounds, _WITHOUT_VALIDATION)
    total = trees.total_rounds(known.task, known.Y.shape[1])
    with ProgressBar(total, "trees", options.progress) as bar:
        return _fit_on(columns, given, val, None, trees, bar).rounds


LEARN = {
    "features": learn_features,
    "two_stage": learn_two_stage,
    "end_to_end": learn_end_to_end,
}
