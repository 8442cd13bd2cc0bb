"""Boosted trees on rows with missing values and categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._utils.progress import ProgressBar
from ...base.node_inputs import NodeInputs
from ...boosting.node_columns import NodeColumns
from ...boosting.trees import TreeOptions, Trees, fit_trees
from ..some_rows import SomeNodeColumns, TreeRows
from .protocol import Learner, Member, Problem, Sizes
from .row_wise import RowLearner, spread_seconds
from .rows import Rows

if TYPE_CHECKING:
    from ..columns import AutoColumns
    from ..crossfit import RowMaker

_WITHOUT_VALIDATION = 100  # rounds where labels are very few
_SPEED, _ROUNDS = 1.5e9, 200  # values per second of a typical core
# Shortened trees: fewer and larger steps, each on some rows.
_FEWEST_ROUNDS, _SHORT_ROUNDS, _FASTEST, _FEWEST_ROWS = 60, 300, 2.5, 20_000


@dataclass(frozen=True)
class TreesLearner(RowLearner):
    """Boosted trees on the columns of the table, its neighbors' means and nearby labels."""

    def prepared(self, problem: Problem) -> Learner:
        return replace(self, recipe=problem.recipe(2, 2))

    def cost(self, sizes: Sizes, n_folds: int) -> float:
        rows, _ = self.size_of_rows(sizes)
        hops, labels = self.recipe.n_feature_blocks, self.recipe.n_label_columns(sizes.n_outputs)
        own = sizes.n_own_for_trees if hops else 0
        width = own + max(0, hops - 1) * sizes.n_for_trees + labels
        boosters = 1 if sizes.n_outputs == 2 else sizes.n_outputs
        rounds = min(self.options.get("n_rounds", _ROUNDS), _ROUNDS)
        learned = rows * (n_folds - 1) / n_folds if n_folds > 1 else rows
        fits = 0.2 + learned * width * boosters * rounds / _SPEED
        return spread_seconds(self.recipe, sizes) + n_folds * fits

    def shortened(self, share: float) -> Learner:
        """See `Learner.shortened`. With many classes, a round grows many trees."""
        return replace(self, options={**self.options, "share": share})

    def features(self, columns: AutoColumns, inputs: NodeInputs) -> NodeColumns | SomeNodeColumns:
        return columns.tree_features(inputs, self.recipe)

    def columns_of(self, maker: RowMaker, inputs: NodeInputs) -> NodeColumns | SomeNodeColumns:
        return maker.columns_with_labels(self, inputs)

    def label_scale_of(self, columns: Any) -> None:
        return None

    def rows_of(self, columns: NodeColumns | SomeNodeColumns, scale: Any) -> Any:
        return columns.values if isinstance(columns, NodeColumns) else TreeRows(columns)

    def training_rows(self, columns: Any, rows: Any, nodes: np.ndarray) -> NodeColumns:
        return columns.rows(nodes)

    def fit_rows(self, rows: Rows) -> Trees:
        return fit_forest(rows, **self.options)

    def importances(
        self, maker: RowMaker, members: list[Member], inputs: NodeInputs
    ) -> list[tuple[str, str, float]]:
        gain = np.sum([member.learned.gain() for member in members], axis=0)
        columns = self.columns_of(maker, inputs)
        shares = (gain / (gain.sum() or 1.0)).tolist()
        found = zip(columns.names, columns.groups, shares, strict=True)
        return sorted(found, key=lambda entry: -entry[2])


@dataclass(frozen=True)
class OwnColumnsLearner(TreesLearner):
    """Trees on a node's own columns alone: a baseline without edges and labels."""

    baseline: bool = True

    def suits(self, problem: Problem) -> bool:
        return problem.has_features

    def prepared(self, problem: Problem) -> Learner:
        return replace(self, recipe=problem.recipe(0, 0))


def fit_forest(
    rows: Rows, *, n_rounds: int = 1000, learning_rate: float = 0.08, share: float = 1.0
) -> Trees:
    """Boosted trees in about a ``share`` of the usual time."""
    columns: NodeColumns = rows.X
    if rows.validation is None:
        n_rounds = min(n_rounds, _WITHOUT_VALIDATION)
    patience = 15
    # Coarse bins and fewer columns are several times as fast, and as good in a blend.
    extra = [("feature_fraction", 0.8 if len(columns.names) < 60 else 0.4), ("max_bin", 63)]
    if share < 1:
        n_rounds = min(n_rounds, max(_FEWEST_ROUNDS, round(share * _SHORT_ROUNDS)))
        learning_rate *= min(share**-0.5, _FASTEST)
        patience = 8
        part = max(share, _FEWEST_ROWS / len(rows.Y))
        if part < 1:
            extra += [("bagging_freq", 1), ("bagging_fraction", part)]
    options = TreeOptions(
        n_rounds=n_rounds,
        learning_rate=learning_rate,
        max_leaves=15,
        patience=patience,
        seed=rows.seed,
        extra=tuple(extra),
    )
    with ProgressBar(1, "trees", False) as bar:
        return fit_trees(columns, rows.Y, rows.weight, rows.validation, rows.task, options, bar)
