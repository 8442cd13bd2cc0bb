"""Boosted trees: LightGBM's own SHAP values of columns, and labels that are hidden one at a time.

SHAP values add up to the margin of the trees. `Effects.through` carries them through the link.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, softmax

from ..models.base.weights import tidy
from ..models.boosting.learned import FeatureTrees
from ..models.boosting.node_columns import LABEL, NEIGHBOR, NodeColumns, output_names
from ..models.boosting.trees import Trees, threads_for
from ..self_exclusion.label_views import label_columns
from ..self_exclusion.rounding import is_small
from .effects import Effects, Source
from .found import Found, Question
from .label_rows import EVERYTHING, NOTHING, LabelRows, view_kinds
from .names import column_values
from .rows_of_propagation import batches

KINDS = {NEIGHBOR: "neighbor column", LABEL: "label column"}


def suits(model: Any) -> bool:
    learned = getattr(model, "model_", None)
    return isinstance(learned, FeatureTrees) and has_shap(learned.trees)


def has_shap(trees: Trees) -> bool:
    """Whether LightGBM has SHAP values of these trees: not of linear ones, nor of a single
    class."""
    return bool(trees.boosters) and all(
        not dict(booster.params).get("linear_tree") and "is_linear=1" not in _head(booster)
        for booster in trees.boosters
    )


def _head(booster: Any) -> str:
    return booster.model_to_string(num_iteration=1)


def margin_effects(trees: Trees, columns: NodeColumns, shown: list[list[Any]]) -> list[Effects]:
    """Effects of the columns on the margins of each row; ``shown`` are the values to show."""
    values = columns.values
    values = values.toarray() if sp.issparse(values) else np.asarray(values)
    width, parts = values.shape[1] + 1, []
    for booster in trees.boosters:
        made = booster.predict(values, pred_contrib=True, **threads_for(values))
        parts.append(np.asarray(made).reshape(len(values), -1, width))
    every = np.concatenate(parts, axis=1).transpose(0, 2, 1)  # (rows, columns + 1, margins)
    found = []
    for row, said in zip(every, shown, strict=True):
        pairs = zip(columns.names, columns.groups, said, strict=True)
        sources = [Source(KINDS.get(group, "own column"), name, value)
                   for name, group, value in pairs]  # fmt: skip
        found.append(Effects(row[-1], row.sum(axis=0), sources, row[:-1]))
    return found


def link_of_trees(trees: Trees) -> Any:
    """The function that turns margins into predictions."""

    def link(margins: np.ndarray) -> np.ndarray:
        if trees.task == "regression":
            return margins
        if trees.task == "multilabel":
            return expit(margins)
        if margins.shape[1] == 1:
            return np.concatenate([expit(-margins), expit(margins)], axis=1)
        return softmax(margins, axis=1)

    return link


def shown_values(model: Any, X: Any, nodes: np.ndarray, columns: NodeColumns) -> list[list[Any]]:
    """The values of the columns of rows; of a node's own ones as they are in its table."""
    own = columns.groups.count("own")
    found = []
    for place, node in enumerate(nodes):
        row = columns.values[[place]]
        row = row.toarray()[0] if sp.issparse(row) else np.asarray(row[0])
        values = [None if np.isnan(each) else float(each) for each in row.tolist()]
        said = column_values(model, X, int(node))
        found.append((said if len(said) == own else values[:own]) + values[own:])
    return found


def explain_trees(question: Question) -> list[Found]:
    """SHAP values of columns, and the effects of hiding labels."""
    trees: FeatureTrees = question.model.model_
    inputs = question.inputs
    features = trees.neighbors.beside_own(inputs.X, inputs.graph, False)
    kinds = trees.labels._views(inputs.graph).kinds
    found = []
    for nodes in batches(question.nodes, inputs.graph.n_nodes, max(1, view_kinds(kinds))):
        found += _TreeRows(question, trees, features.rows(nodes), nodes, kinds).explained()
    return found


class _TreeRows:
    """Rows of trees at some nodes, with any label hidden."""

    def __init__(
        self,
        question: Question,
        trees: FeatureTrees,
        features: NodeColumns,
        nodes: np.ndarray,
        kinds: Any,
    ) -> None:
        known = question.inputs.targets
        self.question, self.trees, self.features, self.nodes = question, trees, features, nodes
        at = np.flatnonzero(known.labeled)
        # In the units in which the model sums labels.
        labels = label_columns(trees.scale.to(known.Y[at]), np.ones(len(at)))
        self.labels = LabelRows.of(kinds, nodes, at, labels) if kinds else None

    def columns(self, places: np.ndarray, hidden: np.ndarray) -> NodeColumns:
        """The rows of nodes, each without the label of one other node."""
        features, trees = self.features.rows(places), self.trees
        if self.labels is None:
            return features
        known, graph = self.question.inputs.targets, self.question.inputs.graph
        small = is_small(graph.n_nodes, int(known.labeled.sum()))
        degrees = graph.degrees[self.nodes[places]]
        views = self.labels.views(places, hidden)
        values = trees.labels.of_views(views, trees.scale, small, degrees, scaled=True)
        names = trees.labels.column_names(output_names(known))
        return features.beside(values, names, LABEL)

    def rows(self, places: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """Predictions of these rows."""
        values = self.trees.trees.predict(self.columns(places, hidden).values)
        task = self.question.task
        return self.question.shown(tidy(self.trees.scale.back(values), task))

    def explained(self) -> list[Found]:
        question, places = self.question, np.arange(len(self.nodes))
        nothing, all_hidden = (np.full(len(places), k) for k in (NOTHING, EVERYTHING))
        columns = self.columns(places, nothing)
        without = self.rows(places, all_hidden)
        shown = shown_values(question.model, question.inputs.X, self.nodes, columns)
        link, found = link_of_trees(self.trees.trees), []
        for k, effects in enumerate(margin_effects(self.trees.trees, columns, shown)):
            effects = effects.through(
                lambda rows: question.shown(self.trees.scale.back(link(rows)))
            )
            found.append(Found(effects.row, without[k], effects, self._hidden(k)))
        return found

    def _hidden(self, place: int) -> list[tuple[Source, np.ndarray]]:
        """The effects of the nearest labels."""
        if self.labels is None:
            return []
        near = self.labels.nearest(place, 4 * self.question.top)
        if not len(near):
            return []
        hidden = np.concatenate([[NOTHING], near])
        rows = self.rows(np.full(len(hidden), place), hidden)
        pairs = zip(near.tolist(), rows[0] - rows[1:], strict=True)
        return [(Source("label", node), effect) for node, effect in pairs]
