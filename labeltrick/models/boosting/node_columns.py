"""Columns for trees: a node's own, means over its neighbors, and the labels of other nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.progress import Progress
from ..._utils.targets import Targets, TargetScale
from ...graph.graph import Graph
from ...propagation.hops import Hops
from ...propagation.resolvent import Resolvent
from ...self_exclusion.label_views import LabelInputs, LabelViews, label_columns
from ...self_exclusion.rounding import is_small, on_grid, twelve_digits
from ..base.tables import Table

_MOST_SHARES = 8  # levels per category whose share among the neighbors is a column
_WIDE = 200  # with more columns than this, means over the neighbors are taken of
_N_COMPONENTS = 32  # this many components
_AT_ONCE = 1_200_000_000  # bytes of label columns that are computed together
_MANY_NODES = 100_000  # with more, label columns are far less exact than 1e-8 anyway
OWN, NEIGHBOR, LABEL = "own", "neighbor", "label"


@dataclass(frozen=True)
class NodeColumns:
    """A matrix for trees, with the name and the group of each column."""

    values: Any
    names: list[str]
    groups: list[str]
    categorical: list[int]

    @classmethod
    def own(cls, values: Any, names: list[str], categorical: list[int]) -> NodeColumns:
        return cls(values, names, [OWN] * len(names), categorical)

    def rows(self, nodes: np.ndarray) -> NodeColumns:
        return replace(self, values=self.values[nodes])

    def beside(self, values: np.ndarray, names: list[str], group: str) -> NodeColumns:
        if sp.issparse(self.values):
            joined = sp.hstack([self.values, sp.csr_matrix(values)], format="csr")
        else:
            joined = np.concatenate([self.values, values], axis=1)
        groups = self.groups + [group] * len(names)
        return NodeColumns(joined, self.names + names, groups, self.categorical)


@dataclass(frozen=True)
class NeighborColumns:
    """Means of the neighbors' columns, hop by hop, chosen on the table of the fit.

    ``numeric`` are the positions of the numeric columns. If there are many, they are replaced by
    their projection on ``components``. ``shares`` are pairs (position, level) of categories whose
    share among the neighbors is a column.
    """

    n_hops: int
    numeric: np.ndarray
    shares: tuple[tuple[int, int], ...]
    components: np.ndarray | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, n_hops: int) -> NeighborColumns:
        numeric = table.numeric
        shares, more = table.frequent_levels(_MOST_SHARES)
        names = [table.names[k] for k in numeric] + more
        components = None
        if len(numeric) > _WIDE and n_hops:
            components = _components(_filled(table.values[:, numeric]))
            names[: len(numeric)] = [f"component {k}" for k in range(components.shape[1])]
        return cls(n_hops, numeric, shares, components, tuple(names))

    def beside_own(self, table: Table, graph: Graph, progress: Progress) -> NodeColumns:
        """A node's own columns, and means over the neighbors that have a value; NaN if none has
        one."""
        own = NodeColumns.own(table.values, table.names, table.categorical)
        if not self.n_hops:
            return own
        signal = self._signal(table)
        present = (~np.isnan(signal)).astype(np.float64)
        both = np.concatenate([np.nan_to_num(signal), present], axis=1)
        P = Hops(graph, self.n_hops, norm="row")
        spread = P.apply(both, progress=progress).reshape(len(both), self.n_hops + 1, 2, -1)
        total, mass = spread[:, 1:, 0], spread[:, 1:, 1]
        mean = np.where(mass > 1e-12, total / np.maximum(mass, 1e-12), np.nan)
        hops = range(1, self.n_hops + 1)
        names = [name for hop in hops for name in neighbor_names(self.names, hop)]
        return own.beside(twelve_digits(mean.reshape(len(both), -1)), names, NEIGHBOR)

    def _signal(self, table: Table) -> np.ndarray:
        numbers = table.values[:, self.numeric]
        if self.components is not None:
            found = np.asarray(_filled(numbers) @ self.components)
        else:
            found = numbers.toarray() if sp.issparse(numbers) else numbers
        return np.column_stack([found, *table.indicators(self.shares)]) if self.shares else found


def neighbor_names(names: Iterable[str], hop: int) -> list[str]:
    return [f"{name}, neighbors {hop} away" for name in names]


def _filled(numbers: Any) -> Any:
    return numbers if sp.issparse(numbers) else np.nan_to_num(numbers)


def _components(numbers: Any) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    n = min(_N_COMPONENTS, min(numbers.shape) - 1)
    return TruncatedSVD(n, random_state=0).fit(numbers).components_.T


# -- labels ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class LabelColumns:
    """Leave-one-out target encoding along edges: mean labels of the other nodes 1, …, K steps away
    and by a resolvent, how many labels are seen, and the degree.

    Means are in the units of ``scale``; NaN where no label is seen.
    """

    n_hops: int
    damping: float | None
    _known: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def values(
        self,
        known: Targets,
        scale: TargetScale,
        graph: Graph,
        nodes: np.ndarray | None = None,
        *,
        exclude: bool = True,
        scaled: bool = True,
        progress: Progress = None,
    ) -> np.ndarray:
        """The columns of some nodes, by default of all. ``exclude=False`` includes a node's own
        label, for inference only. ``scaled=False`` keeps means in the units of the labels."""
        n, n_outputs = known.Y.shape
        small = is_small(n, int(known.labeled.sum()))
        n_views = self.n_hops + (self.damping is not None)
        # On large problems values are on a grid of three digits: single precision holds it, and
        # takes half the time.
        dtype = np.float64 if small or known.task == "regression" else np.float32
        degrees = graph.degrees if nodes is None else graph.degrees[nodes]
        out = np.empty((len(degrees), n_views * (n_outputs + 1) + 1), dtype)
        seen = out[:, : n_views * n_outputs].reshape(len(out), n_views, n_outputs)
        step = max(1, _AT_ONCE // (np.dtype(dtype).itemsize * n * (n_views + 1)))
        for first in range(0, n_outputs, step):
            part = slice(first, first + step)
            units = replace(scale, center=scale.center[part], spread=scale.spread[part])
            Y = np.where(known.labeled[:, None], units.to(known.Y[:, part]), 0.0)
            labels = label_columns(Y.astype(dtype, copy=False), known.labeled.astype(dtype))
            found = self._views(graph).inputs(
                labels, nodes, exclude=exclude, dtype=dtype, progress=progress
            )
            seen[:, :, part] = _means(found, units, small, scaled)
        out[:, n_views * n_outputs :] = _counts(found, degrees)
        return out

    def of_views(
        self,
        found: LabelInputs,
        scale: TargetScale,
        small: bool,
        degrees: np.ndarray,
        *,
        scaled: bool,
    ) -> np.ndarray:
        """The columns of some nodes, from their views and degrees."""
        means = _means(found, scale, small, scaled)
        return np.concatenate([means.reshape(len(means), -1), _counts(found, degrees)], axis=1)

    def beside(
        self, columns: NodeColumns, known: Targets, scale: TargetScale, graph: Graph, progress: Any
    ) -> NodeColumns:
        """The columns, with label columns beside them if there are any."""
        if not self.n_hops and self.damping is None:
            return columns
        values = self.values(known, scale, graph, progress=progress)
        return columns.beside(values, self.column_names(output_names(known)), LABEL)

    def _views(self, graph: Graph) -> LabelViews:
        """The views of a graph; those of the last graph are kept, as self-weights are costly."""
        if not self._known or self._known[0][0] is not graph:
            kinds: list[Any] = [Hops(graph, self.n_hops, norm="row")] if self.n_hops else []
            if self.damping is not None:
                tol = 1e-8 if graph.n_nodes <= _MANY_NODES else 1e-6
                kinds.append(Resolvent(graph, self.damping, norm="row", tol=tol))
            self._known[:] = [(graph, LabelViews(kinds))]
        return self._known[0][1]

    def self_weights(self, graph: Graph) -> list[Any]:
        """The self-weights that are known on a graph, for `take`."""
        views = self._views(graph)
        return [views.known_weights(kind) for kind in views.kinds]

    def take(self, graph: Graph, weights: list[Any]) -> None:
        """Use self-weights that other columns of the same kind know."""
        views = self._views(graph)
        for kind, each in zip(views.kinds, weights, strict=True):
            if each is not None:
                views.take_weights(kind, each)

    def places(self, n_hops: int, n_outputs: int) -> np.ndarray:
        """Positions of the columns that `LabelColumns` with fewer hops would have."""
        views = [*range(n_hops), *range(self.n_hops, self.n_hops + (self.damping is not None))]
        n_views = self.n_hops + (self.damping is not None)
        means = [view * n_outputs + k for view in views for k in range(n_outputs)]
        counts = [n_views * n_outputs + view for view in views]
        return np.array([*means, *counts, n_views * (n_outputs + 1)])

    def column_names(self, outputs: list[str]) -> list[str]:
        views = [f"{hop} away" for hop in range(1, self.n_hops + 1)]
        if self.damping is not None:
            views.append("spread")
        means = [f"label {output}, {view}".replace("label ,", "label,") for view in views
                 for output in outputs]  # fmt: skip
        return [*means, *(f"labels seen {view}" for view in views), "degree"]


def _means(found: LabelInputs, scale: TargetScale, small: bool, scaled: bool) -> np.ndarray:
    """Mean labels by view; NaN where no label is seen."""
    values = on_grid(scale.back(found.values), scale.spread, small)
    if scaled:
        values = scale.to(values)
    return np.where(found.reached[:, :, None], values, np.nan)


def _counts(found: LabelInputs, degrees: np.ndarray) -> np.ndarray:
    """How many labels are seen by view, and the degree; logarithms."""
    degree = degrees.astype(np.float64)[:, None]
    mass = np.where(found.reached, np.maximum(found.mass, 0.0), 0.0)
    return np.concatenate([twelve_digits(np.log1p(mass * degree)), np.log1p(degree)], axis=1)


def output_names(known: Targets) -> list[str]:
    """Names of the columns of ``Y``."""
    if known.classes is not None:
        return known.class_names
    return [""] if known.Y.shape[1] == 1 else [str(k) for k in range(known.Y.shape[1])]
