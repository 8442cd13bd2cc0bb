"""What a fit of `GraphBoosting` leaves, mode by mode: predictions of all nodes from any labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..._utils.progress import Progress, ProgressBar
from ..._utils.targets import Targets, TargetScale
from ..base.node_inputs import NodeInputs, draw_validation
from ..base.tables import Table
from ..base.weights import apply_link, link_of
from ..correct_smooth import Spread, TrainableCorrectAndSmooth
from ..correct_smooth.base import with_gaps
from .node_columns import (
    LABEL,
    NEIGHBOR,
    OWN,
    LabelColumns,
    NeighborColumns,
    NodeColumns,
    output_names,
)
from .rounds import BoostProblem, Grown, Steps, grow
from .tree_base import TreeBase
from .trees import TreeOptions, Trees, fit_trees, sum_of_gains

STEP_PAIRS = ((0.5, 0.1), (0.8, 0.1), (0.8, 0.3), (0.95, 0.3), (0.5, 0.5), (0.95, 0.7))
_WITHOUT_VALIDATION = 100  # rounds where labels are too few to tell how many


@dataclass(frozen=True)
class BoostingOptions:
    """Parameters of the estimator, checked."""

    trees: TreeOptions
    neighbor_hops: int
    label_hops: int
    damping: float | None
    correct: tuple[float, ...]
    smooth: tuple[float, ...]
    split_rate: float
    validation_fraction: float
    progress: Progress


class LearnedTrees(Protocol):
    """``rows(inputs)``: predictions in the units of ``y``. ``column_gains()``: (names, groups,
    gain of each column)."""

    n_rounds: int

    def rows(self, inputs: NodeInputs) -> np.ndarray: ...

    def column_gains(self) -> tuple[list[str], list[str], np.ndarray]: ...


def with_validation(
    inputs: NodeInputs, validation: Targets, validation_fraction: float, rng: np.random.Generator
) -> tuple[Targets, Targets | None]:
    """(labels to learn from, labels that tell the number of rounds): validation, else drawn."""
    known = inputs.targets
    if validation.labeled.any():
        return known, validation
    kept, drawn = draw_validation(known, np.flatnonzero(known.labeled), validation_fraction, rng)
    if not len(drawn):
        return known, None
    return known.only(kept), known.only(drawn)


def feature_columns(
    table: Table, neighbors: NeighborColumns, inputs: NodeInputs, progress: Progress
) -> NodeColumns:
    """A node's own columns, and means over its neighbors."""
    found = NodeColumns(table.values, table.names, [OWN] * len(table.names), table.categorical)
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

    def column_gains(self) -> tuple[list[str], list[str], np.ndarray]:
        return self.names, self.groups, self.trees.gain()


def _columns(
    inputs: NodeInputs,
    neighbors: NeighborColumns,
    labels: LabelColumns,
    scale: TargetScale,
    progress: Progress,
) -> NodeColumns:
    columns = feature_columns(inputs.X, neighbors, inputs, progress)
    if not labels.n_hops and labels.damping is None:
        return columns
    values = labels.values(inputs.targets, scale, inputs.graph, progress=progress)
    return columns.beside(values, labels.column_names(output_names(inputs.targets)), LABEL)


def learn_features(
    inputs: NodeInputs, validation: Targets, options: BoostingOptions, seed: int
) -> FeatureTrees:
    """Labels that others have, by hop, as columns: no row knows its own."""
    rng = np.random.default_rng(seed)
    scale, task = TargetScale.of(inputs.targets), inputs.targets.task
    neighbors = NeighborColumns.of(inputs.X, options.neighbor_hops)
    labels = LabelColumns(options.label_hops, options.damping)
    given, val = with_validation(inputs, validation, options.validation_fraction, rng)
    trees = options.trees
    n_boosters = 1 if task == "classification" else inputs.targets.Y.shape[1]

    def rows_of(known: Targets) -> tuple[NodeColumns, NodeColumns, np.ndarray, np.ndarray]:
        every = _columns(replace(inputs, targets=known), neighbors, labels, scale, options.progress)
        nodes = np.flatnonzero(known.labeled)
        some = replace(every, values=every.values[nodes])
        return every, some, scale.to(known.Y[nodes]), known.weight[nodes]

    with ProgressBar(2 * trees.most_rounds * n_boosters, "trees", options.progress) as bar:
        rounds: int | tuple[int, ...] = min(trees.most_rounds, _WITHOUT_VALIDATION)
        fitted = None
        if val is not None:
            every, some, Y, weight = rows_of(given)
            at = np.flatnonzero(val.labeled)
            truth = every.values[at], scale.to(val.Y[at]), val.weight[at]
            fitted = fit_trees(some, Y, weight, truth, task, trees, bar)
            rounds = fitted.rounds
        if fitted is None or not validation.labeled.any():
            every, some, Y, weight = rows_of(inputs.targets)
            whole = replace(trees, n_rounds=rounds)
            fitted = fit_trees(some, Y, weight, None, task, whole, bar)
    return FeatureTrees(neighbors, labels, scale, fitted, every.names, every.groups)


