"""Columns from nearby nodes: their labels where known, else a network's predictions from their own
words. This is Correct & Smooth in columns, with learned weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._utils.extras import is_installed
from ...._utils.targets import Targets
from ....graph.graph import Graph
from ....propagation.polynomials import Power
from ...base.folds import draw_folds
from ...base.node_inputs import NodeInputs
from ..label_dropout import NO_DROPOUT, LabelDropout
from .by_fold import FoldLearner
from .linear import Linear, fit_linear
from .network import SPEED, Network, fit_networks
from .protocol import STEP_SECONDS, Learner, Member, Problem, Sizes
from .rows import MemberLabels, Rows

if TYPE_CHECKING:
    from ..columns import AutoColumns
    from ..crossfit import RowMaker

OPTIONS = {"n_layers": 3, "dropout": 0.5, "hidden": 128, "words_dropout": 0.3, "patience": 4}
_EPOCHS = 25  # of an estimate of the cost
_N_STEPS = 2
_LEAST = 1e-4  # smallest probability whose logarithm is taken
_SIZE = 3.0  # factor of means relative to logarithms, which share a penalty
_PENALTIES = (0.5, 2.0)


@dataclass(frozen=True)
class WordsNearbyLearner(FoldLearner):
    """A network on a node's own words beside labels and predictions of nearby nodes.

    If columns are words, predictions from the words of nearby nodes replace the means of their
    words, which cost more and are less informative.
    """

    def suits(self, problem: Problem) -> bool:
        return is_installed("torch") and problem.has_edges and problem.has_words

    def prepared(self, problem: Problem) -> Learner:
        return replace(self, recipe=problem.recipe(0, 0), options={**OPTIONS, **self.options})

    def cost(self, sizes: Sizes, n_folds: int) -> float:
        """See `Learner.cost`. A step of three networks costs in proportion to all weights."""
        hidden, rows = self.options["hidden"], sizes.n_labeled
        n_steps = 20 if rows < 20_000 else rows // 1024
        step = 3 * sizes.n_table * hidden * 5e-9 + 2 * STEP_SECONDS
        flops = 3 * rows * 6 * hidden * (hidden + sizes.n_dense)
        return n_folds * _EPOCHS * (n_steps * step + flops / SPEED)

    def features(self, columns: AutoColumns, inputs: NodeInputs) -> Any:
        return columns.word_features(inputs, self.recipe)

    def fit(
        self, maker: RowMaker, inputs: NodeInputs, mine: MemberLabels, dropout: LabelDropout
    ) -> Member:
        words = maker.features(inputs, self)
        learned = fit_nearby(words, inputs.graph, mine, self.options, dropout)
        return Member(learned, mine.scale, None)

    def predictor(
        self, member: Member, features: Any, inputs: NodeInputs
    ) -> Callable[[Targets], np.ndarray]:
        said = member.learned.network.predict(features)
        return lambda given: member.learned.weigh(said, given, inputs.graph)


@dataclass(frozen=True)
class NearbyWords:
    """A network on a node's own words, and weights of its predictions there and nearby.

    ``weights`` is None if labels are too few; then the network's predictions are used directly.
    """

    network: Network
    weights: Linear | None

    def weigh(self, said: np.ndarray, known: Targets, graph: Graph) -> np.ndarray:
        """Predictions of all nodes from the network's predictions ``said``. A node labeled in
        ``known`` gets its own label back in two steps, so omit the labels of nodes to predict."""
        if self.weights is None:
            return said
        return self.weights.predict(nearby_columns(said, known, graph))


def nearby_columns(said: np.ndarray, known: Targets, graph: Graph) -> np.ndarray:
    """[log of a node's predictions ``said``, the means of labels or predictions one and two steps
    away]; log odds for multilabel targets."""
    there = np.where(known.labeled[:, None], known.Y, said)
    step = Power(graph, 1, norm="row")
    own = np.log(np.maximum(said, _LEAST))
    if known.task == "multilabel":
        own -= np.log(np.maximum(1 - said, _LEAST))
    columns = [own]
    for _ in range(_N_STEPS):
        there = step.apply(there, progress=False)
        columns.append(_SIZE * there)
    return np.concatenate(columns, axis=1)


def fit_nearby(
    words: Any,
    graph: Graph,
    mine: MemberLabels,
    options: dict[str, Any],
    dropout: LabelDropout = NO_DROPOUT,
) -> NearbyWords:
    """Fit the network (with ``options`` of `fit_networks`) and the weights.

    The rows of each half of the labeled nodes are made like those of unlabeled nodes, from a
    network and labels of the other half. Otherwise the weights would trust the network too much.
    """
    known, nodes = mine.given, mine.inside
    own = mine.rows(words[nodes], words)
    everyone = np.ones(len(nodes), bool)
    if len(nodes) < 4:
        return NearbyWords(fit_networks(own, everyone[None], **options)[0], None)
    first = draw_folds(known, nodes, 2, mine.seed) == 0
    learns = np.stack([everyone, first, ~first])
    final, *of_halves = fit_networks(own, learns, **options)
    said = [network.predict(words) for network in of_halves]
    parts = []
    for k in range(dropout.n_views):
        rows = np.zeros((len(nodes), (_N_STEPS + 1) * known.Y.shape[1]))
        for mine_said, other_said, seen in zip(said, said[::-1], (first, ~first), strict=True):
            given = dropout.views(known.only(nodes[seen]), mine.seed)[k]
            if dropout.share:
                # Nodes without a label count by what a network says that has not learned from
                # them, as it would on another graph.
                mine_said = mine_said.copy()
                mine_said[nodes[seen]] = other_said[nodes[seen]]
            rows[~seen] = nearby_columns(mine_said, given, graph)[nodes[~seen]]
        every = rows
        if own.validation:
            every = nearby_columns(final.predict(words), dropout.views(known, mine.seed)[k], graph)
        parts.append(mine.rows(rows, every))
    return NearbyWords(final, fit_linear(Rows.joined(parts), penalties=_PENALTIES))
