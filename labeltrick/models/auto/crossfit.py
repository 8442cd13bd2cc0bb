"""Learners fitted by folds: for each labeled node, one member never saw its label.

Predictions are the mean of all members. Those of a member for its own fold are out of fold, at no
additional cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._utils.feature_tables import FeatureScale
from ..._utils.targets import Targets, TargetScale
from ...graph.graph import Graph
from ..base import draws
from ..base.folds import draw_folds
from ..base.node_inputs import NodeInputs, draw_validation
from ..base.weights import tidy
from ..boosting.node_columns import LabelColumns, NodeColumns
from .columns import AutoColumns, known_means
from .graph_network import fit_graph_network, with_labels
from .label_dropout import NO_DROPOUT, LabelDropout
from .learners import MemberLabels, Rows, fit_forest, fit_linear, fit_network
from .nearby import fit_nearby
from .trials import LearnerSpec

_FIT: dict[str, Callable[..., Any]] = {
    "network": fit_network,
    "trees": fit_forest,
    "linear": fit_linear,
}


@dataclass(frozen=True)
class Member:
    """One fit of a learner, without one fold of the labels."""

    learned: Any
    scale: TargetScale
    label_scale: FeatureScale | None


@dataclass(frozen=True)
class Learner:
    """All members of one learner."""

    spec: LearnerSpec
    members: list[Member]


@dataclass(frozen=True)
class RowMaker:
    """Builds the rows of any inputs for any learner, and predicts them.

    ``label_scale`` is the scale of label columns, shared by all folds. It cannot leak labels, as
    networks scale their columns again and trees only compare. ``seed`` draws the folds.
    """

    columns: AutoColumns
    label_scale: TargetScale
    seed: int = 0
    _views: dict[int, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _last: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def features(self, inputs: NodeInputs, spec: LearnerSpec) -> Any:
        """Feature columns: an array, or `NodeColumns` for trees."""
        make: Callable[..., Any] = {
            "trees": self.columns.tree_features,
            "graph": self.columns.graph_features,
            "nearby": self.columns.word_features,
        }.get(spec.kind, self.columns.network_features)
        key = (make.__name__, spec.recipe.n_hops)
        known = self._last.get(key)
        if known is None or known[0] is not inputs.X or known[1] is not inputs.graph:
            known = self._last[key] = (inputs.X, inputs.graph, make(inputs, spec.recipe))
        return known[2]

    def _label_columns(self, spec: LearnerSpec) -> LabelColumns:
        """Those of a learner; kept, as self-weights cost more than anything else."""
        hops = spec.recipe.label_hops
        return self._views.setdefault(hops, LabelColumns(hops, 0.9 if hops else None))

    def labels(self, spec: LearnerSpec, known: Targets, graph: Graph) -> np.ndarray:
        """Label columns, which exclude a node's own label (NaN: no label seen)."""
        if not spec.recipe.label_hops:
            return np.zeros((graph.n_nodes, 0))
        return self._label_columns(spec).values(known, self.label_scale, graph, progress=False)

    def tree_columns(self, spec: LearnerSpec, inputs: NodeInputs) -> NodeColumns:
        features, args = self.features(inputs, spec), (inputs.targets, self.label_scale)
        return self._label_columns(spec).beside(features, *args, inputs.graph, False)

    def parts(
        self, learner: Learner, inputs: NodeInputs, folds: list[np.ndarray] | None = None
    ) -> list[np.ndarray]:
        """Each member's predictions of all nodes, in the units of ``y``; no node sees its own
        label. ``folds`` are the nodes that each member has not learned from; by default, labeled
        nodes are divided as in the fit."""
        spec, members, task = learner.spec, learner.members, inputs.targets.task
        if spec.kind in ("graph", "nearby"):
            return self._parts_by_fold(learner, inputs, folds)
        if spec.kind == "trees":
            values = self.tree_columns(spec, inputs).values
            found = [member.learned.predict(values) for member in members]
        else:
            labels = self.labels(spec, inputs.targets, inputs.graph)
            features = self.features(inputs, spec)
            found = [member.learned.predict(beside(features, labels, member.label_scale))
                     for member in members]  # fmt: skip
        pairs = zip(members, found, strict=True)
        return [tidy(member.scale.back(rows), task) for member, rows in pairs]

    def _parts_by_fold(
        self, learner: Learner, inputs: NodeInputs, folds: list[np.ndarray] | None
    ) -> list[np.ndarray]:
        """The same for learners that pass labels along edges, where a label returns to its node.
        There a labeled node is predicted without the labels of its fold, by that fold's member."""
        features, known = self.features(inputs, learner.spec), inputs.targets
        if folds is None:
            nodes = np.flatnonzero(known.labeled)
            fold = draw_folds(known, nodes, len(learner.members), self.seed)
            folds = [nodes[fold == k] for k in range(len(learner.members))]

        def predictor(member: Member) -> Callable[[Targets], np.ndarray]:
            if learner.spec.kind == "nearby":
                said = member.learned.network.predict(features)
                return lambda given: member.learned.weigh(said, given, inputs.graph)

            def rows_of(given: Targets) -> np.ndarray:
                X = with_labels(features, given, member.scale)
                return member.scale.back(member.learned.predict(X, inputs.graph))

            return rows_of

        predictors = [predictor(member) for member in learner.members]
        parts = [tidy(rows_of(known), known.task) for rows_of in predictors]
        for mine, rows_of in zip(folds, predictors, strict=True):
            others = np.setdiff1d(np.flatnonzero(known.labeled), mine)
            without = tidy(rows_of(known.only(others)), known.task)[mine]
            for rows in parts:
                rows[mine] = without
        return parts

    def rows(self, learner: Learner, inputs: NodeInputs) -> np.ndarray:
        """The mean of the members' predictions."""
        return np.mean(self.parts(learner, inputs), axis=0)