# -- end to end --------------------------------------------------------------------------------
@dataclass(frozen=True)
class GrownTrees:
    """Trees grown through Correct & Smooth, and its weights."""

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
        columns = feature_columns(inputs.X, self.neighbors, inputs, False)
        steps = Steps(inputs.graph, self.correct, self.smooth, tol=1e-6)
        base = apply_link(self.grown.scores(columns.values), link)
        known = inputs.targets
        views = steps.forward(base, self.scale.inputs(known), known.labeled)
        return self.scale.back(apply_link(self.grown.weights.scores(views), link))

    def column_gains(self) -> tuple[list[str], list[str], np.ndarray]:
        return self.names, self.groups, sum_of_gains((self.grown.booster,))


def learn_end_to_end(
    inputs: NodeInputs, validation: Targets, options: BoostingOptions, seed: int
) -> GrownTrees:
    """Trees that are grown through the propagation; by validation labels, then on all of them."""
    rng = np.random.default_rng(seed)
    scale, link = TargetScale.of(inputs.targets), link_of(inputs.targets.task)
    neighbors = NeighborColumns.of(inputs.X, options.neighbor_hops)
    columns = feature_columns(inputs.X, neighbors, inputs, options.progress)
    correct, smooth = options.correct[0], options.smooth[0]
    steps = Steps(inputs.graph, correct, smooth)
    given, val = with_validation(inputs, validation, options.validation_fraction, rng)
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

    ``classes``: numbers of the classes that were there to learn from; others may be known.
    """

    neighbors: NeighborColumns
    model: Any
    names: list[str]
    groups: list[str]
    classes: np.ndarray | None

    @property
    def _trees(self) -> Trees | None:
        """None where there was a single class to learn."""
        return getattr(self.model.model_.base.model, "trees_", None)

    @property
    def n_rounds(self) -> int:
        return 0 if self._trees is None else self._trees.n_rounds

    def rows(self, inputs: NodeInputs) -> np.ndarray:
        columns = feature_columns(inputs.X, self.neighbors, inputs, False)
        known = inputs.targets
        if self.classes is None or len(self.classes) == known.Y.shape[1]:
            return self.model.model_.rows(replace(inputs, X=columns.values))
        some = known.only(np.flatnonzero(known.Y[:, self.classes].any(axis=1)))
        assert known.classes is not None
        names = known.classes[self.classes]
        some = replace(some, Y=some.Y[:, self.classes], classes=names)
        rows = np.zeros_like(known.Y)
        rows[:, self.classes] = self.model.model_.rows(
            replace(inputs, targets=some, X=columns.values)
        )
        return rows

    def column_gains(self) -> tuple[list[str], list[str], np.ndarray]:
        gain = np.zeros(len(self.names)) if self._trees is None else self._trees.gain()
        return self.names, self.groups, gain


def learn_two_stage(
    inputs: NodeInputs, validation: Targets, options: BoostingOptions, seed: int
) -> StagedTrees:
    """Trees first; then weights of Correct & Smooth, on rows made by trees that were grown
    without a fold's labels."""
    neighbors = NeighborColumns.of(inputs.X, options.neighbor_hops)
    columns = feature_columns(inputs.X, neighbors, inputs, options.progress)
    known = inputs.targets
    trees = replace(
        options.trees, n_rounds=_best_rounds(columns, inputs, validation, options, seed)
    )
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
    inputs: NodeInputs,
    validation: Targets,
    options: BoostingOptions,
    seed: int,
) -> int | tuple[int, ...]:
    """Rounds that suit the validation nodes; once for the trees of all folds."""
    given, val = with_validation(
        inputs, validation, options.validation_fraction, np.random.default_rng(seed)
    )
    if val is None:
        return min(options.trees.most_rounds, _WITHOUT_VALIDATION)
    nodes, at = np.flatnonzero(given.labeled), np.flatnonzero(val.labeled)
    some = replace(columns, values=columns.values[nodes])
    truth = columns.values[at], val.Y[at], val.weight[at]
    n_boosters = 1 if given.task == "classification" else given.Y.shape[1]
    with ProgressBar(options.trees.most_rounds * n_boosters, "trees", options.progress) as bar:
        args = (some, given.Y[nodes], given.weight[nodes], truth, given.task, options.trees, bar)
        return fit_trees(*args).rounds


LEARN = {
    "features": learn_features,
    "two_stage": learn_two_stage,
    "end_to_end": learn_end_to_end,
}
