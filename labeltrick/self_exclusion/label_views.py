"""Views of labels: what each node sees of the other nodes' labels, through one or more P.

A view is a block of c columns: (P − C)·Y. With ``normalize`` it is divided by the label mass (P −
C)·1, so that it is the mean of the labels seen, however few they are. Estimators are built on these
views; no row ever holds its own node's label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.progress import Progress
from ..graph.graph import Graph
from ..propagation.base import Propagation
from ..propagation.diagonal.self_weight import SelfWeight
from ..propagation.hops import Hops
from ..propagation.polynomials import Iteration
from ..propagation.resolvent import ROUNDING, Resolvent
from .rounding import accurate, certain_mass, is_small, solver_error

_FINE, _FINEST = 1e-9, ROUNDING  # errors of self-weights: if affordable; where little is seen


@dataclass(frozen=True)
class LabelInputs:
    """Views of the labels at some nodes.

    Attributes
    ----------
    values : (rows, views, c): labels seen in each view.
    mass : (rows, views): label mass that arrived, without the own label.
    reached : (rows, views): whether the mass exceeds its error. Where it does not, ``values`` holds
        the mean label of the other nodes.
    """

    values: np.ndarray
    mass: np.ndarray
    reached: np.ndarray

    def at(self, rows: np.ndarray) -> LabelInputs:
        return LabelInputs(self.values[rows], self.mass[rows], self.reached[rows])


def label_columns(Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """[wY, w]: labels and, in the last column, their mass; zero rows where nothing is known.

    Weights are relative to their mean over the labeled nodes.
    """
    known = weight[weight > 0]
    weight = weight / known.mean() if len(known) else weight
    return np.column_stack([Y * weight[:, None], weight])


def damped(
    graph: Graph, damping: float, n_steps: int | None, tol: float, **options: Any
) -> Propagation:
    """The resolvent, or ``n_steps`` steps of its iteration."""
    if n_steps is None:
        return Resolvent(graph, damping, tol=tol, **options)
    return Iteration(graph, damping, n_steps, **options)


class LabelViews:
    """Self-excluded views of any labels on one graph.

    The self-weight of each labeled node is computed once and kept: other labels of the same nodes
    then cost only the propagation.

    Parameters
    ----------
    kinds : propagations on the graph or on its relations. Each makes one view; `Hops` makes one
        for each power from the first on.
    normalize : whether views are divided by their label mass.
    tol : certified error of the self-weights on large problems; 1e-9 on small ones. Nodes that see
        little but their own label get finer ones.

    Notes
    -----
    At most 1e-5 of a change of a node's own label remains in its view, and at most 1e-2 on large
    problems (more than 3·10⁷ pairs of a node and a labeled node); in practice far less. Nodes for
    which this cannot be certified count as not reached: what they see of others is within the
    rounding of their own label.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> views = LabelViews([Resolvent(graph, 0.5)])
    >>> columns = label_columns(np.array([[4.0], [8.0], [0.0]]), np.array([1.0, 1.0, 0.0]))
    >>> views.inputs(columns).values.round(4).ravel().tolist()  # 0 sees 1's label, 1 sees 0's
    [8.0, 4.0, 6.0]
    """

    def __init__(
        self, kinds: Sequence[Propagation], *, normalize: bool = True, tol: float = 1e-4
    ) -> None:
        self.kinds = list(kinds)
        self.normalize = normalize
        self.tol = tol
        self._known: dict[Any, _KnownWeights] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}  # its keys hold identities of graphs

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
        """Views of the labels ``columns`` (from `label_columns`) at ``rows``, default all.

        ``exclude=False`` keeps the own labels in: plain propagation. ``refine=False`` does not
        compute finer self-weights for nodes that see few labels besides their own; they then count
        as not reached. ``blank`` is the row of nodes that no label reaches, by default the mean
        label of the other nodes; models that are trained on views need the same row for all.
        """
        n = len(columns)
        nodes = np.arange(n) if rows is None else rows
        own = columns[nodes]
        carries = np.flatnonzero(own.any(axis=1)) if exclude else np.zeros(0, np.int64)
        blocks = []
        for given in self.kinds:
            kind = accurate(given, len(carries))
            spread = self._spread_at(kind, columns, nodes, progress)
            error = solver_error(kind, columns.dtype) * columns[:, -1].max(initial=0.0)
            floor = np.full(spread.shape[:2], error)
            if len(carries):
                left = None
                if refine and self.normalize:
                    left = spread[carries, :, -1], own[carries, -1:]
                C, bound = self._self_weight(kind, nodes[carries], left, progress)
                spread[carries] -= C[:, :, None] * own[carries, None, :]
                certain = certain_mass(kind, len(carries))
                floor[carries] = certain * (error + bound * own[carries, -1:])
            first = 1 if isinstance(kind, Hops) else 0  # the zeroth power is the node itself
            block = self._block(spread[:, first:], floor[:, first:], dtype)
            if len(carries) and not self.normalize:
                # Trained weights of any size could turn the rounding of an own label in a raw
                # view back into that label.
                largest = max(1.0, float(np.abs(columns).max()))
                block.values[np.abs(block.values) <= largest * floor[:, first:, None]] = 0.0
            if self.normalize:
                self._fill(block, columns, own if exclude else np.zeros_like(own), blank)
            blocks.append(block)
        return LabelInputs(
            np.concatenate([block.values for block in blocks], axis=1),
            np.concatenate([block.mass for block in blocks], axis=1),
            np.concatenate([block.reached for block in blocks], axis=1),
        )

    def _fill(
        self, block: LabelInputs, columns: np.ndarray, own: np.ndarray, blank: np.ndarray | None
    ) -> None:
        """Fill rows that no label reaches with ``blank``, or with the mean label of the others."""
        for k in range(block.mass.shape[1]):
            none = ~block.reached[:, k]
            if none.any() and blank is not None:
                block.values[none, k] = blank
            elif none.any():
                block.values[none, k] = _mean_of_others(columns.sum(axis=0), own[none])

    def _spread_at(
        self, kind: Propagation, columns: np.ndarray, nodes: np.ndarray, progress: Progress
    ) -> np.ndarray:
        """P·columns at some nodes, of shape (rows, views, columns)."""
        n, width = columns.shape
        return kind.apply(columns, progress=progress).reshape(n, -1, width)[nodes]

    def _block(self, spread: np.ndarray, floor: np.ndarray, dtype: Any) -> LabelInputs:
        values, mass = spread[:, :, :-1], spread[:, :, -1]
        reached = mass > floor
        if not self.normalize:
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
        """(C, its error bound) of each hop at labeled nodes.

        With ``masses`` (all mass that arrived, own mass), finer where it matters.
        """
        # Small problems can afford almost no error; on large ones 1e-4 takes seconds.
        small = is_small(kind.n_nodes, len(nodes))
        tol = _FINE if small else self.tol
        if small and masses is None:
            tol = _FINEST
        value, bound = self._lookup(kind, nodes, tol, progress)
        if masses is not None:
            # Where a node sees little mass besides its own, an error of C would be a leak.
            mass, own = masses
            finer = _FINEST if small else _FINE
            needed = certain_mass(kind, len(nodes)) * bound * own
            doubtful = (mass - value * own < needed).any(axis=1)
            if doubtful.any():
                self._lookup(kind, nodes[doubtful], finer, progress)
                value, bound = self._lookup(kind, nodes, tol, progress)
        return value, bound

    def _lookup(
        self, kind: Propagation, nodes: np.ndarray, tol: float, progress: Progress
    ) -> tuple[np.ndarray, np.ndarray]:
        """Self-weights of nodes with an error of at most ``tol``; unknown ones are computed."""
        if _key(kind) not in self._known:
            self._known[_key(kind)] = _KnownWeights(kind.n_nodes)
        known = self._known[_key(kind)]
        missing = nodes[known.asked[nodes] > tol]
        if len(missing):
            known.take(missing, kind.self_weight(missing, tol=tol, progress=progress), tol)
        return known.value[nodes], known.bound[nodes]

    def remember(self, kind: Propagation, weight: SelfWeight) -> None:
        """Keep self-weights that were computed elsewhere."""
        assert weight.nodes is not None
        self._known[_key(kind)] = known = _KnownWeights(kind.n_nodes)
        known.take(weight.nodes, weight, float(weight.error_bound.max(initial=0.0)))

    def known_weights(self, kind: Propagation) -> tuple[np.ndarray, ...] | None:
        """All self-weights that are known, for `take_weights` of views of the same graph."""
        known = self._known.get(_key(kind))
        return None if known is None else (known.value, known.bound, known.asked)

    def take_weights(self, kind: Propagation, weights: tuple[np.ndarray, ...]) -> None:
        """Use what other views know."""
        self._known[_key(kind)] = known = _KnownWeights(kind.n_nodes)
        known.value, known.bound, known.asked = weights


class _KnownWeights:
    """Self-weights computed so far, their error bounds, and the tolerance requested for each node.

    An allowance for rounding keeps bounds above the finest tolerances.
    """

    def __init__(self, n_nodes: int) -> None:
        self.value, self.bound = np.zeros((n_nodes, 1)), np.full((n_nodes, 1), np.inf)
        self.asked = np.full(n_nodes, np.inf)

    def take(self, nodes: np.ndarray, found: SelfWeight, tol: float) -> None:
        value = found.value.reshape(len(nodes), -1)
        if value.shape[1] > self.value.shape[1]:  # one column per hop
            shape = (len(self.asked), value.shape[1])
            self.value, self.bound = np.zeros(shape), np.full(shape, np.inf)
        self.value[nodes] = value
        self.bound[nodes] = found.error_bound.reshape(len(nodes), -1)
        self.asked[nodes] = tol


def _key(kind: Propagation) -> Any:
    """Propagations with equal keys have equal diagonals, as all norms of an undirected graph do."""
    norm = kind.norm if kind.graph.directed else None
    steps = getattr(kind, "n_steps", None)
    damping = getattr(kind, "damping", None)
    return type(kind), id(kind.graph), norm, kind.self_loops, steps, damping


def _mean_of_others(total: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The mean label over all nodes but the row's own: even the prior must not reveal it.

    ``total`` is the sum of all label columns. Without other labels, the guess is even.
    """
    mass = total[-1] - own[:, -1:]
    some = mass > 1e-12 * max(total[-1], 1e-300)
    labels = total[:-1] - own[:, :-1]
    return np.where(some, labels / np.where(some, mass, 1.0), 1.0 / (len(total) - 1))