def beside(features: np.ndarray, labels: np.ndarray, scale: FeatureScale | None) -> np.ndarray:
    """Rows of a network: scaled label columns beside the features, with the mean where no label is
    seen."""
    if scale is None:
        return features
    seen = np.where(np.isnan(labels), 0.0, scale.apply(labels))
    return np.concatenate([features, seen.astype(np.float32)], axis=1)


def scale_of_labels(labels: np.ndarray) -> FeatureScale | None:
    """Scale to mean 0 and standard deviation 1 of the labels that are seen."""
    if not labels.shape[1]:
        return None
    center = known_means(labels)
    spread = np.sqrt(known_means((labels - center) ** 2))
    flat = spread <= 1e-6 * np.maximum(np.abs(center), 1e-6)
    return FeatureScale(center, np.where(flat, np.inf, spread))


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

    def fit_member(self, spec: LearnerSpec, k: int) -> Member:
        known = self.inputs.targets
        nodes = np.flatnonzero(known.labeled)
        inside = nodes[self.fold != k] if self.n_folds > 1 else nodes
        rng = np.random.default_rng([self.seed, k, len(spec.name)])
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
        fit = {"graph": self._fit_graph, "nearby": self._fit_words}.get(spec.kind, self._fit_rows)
        return fit(spec, labels)

    def _fit_graph(self, spec: LearnerSpec, mine: MemberLabels) -> Member:
        features = self.maker.features(self.inputs, spec)
        network = fit_graph_network(features, self.inputs.graph, mine, self.dropout, **spec.options)
        return Member(network, mine.scale, None)

    def _fit_rows(self, spec: LearnerSpec, mine: MemberLabels) -> Member:
        label_scale, rows = None, []
        # Without labels as inputs, one copy of the rows is all there is.
        views = self.dropout.views(mine.given, mine.seed) if spec.recipe.label_hops else []
        for given in views or [mine.given]:
            if spec.kind == "trees":
                columns = self.maker.tree_columns(spec, replace(self.inputs, targets=given))
                rows.append(mine.rows(columns.rows(mine.inside), columns.values))
                continue
            labels = self.maker.labels(spec, given, self.inputs.graph)
            label_scale = label_scale or scale_of_labels(labels)
            every = beside(self.maker.features(self.inputs, spec), labels, label_scale)
            rows.append(mine.rows(every[mine.inside], every))
        learned = _FIT[spec.kind](Rows.joined(rows), **spec.options)
        return Member(learned, mine.scale, label_scale)

    def _fit_words(self, spec: LearnerSpec, mine: MemberLabels) -> Member:
        words = self.maker.features(self.inputs, spec)
        learned = fit_nearby(words, self.inputs.graph, mine, spec.options, self.dropout)
        return Member(learned, mine.scale, None)

    def predict(self, learner: Learner) -> tuple[np.ndarray, np.ndarray]:
        """(mean of the members at all nodes, out-of-fold predictions of the labeled nodes), from
        the labels that dropout leaves."""
        known = self.inputs.targets
        nodes = np.flatnonzero(known.labeled)
        folds = [nodes[self.fold == k] for k in range(len(learner.members))]
        inputs = replace(self.inputs, targets=self.dropout.shown(known))
        parts = self.maker.parts(learner, inputs, folds)
        oof = np.zeros((len(nodes), parts[0].shape[1]))
        for k, rows in enumerate(parts):
            mine = np.flatnonzero(self.fold == k)
            oof[mine] = rows[nodes[mine]]
        return np.mean(parts, axis=0), oof
