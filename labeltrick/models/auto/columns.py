"""Feature columns of the learners of `AutoModel`: a node's own and means of its neighbors.

A table becomes a dense *signal*: numbers with missing values filled and flagged, indicators of
categories, or components if there are many columns. Its means 1, 2, … steps away are further
columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.feature_tables import FeatureScale, SparseTable, scaled_sparse, settle_scale
from ...graph.graph import Graph
from ...propagation.hops import Hops
from ...propagation.polynomials import Power
from ..base.node_inputs import NodeInputs
from ..base.tables import Table
from ..boosting.node_columns import NEIGHBOR, NodeColumns, neighbor_names
from .some_rows import FARTHEST, RowsOfSome, ScaledRows, SomeNodeColumns, all_values

_WIDE = 300  # with more columns, trees get components of the neighbors' means
_FOR_TREES = 48  # number of these components
_TOO_WIDE = 1000  # with more columns, trees and networks get components of a node's own columns
_N_COMPONENTS = 512  # number of these components
_MOST_LEVELS = 12  # levels per category that get a column
# Up to so many, sums over neighbors are of doubles: training makes 1e-3 of the rounding of floats,
# which depends on how the nodes are numbered.
_FEW_NUMBERS = 10_000_000
_MANY_NUMBERS = 100_000_000  # with more, rows are made when they are needed
_N_OTHERS = 100_000  # nodes whose rows are computed in such a fit, beside those that are needed


@dataclass(frozen=True)
class Signal:
    """How a table becomes dense numbers; chosen once, for any rows of the same columns.

    ``idf`` weights words by their rarity. ``components`` projects very many columns, ``for_trees``
    many columns for trees. ``center`` fills missing values; ``flags`` are the positions of columns
    with missing values; ``shares`` are pairs (position, level) of categories.
    """

    numeric: np.ndarray
    center: np.ndarray
    flags: np.ndarray
    shares: tuple[tuple[int, int], ...]
    idf: np.ndarray | None
    components: np.ndarray | None
    for_trees: np.ndarray | None
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, table: Table, seed: int, *, reduce: bool = True, most_levels: int = _MOST_LEVELS
    ) -> Signal:
        numeric = table.numeric
        names = [table.names[k] for k in numeric]
        numbers = table.values[:, numeric]
        idf = components = for_trees = None
        center, flags = np.zeros(len(numeric)), np.zeros(0, np.int64)
        if reduce and (len(numeric) > _WIDE or sp.issparse(numbers)):
            idf, components, for_trees = _summary(numbers, seed)
            if not sp.issparse(numbers):
                center = known_means(numbers)
            if components is not None:
                names = [f"component {k}" for k in range(components.shape[1])]
        else:
            gaps = np.isnan(numbers)
            center = known_means(numbers)
            flags = np.flatnonzero(gaps.any(axis=0) & ~gaps.all(axis=0))
            names += [f"{names[k]} missing" for k in flags]
        shares, more = table.frequent_levels(most_levels)
        return cls(numeric, center, flags, shares, idf, components, for_trees, (*names, *more))

    @property
    def wide(self) -> bool:
        """Whether there are so many columns that they are treated like words."""
        return self.for_trees is not None

    @property
    def n_numbers(self) -> int:
        """Number of columns before the indicators of categories."""
        return len(self.names) - len(self.shares)

    @property
    def n_for_trees(self) -> int:
        """Number of columns per hop of the neighbors' means for trees."""
        return len(self.shares) + (
            self.n_numbers if self.for_trees is None else self.for_trees.shape[1]
        )

    @property
    def n_own_for_trees(self) -> int:
        """Number of a node's own columns for trees."""
        return self.n_for_trees if self.components is not None else len(self.names)

    def values(self, table: Table, dtype: Any = np.float32) -> np.ndarray:
        numbers = table.values[:, self.numeric]
        if self.wide:
            ready = _ready(numbers, self.idf)
            if self.components is not None:
                ready = ready @ self.components
            parts = [ready.toarray() if sp.issparse(ready) else ready]
        else:
            gaps = np.isnan(numbers)
            parts = [np.where(gaps, self.center, numbers), gaps[:, self.flags]]
        parts += [np.nan_to_num(each)[:, None] for each in table.indicators(self.shares)]
        return np.concatenate([np.asarray(part, dtype) for part in parts], axis=1)

    def tree_values(self, signal: np.ndarray) -> np.ndarray:
        """The signal, or its means, in the form for trees."""
        if self.for_trees is None:
            return signal
        few = signal[:, : self.n_numbers] @ self.for_trees
        return np.concatenate([few, signal[:, self.n_numbers :]], axis=1)

    def tree_names(self) -> list[str]:
        if self.for_trees is None:
            return list(self.names)
        few = [f"component {k}" for k in range(self.for_trees.shape[1])]
        return few + list(self.names[self.n_numbers :])


