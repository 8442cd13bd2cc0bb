"""Labels as inputs: what each node sees of the other nodes' labels, by one or several kinds of P.

A view is a block of c columns: (P − C)·Y, or with ``normalise`` divided by the label mass
(P − C)·1 that came along, so that it is the mean of the labels seen, however few they are.
Estimators are built on these views; no row ever holds the row's own label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._progress import Progress
from .diagonal import SelfWeight
from .graph import Graph
from .hops import Hops
from .polynomials import Iteration
from .propagation import Propagation
from .resolvent import Resolvent

_CERTAIN = 100  # a node's label mass must exceed so many times the error of its self-weight
_ROUNDING = 1e-11
SMALL_PROBLEM = 30_000_000  # nodes × labelled nodes


@dataclass(frozen=True)
class LabelInputs:
    """Views of some nodes.

    Attributes
    ----------
    values : (rows, views, c): labels seen, by view.
    mass : (rows, views): label mass that arrived, own labels left out.
    reached : (rows, views): whether the mass is more than an error; values are the mean label of
        the other nodes where it is not.
    """

    values: np.ndarray
    mass: np.ndarray
    reached: np.ndarray

    def at(self, rows: np.ndarray) -> LabelInputs:
        return LabelInputs(self.values[rows], self.mass[rows], self.reached[rows])


def label_columns(Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """[wY, w]: labels and, last, their mass; rows of zeros where nothing is known.

    Weights count relative to their mean over the labelled nodes.
    """
    known = weight[weight > 0]
    weight = weight / known.mean() if len(known) else weight
    return np.column_stack([Y * weight[:, None], weight])


def damped(
    graph: Graph, damping: float, n_steps: int | None, tol: float, **options: Any
) -> Propagation:
    """The resolvent, or ``n_steps`` of its iteration."""
    if n_steps is None:
        return Resolvent(graph, damping, tol=tol, **options)
    return Iteration(graph, damping, n_steps, **options)


class LabelViews:
    """Self-excluded views of any labels on one graph.

    Self-weights are found once for each node that carries a label and kept: other labels of the
    same nodes cost propagation only.

    Parameters
    ----------
    kinds : propagations on the graph (or on relations of it). Each makes one view; `Hops` makes
        one for each power from the first.
    normalise : whether views are divided by their label mass.
    tol : certified error of the self-weights on large problems; on small ones it is 1e-9.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> views = LabelViews([Resolvent(graph, 0.5)])
    >>> columns = label_columns(np.array([[4.0], [8.0], [0.0]]), np.array([1.0, 1.0, 0.0]))
    >>> views.inputs(columns).values.round(4).ravel().tolist()  # 0 sees 1's label, 1 sees 0's
    [8.0, 4.0, 6.0]
    """

    def __init__(
        self, kinds: Sequence[Propagation], *, normalise: bool = True, tol: float = 1e-4
    ) -> None:
        self.kinds = list(kinds)
        self.normalise = normalise
        self.tol = tol
        self._known: dict[Any, tuple[np.ndarray, np.ndarray]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}  # keyed by graphs that will be others then

    @property
    def n_views(self) -> int:
        return sum(_n_views(kind) for kind in self.kinds)

    def inputs(
        self,
        columns: np.ndarray,
        rows: np.ndarray | None = None,
        *,
        exclude: bool = True,
        refine: bool = True,
        blank: np.ndarray | None = None,
        dtype: Any = np.float64,
        progress: Progress = None,
    ) -> LabelInputs:
        """Views of the labels in ``columns`` (see `label_columns`) at some nodes, default all.

        ``exclude=False`` leaves the own labels in: plain propagation. ``refine=False`` does
        not sharpen self-weights for nodes that few labels but their own reach: these then count
        as not reached. ``blank`` is what nodes see that no label reaches: models that are trained
        on views need one and the same row for all. Default: the mean label of the other nodes.
        """
        n = len(columns)
        nodes = np.arange(n) if rows is None else rows
        own = columns[nodes]
        carries = np.flatnonzero(own.any(axis=1)) if exclude else np.zeros(0, np.int64)
        total = columns.sum(axis=0)
        blocks = []
        for kind in self.kinds:
            spread = kind.apply(columns, progress=progress).reshape(n, -1, columns.shape[1])
            spread = spread[nodes]
            floor = np.full(spread.shape[:2], _solver_error(kind, columns.dtype))
            if len(carries):
                left = None
                if refine and self.normalise:
                    left = spread[carries, :, -1], own[carries, -1:]
                C, bound = self._self_weight(kind, nodes[carries], left, progress)
                spread[carries] -= C[:, :, None] * own[carries, None, :]
                floor[carries] = _CERTAIN * (floor[carries] + bound * own[carries, -1:])
            first = 1 if isinstance(kind, Hops) else 0  # the zeroth power is the node itself
            block = self._block(spread[:, first:], floor[:, first:], dtype)
            for k in range(block.mass.shape[1] if self.normalise else 0):
                none = ~block.reached[:, k]
                seen = own[none] if exclude else np.zeros_like(own[none])
                block.values[none, k] = _mean_of_others(total, seen) if blank is None else blank
            blocks.append(block)
        return LabelInputs(
            np.concatenate([block.values for block in blocks], axis=1),
            np.concatenate([block.mass for block in blocks], axis=1),
            np.concatenate([block.reached for block in blocks], axis=1),
        )

    def _block(self, spread: np.ndarray, floor: np.ndarray, dtype: Any) -> LabelInputs:
        values, mass = spread[:, :, :-1], spread[:, :, -1]
        reached = mass > floor
        if not self.normalise:
            return LabelInputs(values.astype(dtype), mass, reached)
        shares = values / np.where(reached, mass, 1.0)[:, :, None]
        return LabelInputs(shares.astype(dtype), mass, reached)

    def _self_weight(
        self,
        kind: Propagation,
        nodes: np.ndarray,
        masses: tuple[np.ndarray, np.ndarray] | None,
        progress: Progress,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(C, its error bound) of each hop at nodes that carry labels.

        With ``masses`` (that arrived, that is the nodes' own), finer where it matters.
        """
        # Small problems can afford next to no error; on large ones 1e-4 costs seconds.
        small = kind.n_nodes * len(nodes) <= SMALL_PROBLEM
        tol = 1e-9 if small else self.tol
        value, bound = self._lookup(kind, nodes, tol, progress)
        if masses is not None:
            # Little mass but one's own: an error of the self-weight would be a leak here.
            mass, own = masses
            doubtful = (mass - value * own < _CERTAIN * bound * own).any(axis=1)
            doubtful &= (bound > 1e-8).any(axis=1)
            if doubtful.any():
                self._lookup(kind, nodes[doubtful], 1e-9, progress)
                value, bound = self._lookup(kind, nodes, tol, progress)
        return value, bound

    def _lookup(
        self, kind: Propagation, nodes: np.ndarray, tol: float, progress: Progress
    ) -> tuple[np.ndarray, np.ndarray]:
        """Self-weights of nodes with a bound of at most ``tol``; those not known yet are made."""
        value, bound = self._known.setdefault(
            _key(kind), (np.zeros((kind.n_nodes, 1)), np.full((kind.n_nodes, 1), np.inf))
        )
        missing = nodes[(bound[nodes] > tol).any(axis=1)]
        if len(missing):
            found = kind.self_weight(missing, tol=tol, progress=progress)
            if value.shape[1] == 1 and found.value.ndim == 2:
                width = found.value.shape[1]
                value = np.zeros((kind.n_nodes, width))
                bound = np.full((kind.n_nodes, width), np.inf)
                self._known[_key(kind)] = (value, bound)
            value[missing] = found.value.reshape(len(missing), -1)
            bound[missing] = found.error_bound.reshape(len(missing), -1)
        return value[nodes], bound[nodes]

    def remember(self, kind: Propagation, weight: SelfWeight) -> None:
        """Take self-weights that are at hand."""
        shape = (kind.n_nodes, 1 if weight.value.ndim == 1 else weight.value.shape[1])
        value, bound = np.zeros(shape), np.full(shape, np.inf)
        value[weight.nodes] = weight.value.reshape(-1, shape[1])
        bound[weight.nodes] = weight.error_bound.reshape(-1, shape[1])
        self._known[_key(kind)] = (value, bound)


def _n_views(kind: Propagation) -> int:
    return kind.n_steps if isinstance(kind, Hops) else 1


def _solver_error(kind: Propagation, dtype: Any) -> float:
    rounding = _ROUNDING if dtype == np.float64 else 1e-6
    return max(kind.tol, rounding) if isinstance(kind, Resolvent) else rounding


def _key(kind: Propagation) -> Any:
    """Kinds with the same key have the same diagonal: norms of an undirected graph share it."""
    norm = kind.norm if kind.graph.directed else None
    steps = getattr(kind, "n_steps", None)
    damping = getattr(kind, "damping", None)
    return type(kind), id(kind.graph), norm, kind.self_loops, steps, damping


def _mean_of_others(total: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The mean label over all nodes but the row's own: even the prior must not tell.

    ``total`` is the sum of all label columns; an even guess where there are no others.
    """
    mass = total[-1] - own[:, -1:]
    some = mass > 1e-12 * max(total[-1], 1e-300)
    labels = total[:-1] - own[:, :-1]
    return np.where(some, labels / np.where(some, mass, 1.0), 1.0 / (len(total) - 1))
