"""Learners fitted by folds: each labeled node has one that never saw its label.

All of a learner's members predict together; the rows that a member predicts of its own fold are
honest, and cost nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._utils.feature_tables import FeatureScale
from ..._utils.targets import Targets, TargetScale
from ...graph.graph import Graph
from ..base import draws
from ..base.folds import draw_folds
from ..base.node_inputs import NodeInputs, draw_validation
from ..boosting.node_columns import LabelColumns, output_names
from ..label_propagation.plain import tidy
from .columns import AutoColumns, ColumnRecipe, join_labels
from .graph_network import fit_graph_network, with_labels
from .learners import Network, Rows, fit_forest, fit_linear, fit_network, fit_networks, take_rows
from .nearby import fit_nearby
from .trials import LearnerSpec

_FIT: dict[str, Callable[..., Any]] = {
    "network": fit_network,
    "trees": fit_forest,
    "linear": fit_linear,
}


@dataclass(frozen=True)
class Member:
    """A learner that was fitted without one fold of the labels."""

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
    """Rows of any inputs for any learner.

    ``label_scale`` are the units of label columns, settled once for the members of all folds: a
    shift or a factor changes nothing of what they learn, for networks scale their columns and
    trees only compare. ``seed`` draws the folds.
    """

    columns: AutoColumns
    label_scale: TargetScale
    seed: int = 0
    _views: dict[int, LabelColumns] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _last: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def features(self, inputs: NodeInputs, spec: LearnerSpec) -> Any:
        """Columns without labels: an array, or `NodeColumns` for trees."""
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

    def labels(
        self, recipe: ColumnRecipe, known: Targets, graph: Graph
    ) -> tuple[np.ndarray, list[str]]:
        """What each node sees of the labels of others (NaN: nothing), with the columns' names."""
        if not recipe.label_hops:
            return np.zeros((graph.n_nodes, 0)), []
        # Kept, for self-weights cost more than all else.
        views = self._views.setdefault(recipe.label_hops, LabelColumns(recipe.label_hops, 0.9))
        values = views.values(known, self.label_scale, graph, progress=False)
        return values, views.column_names(output_names(known))

    def member_rows(
        self, member: Member, spec: LearnerSpec, inputs: NodeInputs, labels: Any
    ) -> np.ndarray:
        """Predictions of one member, in the units of ``y``."""
        features = self.features(inputs, spec)
        if spec.kind == "trees":
            X = join_labels(features, *labels).values
        else:
            X = beside(features, labels[0], member.label_scale)
        rows = member.scale.back(member.learned.predict(X))
        return tidy(rows, inputs.targets.task)

    def parts(self, learner: Learner, inputs: NodeInputs) -> list[np.ndarray]:
        """Each member's predictions of every node, none of which sees its own label."""
        if learner.spec.kind in ("graph", "nearby"):
            return self._parts_by_fold(learner, inputs)
        labels = self.labels(learner.spec.recipe, inputs.targets, inputs.graph)
        return [self.member_rows(m, learner.spec, inputs, labels) for m in learner.members]

    def _parts_by_fold(self, learner: Learner, inputs: NodeInputs) -> list[np.ndarray]:
        """Labels that pass along edges come back to where they came from. So a labeled node is
        predicted without the labels of its fold, by the member without that fold."""
        features, known = self.features(inputs, learner.spec), inputs.targets
        nodes = np.flatnonzero(known.labeled)
        fold = draw_folds(known, nodes, len(learner.members), self.seed)

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
        for k, rows_of in enumerate(predictors):
            mine = nodes[fold == k]
            without = tidy(rows_of(known.only(nodes[fold != k])), known.task)[mine]
            for rows in parts:
                rows[mine] = without
        return parts

    def rows(self, learner: Learner, inputs: NodeInputs) -> np.ndarray:
        """Their mean."""
        return np.mean(self.parts(learner, inputs), axis=0)


def beside(features: np.ndarray, labels: np.ndarray, scale: FeatureScale | None) -> np.ndarray:
    """Network rows: what a node does not see of labels is their mean."""
    if scale is None:
        return features
    seen = np.where(np.isnan(labels), 0.0, scale.apply(labels))
    return np.concatenate([features, seen.astype(np.float32)], axis=1)


def scale_of_labels(labels: np.ndarray) -> FeatureScale | None:
    """Mean 0 and spread 1 of what is seen."""
    if not labels.shape[1]:
        return None
    gaps = np.isnan(labels)
    count = np.maximum((~gaps).sum(axis=0), 1)
    center = np.where(gaps, 0.0, labels).sum(axis=0) / count
    spread = np.sqrt(np.where(gaps, 0.0, (labels - center) ** 2).sum(axis=0) / count)
    flat = spread <= 1e-6 * np.maximum(np.abs(center), 1e-6)
    return FeatureScale(center, np.where(flat, np.inf, spread))


