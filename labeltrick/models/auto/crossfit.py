"""Learners fitted by folds: for each labeled node, one member never saw its label.

Predictions are the mean of all members. Those of a member for its own fold are out of fold, at no
additional cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.targets import Targets, TargetScale
from ...graph.graph import Graph
from ..base import draws
from ..base.node_inputs import NodeInputs, draw_validation
from ..boosting.node_columns import LABEL, LabelColumns, NodeColumns, output_names
from .choosing import choosing_nodes
from .columns import AutoColumns
from .kept_labels import KeptLabels
from .label_dropout import NO_DROPOUT, LabelDropout
from .learners.protocol import Learner, Member
from .learners.rows import MemberLabels
from .some_rows import RowsOfSome, SomeNodeColumns

# Numbers of feature columns that are computed together for predictions.
_MOST_NUMBERS = 400_000_000


@dataclass(frozen=True)
class FittedLearner:
    """All members of one learner."""

    learner: Learner
    members: list[Member]

    @property
    def name(self) -> str:
        return self.learner.name

    @property
    def n_folds(self) -> int:
        return sum(not member.whole for member in self.members)


@dataclass(frozen=True)
class RowMaker:
    """Builds the rows of any inputs for any learner, and predicts them.

    ``label_scale`` is the scale in which label columns are computed, shared by all folds. The
    columns are in the units of the labels: trees treat zero apart, and a scale of all labels would
    move it. ``seed`` draws the folds.
    """

    columns: AutoColumns
    label_scale: TargetScale
    seed: int = 0
    label_hops: int = 0  # the most that a learner takes
    _columns: LabelColumns = field(init=False, repr=False, compare=False)
    _last: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _labels: KeptLabels = field(default_factory=KeptLabels, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # One object for all learners: self-weights cost more than anything else.
        columns = LabelColumns(self.label_hops, 0.9 if self.label_hops else None)
        object.__setattr__(self, "_columns", columns)

    def self_weights(self, graph: Graph) -> list[Any]:
        """The self-weights that are known, for `take`."""
        return self._columns.self_weights(graph)

    def take(self, graph: Graph, weights: list[Any], labels: Path) -> None:
        """Use self-weights that were computed elsewhere, and keep label columns in a folder."""
        self._columns.take(graph, weights)
        self._labels.folder = labels

    def features(self, inputs: NodeInputs, learner: Learner) -> Any:
        """Feature columns in the form that a learner takes; kept for the last inputs."""
        key = (type(learner).features.__qualname__, learner.recipe.n_hops)
        known = self._last.get(key)
        if known is None or known[0] is not inputs.X or known[1] is not inputs.graph:
            made = learner.features(self.columns, inputs)
            known = self._last[key] = (inputs.X, inputs.graph, made)
        return known[2]

    def blocks(self, inputs: NodeInputs) -> list[np.ndarray] | None:
        """The nodes whose rows are made together, if those of all would take much memory."""
        n_numbers, nodes = self.columns.n_numbers(inputs.graph), np.arange(inputs.graph.n_nodes)
        if n_numbers <= _MOST_NUMBERS:
            return None
        return np.array_split(nodes, min(len(nodes), -(-n_numbers // _MOST_NUMBERS)))

    def keep_only(self, inputs: NodeInputs, nodes: np.ndarray) -> None:
        """Compute the feature columns of these nodes only, until `forget`. Label columns, which
        take longer and less memory, are computed once for all nodes."""
        self.columns.forget()
        self._last.clear()
        self.columns.keep_only(inputs.X, inputs.graph, nodes)
        self._labels.of_all = True

    def forget(self) -> None:
        """Compute the rows of all nodes again."""
        self.columns.forget()
        self._last.clear()
        self._labels.clear()
        self._labels.of_all = False

    def labels(self, learner: Learner, known: Targets, graph: Graph) -> np.ndarray | RowsOfSome:
        """Label columns, which exclude a node's own label (NaN: no label seen)."""
        hops, n_outputs = learner.recipe.label_hops, known.Y.shape[1]
        if not hops:
            return np.zeros((graph.n_nodes, 0))
        nodes = None if self._labels.of_all else self.columns.only(graph)
        every = self._labels.get(
            known,
            graph,
            lambda: self._columns.values(
                known, self.label_scale, graph, nodes, scaled=False, progress=False
            ),
        )
        places = self._columns.places(hops, n_outputs)
        if nodes is not None:
            return RowsOfSome.of(every, nodes, graph.n_nodes).columns(places)
        if self._labels.of_all:  # no copy of so many
            return RowsOfSome(every, np.arange(graph.n_nodes), places)
        return every[:, places]

    def columns_with_labels(
        self, learner: Learner, inputs: NodeInputs
    ) -> NodeColumns | SomeNodeColumns:
        """Named feature columns beside label columns, both with missing values."""
        features, hops = self.features(inputs, learner), learner.recipe.label_hops
        if not hops:
            return features
        known = inputs.targets
        names = LabelColumns(hops, self._columns.damping).column_names(output_names(known))
        return features.beside(self.labels(learner, known, inputs.graph), names, LABEL)

    def parts(
        self,
        fitted: FittedLearner,
        inputs: NodeInputs,
        folds: list[np.ndarray] | None = None,
        nodes: np.ndarray | None = None,
    ) -> list[np.ndarray]:
        """Each member's predictions of all nodes or of some; see `Learner.predict`."""
        if nodes is None:
            return fitted.learner.predict(self, fitted.members, inputs, folds)
        return fitted.learner.predict_at(self, fitted.members, inputs, folds, nodes)

    def rows(
        self, fitted: FittedLearner, inputs: NodeInputs, folds: list[np.ndarray] | None = None
    ) -> np.ndarray:
        """The mean of the members' predictions."""
        return np.mean(self.parts(fitted, inputs, folds), axis=0)