def _numbers(table: Table, signal: Signal) -> Any:
    """The numeric columns, with missing values filled by the mean."""
    numbers = table.values[:, signal.numeric]
    if sp.issparse(numbers):
        return numbers
    return np.where(np.isnan(numbers), signal.center, numbers)


def known_means(numbers: np.ndarray) -> np.ndarray:
    """Mean of the known numbers of each column; zero if there are none."""
    count = np.maximum((~np.isnan(numbers)).sum(axis=0), 1)
    return np.where(np.isnan(numbers), 0.0, numbers).sum(axis=0) / count


def _summary(numbers: Any, seed: int) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray]:
    """(idf, components, components for trees) of many columns. Sparse non-negative columns are
    weighted like words in latent semantic analysis."""
    from sklearn.decomposition import TruncatedSVD

    words = sp.issparse(numbers) and numbers.data.min(initial=0.0) >= 0
    idf = None
    if words:
        n, seen = numbers.shape[0], np.bincount(numbers.indices, minlength=numbers.shape[1])
        idf = np.log((1 + n) / (1 + seen)) + 1
    ready = _ready(numbers, idf)
    too_wide = ready.shape[1] > _TOO_WIDE
    wanted = max(1, min(_N_COMPONENTS if too_wide else _FOR_TREES, min(ready.shape) - 1))
    if ready.shape[1] < 2:  # nothing to reduce
        components = np.eye(ready.shape[1], dtype=np.float32)
    else:
        found = TruncatedSVD(wanted, random_state=seed).fit(ready)
        components = np.asarray(found.components_.T, np.float32)
    if not too_wide:
        return idf, None, components
    return idf, components, np.eye(wanted, min(wanted, _FOR_TREES), dtype=np.float32)


def _ready(numbers: Any, idf: np.ndarray | None) -> Any:
    if idf is None:
        return np.nan_to_num(numbers.toarray() if sp.issparse(numbers) else numbers)
    from sklearn.preprocessing import normalize

    return normalize(sp.csr_matrix(numbers) @ sp.diags_array(idf).tocsr())


@dataclass(frozen=True)
class ColumnRecipe:
    """The columns of a learner: ``n_hops`` steps of the table (None: no table), and ``label_hops``
    steps of labels with one resolvent (0: no labels)."""

    n_hops: int | None
    label_hops: int

    @property
    def n_feature_blocks(self) -> int:
        return 0 if self.n_hops is None else self.n_hops + 1

    def n_label_columns(self, n_outputs: int) -> int:
        """Estimated number of columns of labels and of what is known of them."""
        return (self.label_hops + 1) * (n_outputs + 1) if self.label_hops else 0