@dataclass(frozen=True)
class MemberLabels:
    """What one member may know of the labels.

    ``given`` are the labels of the nodes ``inside``, which it learns from; ``validation_nodes`` are
    other nodes that choose when to stop, with their labels (in units of ``scale``) and weights in
    ``truth``.
    """

    given: Targets
    inside: np.ndarray
    validation_nodes: np.ndarray
    truth: tuple[np.ndarray, np.ndarray]
    scale: TargetScale
    seed: int

    def rows(self, X: Any, validation_X: Callable[[], Any]) -> Rows:
        """Rows of the nodes inside, validated on the validation nodes, if there are any."""
        validation = (validation_X(), *self.truth) if len(self.validation_nodes) else None
        Y, weight = self.scale.to(self.given.Y[self.inside]), self.given.weight[self.inside]
        return Rows(X, Y, weight, validation, self.given.task, self.seed)


@dataclass(frozen=True)
class CrossFitter:
    """Fits members on the labels of a fit.

    ``known`` are the labels to learn from, ``validation`` those that choose when to stop (else a
    tenth of the labels of a member is set aside for that); ``fold`` numbers the labeled nodes'
    folds.
    """

    maker: RowMaker
    inputs: NodeInputs
    validation: Targets
    fold: np.ndarray
    seed: int

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    def fit_member(self, spec: LearnerSpec, k: int) -> Member:
        known = self.inputs.targets
        nodes = np.flatnonzero(known.labeled)
        inside = nodes[self.fold != k] if self.n_folds > 1 else nodes
        rng = np.random.default_rng([self.seed, k, len(spec.name)])
        validation_targets, validation_nodes = (
            self.validation,
            np.flatnonzero(self.validation.labeled),
        )
        if not len(validation_nodes):
            # Validation labels are not inputs of the training: it could learn to read them. Their
            # weights do not count the labels of the fold either.
            validation_targets = known.only(inside)
            inside, validation_nodes = draw_validation(known, inside, 0.1, rng)
        # Batches are drawn row by row: in an order that does not depend on numbers of nodes.
        inside, validation_nodes = (
            draws.in_order(known, inside),
            draws.in_order(known, validation_nodes),
        )
        given = known.only(inside)
        scale = TargetScale.of(given)
        truth = (
            scale.to(validation_targets.Y[validation_nodes]),
            validation_targets.weight[validation_nodes],
        )
        labels = MemberLabels(
            given, inside, validation_nodes, truth, scale, int(rng.integers(2**31))
        )
        fit = {"graph": self._fit_graph, "nearby": self._fit_words}.get(spec.kind, self._fit_rows)
        return fit(spec, labels)

    def _fit_graph(self, spec: LearnerSpec, mine: MemberLabels) -> Member:
        features = self.maker.features(self.inputs, spec)
        validation = (mine.validation_nodes, *mine.truth) if len(mine.validation_nodes) else None
        args = (features, self.inputs.graph, mine.given, mine.scale, validation, mine.seed)
        return Member(fit_graph_network(*args, **spec.options), mine.scale, None)

    def _fit_rows(self, spec: LearnerSpec, mine: MemberLabels) -> Member:
        labels, names = self.maker.labels(spec.recipe, mine.given, self.inputs.graph)
        features = self.maker.features(self.inputs, spec)
        label_scale = None
        if spec.kind == "trees":
            every: Any = join_labels(features, labels, names)
        else:
            label_scale = scale_of_labels(labels)
            every = beside(features, labels, label_scale)

        def validation() -> np.ndarray:
            some = take_rows(every, mine.validation_nodes)
            return getattr(some, "values", some)

        rows = mine.rows(take_rows(every, mine.inside), validation)
        return Member(_FIT[spec.kind](rows, **spec.options), mine.scale, label_scale)

    def _fit_words(self, spec: LearnerSpec, mine: MemberLabels) -> Member:
        words, graph = self.maker.features(self.inputs, spec), self.inputs.graph
        rows = mine.rows(words[mine.inside], lambda: words[mine.validation_nodes])

        def networks(learns: np.ndarray) -> list[Network]:
            return fit_networks(rows, learns, **spec.options)

        nodes, validation_nodes = mine.inside, (mine.validation_nodes, mine.truth)
        learned = fit_nearby(
            networks, words, mine.given, nodes, *validation_nodes, graph, mine.seed
        )
        return Member(learned, mine.scale, None)

    def predict(self, learner: Learner) -> tuple[np.ndarray, np.ndarray]:
        """(the members' mean at every node, each labeled node by the member that did not learn
        from it)."""
        nodes = np.flatnonzero(self.inputs.targets.labeled)
        parts = self.maker.parts(learner, self.inputs)
        oof = np.zeros((len(nodes), parts[0].shape[1]))
        for k, rows in enumerate(parts):
            mine = np.flatnonzero(self.fold == k)
            oof[mine] = rows[nodes[mine]]
        return np.mean(parts, axis=0), oof