@dataclass(frozen=True)
class CrossFitter:
    """Fits the members of learners.

    ``validation`` are the labels for early stopping; without any, a tenth of a member's labels is
    used. ``fold`` is the fold of each labeled node. ``dropout`` hides labels from the inputs.
    """

    maker: RowMaker
    inputs: NodeInputs
    validation: Targets
    fold: np.ndarray
    seed: int
    dropout: LabelDropout = NO_DROPOUT

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    @property
    def nodes(self) -> np.ndarray:
        """The nodes that choose: labeled ones and validation nodes, in ascending order."""
        return choosing_nodes(self.inputs.targets, self.validation)

    def without(self, k: int) -> CrossFitter:
        """A fitter of all folds but one, which are numbered from zero again."""
        known, fold = self.inputs.targets, self.fold
        others = known.only(np.flatnonzero(known.labeled)[fold != k])
        left = fold[fold != k]
        return replace(self, inputs=replace(self.inputs, targets=others), fold=left - (left > k))

    def fit_member(self, learner: Learner, k: int) -> Member:
        """The member without fold ``k``, or with all labels if there is no such fold."""
        if k == self.n_folds:
            return replace(self._fit(learner.for_all_labels(), k), whole=True)
        return self._fit(learner, k)

    def _fit(self, learner: Learner, k: int) -> Member:
        known = self.inputs.targets
        nodes = np.flatnonzero(known.labeled)
        inside = nodes[self.fold != k] if self.n_folds > 1 else nodes
        # All learners of a fold get the same labels, so that they share columns.
        rng = np.random.default_rng([self.seed, k])
        validation, at = self.validation, np.flatnonzero(self.validation.labeled)
        if not len(at):
            # Validation labels are not inputs in training, which could learn to copy them. Their
            # weights do not count the labels of the fold either.
            validation = known.only(inside)
            inside, at = draw_validation(known, inside, 0.1, rng)
        # Batches are drawn by row: the order must not depend on node numbers.
        inside, at = draws.in_order(known, inside), draws.in_order(known, at)
        given = known.only(inside)
        scale = TargetScale.of(given)
        truth = scale.to(validation.Y[at]), validation.weight[at]
        labels = MemberLabels(given, inside, at, truth, scale, int(rng.integers(2**31)))
        return learner.fit(self.maker, self.inputs, labels, self.dropout)

    def prepare(self, learners: list[Learner]) -> None:
        """Compute what all fits share, above all the self-weights of the labeled nodes, so that the
        first fit is not the one that takes longest."""
        most = max(learners, key=lambda each: each.recipe.label_hops)
        shown = self.dropout.shown(self.inputs.targets)
        self.maker.labels(most, shown, self.inputs.graph)

    def look(self, fitted: FittedLearner, nodes: np.ndarray) -> np.ndarray:
        """Predictions of ``nodes`` by the first member, which has not seen the labels of the first
        fold."""
        known = self.inputs.targets
        first = np.flatnonzero(known.labeled)[self.fold == 0]
        inputs = replace(self.inputs, targets=self.dropout.shown(known))
        one = FittedLearner(fitted.learner, fitted.members[:1])
        return self.maker.parts(one, inputs, [first], nodes)[0]

    def predict(self, fitted: FittedLearner) -> tuple[np.ndarray, np.ndarray]:
        """(mean of the members at the nodes that choose, out-of-fold predictions of the labeled
        nodes), from the labels that dropout leaves."""
        known = self.inputs.targets
        nodes = np.flatnonzero(known.labeled)
        folds = [nodes[self.fold == k] for k in range(fitted.n_folds)]
        inputs = replace(self.inputs, targets=self.dropout.shown(known))
        parts = self.maker.parts(fitted, inputs, folds, self.nodes)
        place = np.searchsorted(self.nodes, nodes)
        oof = np.zeros((len(nodes), parts[0].shape[1]))
        for k, rows in enumerate(parts):
            mine = np.flatnonzero(self.fold == k)
            oof[mine] = rows[place[mine]]
        return np.mean(parts, axis=0), oof