@dataclass(frozen=True)
class AutoColumns:
    """Columns of any inputs, for networks (scaled, without missing values) and for trees.

    ``scales`` are the scales by number of hops, ``few_scale`` is that of the columns of graph
    networks, and ``word_scale`` that of single words.
    """

    signal: Signal | None
    scales: dict[int, FeatureScale]
    few_scale: FeatureScale | None = None
    word_scale: FeatureScale | None = None
    _kept: dict[int, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _only: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        signal: Signal | None,
        inputs: NodeInputs,
        hops: list[int],
        nodes: np.ndarray | None = None,
        seed: int = 0,
    ) -> AutoColumns:
        """The columns for a fit that needs the rows of ``nodes``, by default of all. If all rows
        are many numbers, only these are computed, and those of other nodes drawn at random for the
        scales, until `forget`."""
        if signal is None:
            return cls(None, {})
        found, n = cls(signal, {}), inputs.graph.n_nodes
        n_numbers = n * len(signal.names) * (max(hops, default=0) + 1)
        if nodes is not None and n_numbers > _MANY_NUMBERS and not signal.wide:
            others = np.random.default_rng(seed).choice(n, min(n, _N_OTHERS), replace=False)
            found.keep_only(inputs.X, inputs.graph, np.union1d(nodes, others))
        how = "global" if signal.wide else "columns"
        for n_hops in sorted(hops, reverse=True):  # fewer hops are part of more
            spread = found._spread(inputs.X, inputs.graph, n_hops)
            found.scales[n_hops] = FeatureScale.of(all_values(spread), how)
        few = signal.tree_values(all_values(found._spread(inputs.X, inputs.graph, 0)))
        words = None
        if signal.wide:
            numbers = _numbers(inputs.X, signal)
            words = FeatureScale.of(numbers, settle_scale("auto", numbers))
        whole = replace(found, few_scale=FeatureScale.of(few, how), word_scale=words)
        whole._kept.update(found._kept)
        whole._only.extend(found._only)
        return whole

    def n_numbers(self, graph: Graph) -> int:
        """Numbers of all rows; 0 for words, which are never computed for some nodes only."""
        if self.signal is None or self.signal.wide:
            return 0
        return graph.n_nodes * len(self.signal.names) * (max(self.scales, default=0) + 1)

    def keep_only(self, table: Table | None, graph: Graph, nodes: np.ndarray) -> None:
        """Compute the rows of these nodes only, on this table and graph."""
        self._only[:] = [table, graph, nodes]

    def only(self, graph: Graph) -> np.ndarray | None:
        """The nodes whose rows are computed; None if those of all are."""
        return self._only[2] if self._only and self._only[1] is graph else None

    def forget(self) -> None:
        """Compute the rows of all nodes again."""
        self._only.clear()
        self._kept.clear()

    def spread_of(self, table: Table, graph: Graph) -> tuple[int, np.ndarray] | None:
        """The means that were computed last, with their number of hops; None if there are none.
        They are those of all nodes, or of the nodes `only`."""
        for n_hops, (of, spread) in self._kept.items():
            if of[0] is table and of[1] is graph:
                return n_hops, all_values(spread)
        return None

    def keep_spread(self, table: Table, graph: Graph, n_hops: int, spread: np.ndarray) -> None:
        """Use means that were computed elsewhere."""
        nodes = self.only(graph)
        rows = spread if nodes is None else RowsOfSome.of(spread, nodes, graph.n_nodes)
        self._kept[n_hops] = ((table, graph), rows)

    def _spread(self, table: Table, graph: Graph, n_hops: int) -> np.ndarray | RowsOfSome:
        """[X, SX, …, S^K X] for row-normalized S; cached for the last table and graph."""
        assert self.signal is not None
        width = (n_hops + 1) * len(self.signal.names)
        for most, (of, spread) in self._kept.items():
            if most >= n_hops and of[0] is table and of[1] is graph:
                some = isinstance(spread, RowsOfSome)
                return spread.columns(slice(width)) if some else spread[:, :width]
        self._kept.clear()
        nodes = self.only(graph)
        if nodes is not None and self._only[0] is table:
            self.keep_spread(table, graph, n_hops, self._spread_at(table, graph, n_hops, nodes))
        else:
            self._kept[n_hops] = ((table, graph), self._whole_spread(table, graph, n_hops))
        return self._kept[n_hops][1]

    def _spread_at(self, table: Table, graph: Graph, n_hops: int, nodes: np.ndarray) -> np.ndarray:
        """The same rows of some nodes, without the means of all nodes at the same time."""
        assert self.signal is not None
        near = Power(graph, 1, norm="row")
        means = self._signal_values(table, graph, n_hops)
        width = means.shape[1]
        found = np.empty((len(nodes), (n_hops + 1) * width), np.float32)
        for hop in range(n_hops + 1):
            if hop:
                means = np.asarray(near.apply(means, progress=False))
            found[:, hop * width : (hop + 1) * width] = means[nodes]
        return found

    def _whole_spread(self, table: Table, graph: Graph, n_hops: int) -> np.ndarray:
        values = self._signal_values(table, graph, n_hops)
        spread = np.asarray(Hops(graph, n_hops, norm="row").apply(values, progress=False))
        return spread.reshape(len(values), -1).astype(np.float32, copy=False)

    def _signal_values(self, table: Table, graph: Graph, n_hops: int) -> np.ndarray:
        assert self.signal is not None
        few = graph.n_nodes * len(self.signal.names) * (n_hops + 1) <= _FEW_NUMBERS
        return self.signal.values(table, np.float64 if few else np.float32)

    def network_features(self, inputs: NodeInputs, recipe: ColumnRecipe) -> np.ndarray | ScaledRows:
        """The columns of networks, as an array or, if they are many numbers, as rows that are
        scaled when they are asked for."""
        if self.signal is None or recipe.n_hops is None:
            return np.zeros((inputs.graph.n_nodes, 0), np.float32)
        spread = self._spread(inputs.X, inputs.graph, recipe.n_hops)
        rows = ScaledRows(spread, self.scales[recipe.n_hops])
        return rows if _are_many(spread) else rows[:]

    def graph_features(self, inputs: NodeInputs, recipe: ColumnRecipe) -> np.ndarray:
        """A node's own columns, reduced as for trees."""
        if self.signal is None:
            return np.zeros((inputs.graph.n_nodes, 0), np.float32)
        assert self.few_scale is not None
        own = self._spread(inputs.X, inputs.graph, 0)
        if isinstance(own, RowsOfSome):
            own = self.signal.values(inputs.X)
        few = self.signal.tree_values(own)
        return np.clip(self.few_scale.apply(few), -FARTHEST, FARTHEST)

    def word_features(self, inputs: NodeInputs, recipe: ColumnRecipe) -> np.ndarray | SparseTable:
        """A node's own columns without reduction; words stay sparse."""
        assert self.signal is not None
        assert self.word_scale is not None
        numbers = _numbers(inputs.X, self.signal)
        if sp.issparse(numbers):
            sparse = scaled_sparse(numbers, self.word_scale, most=1.0)
            if sparse is not None:
                return sparse
            numbers = numbers.toarray()
        return np.clip(self.word_scale.apply(numbers), -FARTHEST, FARTHEST)

    def tree_features(
        self, inputs: NodeInputs, recipe: ColumnRecipe
    ) -> NodeColumns | SomeNodeColumns:
        """The columns of trees, of all nodes or, if they are many numbers, of those that are asked
        for."""
        if self.signal is None or recipe.n_hops is None:
            return NodeColumns.own(np.zeros((inputs.graph.n_nodes, 0)), [], [])
        spread = self._spread(inputs.X, inputs.graph, recipe.n_hops)
        make = partial(self._tree_rows, inputs.X, spread, recipe.n_hops)
        return SomeNodeColumns(make) if _are_many(spread) else make(slice(None))

    def _tree_rows(
        self, table: Table, rows: np.ndarray | RowsOfSome, n_hops: int, nodes: Any
    ) -> NodeColumns:
        signal, spread = self.signal, rows[nodes]
        assert signal is not None
        names, width = signal.tree_names(), len(signal.names)
        blocks = [signal.tree_values(spread[:, k * width : (k + 1) * width]).astype(np.float64)
                  for k in range(n_hops + 1)]  # fmt: skip
        if signal.components is not None:
            own = NodeColumns.own(blocks[0], names, [])
        elif signal.wide:  # a single word may be informative where no component is
            own = NodeColumns.own(spread[:, :width].astype(np.float64), list(signal.names), [])
        else:
            own = NodeColumns.own(np.asarray(table.values[nodes]), table.names, table.categorical)
        for hop, means in enumerate(blocks[1:], start=1):
            own = own.beside(means, neighbor_names(names, hop), NEIGHBOR)
        return own


def _are_many(rows: np.ndarray | RowsOfSome) -> bool:
    return isinstance(rows, RowsOfSome) or rows.size > _MANY_NUMBERS
