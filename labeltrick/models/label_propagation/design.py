"""The inputs of trainable label propagation: which views of the labels a model gets, as a matrix.

A row is Φ(node) ⊗ views(node): the self-excluded views side by side and, with a gate or node types,
once for each column of Φ. A linear map of these rows has weights that depend on the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.hops import Hops
from ...self_exclusion.label_views import LabelInputs, LabelViews, damped

_RELATION_HOPS = 2


@dataclass(frozen=True)
class DesignSettings:
    """The settings of a design; see `TrainableLabelPropagation` for their meaning."""

    weights: str
    damping: float
    n_steps: int | None
    n_hops: int
    norms: tuple[str, ...]
    self_loops: bool
    normalize: bool
    tol: float


def kinds_of(graph: Graph, settings: DesignSettings, relations: Sequence[Any]) -> list[Propagation]:
    """The propagations whose views are inputs: on the graph, then on each relation."""
    kinds: list[Propagation] = []
    for norm in settings.norms:
        options: dict[str, Any] = {"norm": norm, "self_loops": settings.self_loops}
        if settings.weights in ("per_hop", "mlp"):
            kinds.append(Hops(graph, settings.n_hops, **options))
        if settings.weights in ("shared", "mlp"):
            kinds.append(damped(graph, settings.damping, settings.n_steps, settings.tol, **options))
    reach = 1 if settings.weights == "shared" else min(_RELATION_HOPS, settings.n_hops)
    for name in relations:
        relation = graph.relations.get(name)
        if relation is None:  # no edge of that type in this graph
            relation = Graph.from_edges([], [], n_nodes=graph.n_nodes, directed=graph.directed)
        kinds.extend(Hops(relation, reach, norm=norm) for norm in settings.norms)
    return kinds


def identity_weights(settings: DesignSettings, n_relations: int) -> np.ndarray:
    """The weight of each view in plain label propagation: shared 1, hops λ^k, relations 0."""
    powers = settings.damping ** np.arange(1, settings.n_hops + 1)
    views: list[float] = []
    for _ in settings.norms:
        views.extend([1.0] if settings.weights == "shared" else (powers / powers.sum()).tolist())
    reach = 1 if settings.weights == "shared" else min(_RELATION_HOPS, settings.n_hops)
    views.extend([0.0] * (n_relations * len(settings.norms) * reach))
    return np.array(views) / len(settings.norms)


@dataclass(frozen=True)
class NodeScale:
    """Mean and spread of log degree and log label mass on the training nodes."""

    mean: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, raw: np.ndarray) -> NodeScale:
        return cls(raw.mean(axis=0), np.maximum(raw.std(axis=0), 1e-6))

    def apply(self, raw: np.ndarray) -> np.ndarray:
        # Clipped at two spreads: weights must not be extrapolated to nodes unlike those seen.
        return np.clip((raw - self.mean) / self.spread, -2.0, 2.0)


class LabelDesign:
    """Rows of inputs on one graph, for any labels on it."""

    def __init__(
        self,
        graph: Graph,
        settings: DesignSettings,
        node_types: np.ndarray | None = None,
        relations: Sequence[Any] = (),
    ) -> None:
        """``node_types`` and ``relations`` are those of the fit, which this graph must have."""
        self.graph = graph
        self.settings = settings
        self.node_types = node_types
        _check_types(graph, node_types, relations)
        # Networks see changing parts of the labels, few of which reach some nodes.
        tol = 1e-5 if settings.weights == "mlp" else 1e-4
        self.relations = list(relations)
        kinds = kinds_of(graph, settings, self.relations)
        self.views = LabelViews(kinds, normalize=settings.normalize, tol=tol)

    def node_columns(self, inputs: LabelInputs, rows: np.ndarray | None) -> np.ndarray:
        """Log degree and log of the label mass that reached the node, unscaled."""
        strength = self.graph.out_strengths
        degree = strength if rows is None else strength[rows]
        return np.column_stack([np.log1p(degree), np.log(np.maximum(inputs.mass[:, 0], 1e-6))])

    def types_of(self, rows: np.ndarray | None) -> np.ndarray | None:
        """One-hot node types, in the order of the fit; None without types."""
        if self.node_types is None or self.graph.node_types is None:
            return None
        types = self.graph.node_types if rows is None else self.graph.node_types[rows]
        return (types[:, None] == self.node_types).astype(np.float64)

    def matrix(
        self, inputs: LabelInputs, rows: np.ndarray | None, scale: NodeScale | None
    ) -> np.ndarray:
        """Φ ⊗ views as a matrix."""
        n = len(inputs.values)
        flat = inputs.values.reshape(n, inputs.values.shape[1] * inputs.values.shape[2])
        basis = self.types_of(rows)
        if scale is not None:
            gates = np.column_stack([np.ones(n), scale.apply(self.node_columns(inputs, rows))])
            basis = gates if basis is None else np.concatenate([basis, gates[:, 1:]], axis=1)
        if basis is None:
            return flat
        wide = basis[:, :, None] * flat[:, None, :]
        return wide.reshape(n, wide.shape[1] * wide.shape[2]).astype(flat.dtype)

    def start(self, n_classes: int, gated: bool) -> np.ndarray:
        """The weights of plain label propagation in the shape of the design: (inputs, c)."""
        views = identity_weights(self.settings, len(self.relations))
        unit = np.kron(views[:, None], np.eye(n_classes))
        bases = [1.0] * (1 if self.node_types is None else len(self.node_types))
        bases += [0.0, 0.0] if gated else []
        return np.concatenate([share * unit for share in bases])


def _check_types(graph: Graph, node_types: np.ndarray | None, relations: Sequence[Any]) -> None:
    strange = [name for name in graph.relations if name not in relations]
    if relations and strange:
        raise ValueError(
            f"`graph` must have only edge types of the fit ({list(relations)}); got "
            f"{strange[0]!r}. Fit again."
        )
    if node_types is None:
        return
    if graph.node_types is None:
        raise ValueError("`graph` must have node types, like that of the fit; got none.")
    unknown = graph.node_types[~np.isin(graph.node_types, node_types)]
    if len(unknown):
        raise ValueError(
            f"`graph` must have node types seen in the fit; got {unknown[0]!r}. Fit again."
        )
