"""Learned edge weights: ``TrainableLabelPropagation(edge_weights="learned")``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._utils.extras import require
from ..._utils.progress import Progress
from ..._utils.targets import Targets, TargetScale
from ...graph.edges import EdgeList
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.resolvent import Resolvent
from ...self_exclusion.label_views import damped, label_columns
from ..base.draws import draw_split
from .design import DesignSettings
from .edge_function import BOUND, EdgeFunction, EdgeInputs, node_degrees

_SPLIT_RATE = 0.5  # share of the labels that are inputs in an epoch; the others are targets


@dataclass(frozen=True)
class EdgeLearner:
    """Learns a function of edges from any labels on one graph.

    Out-of-fold predictions need functions that were trained without the labels of a fold, both as
    inputs and as targets. Everything but the labels is therefore kept here.
    """

    graph: Graph
    X: Any
    settings: DesignSettings
    link: str
    validation: Targets | None
    schedule: tuple[float, int, int]
    seed: int
    progress: Progress

    @cached_property
    def _edges(self) -> EdgeList:
        return EdgeList.of(self.graph)

    @cached_property
    def _start(self) -> EdgeFunction:
        return EdgeFunction.untrained(self.graph, self.X, self._edges)

    @cached_property
    def _inputs(self) -> EdgeInputs:
        return self._start.inputs(node_degrees(self.graph), self.X, self._edges)

    def _propagation(self) -> Propagation:
        settings = self.settings
        options: dict[str, Any] = {"norm": settings.norms[0], "self_loops": settings.self_loops}
        P = damped(self.graph, settings.damping, settings.n_steps, settings.tol, **options)
        return P.for_any_strengths() if isinstance(P, Resolvent) else P

    def learn(self, known: Targets) -> EdgeFunction:
        """The function trained on these labels; untrained without two labels and an edge."""
        require("torch", "edge_weights='learned'")
        from ...nn.edge_training import EdgeProblem, train_edge_function

        if known.labeled.sum() < 2 or not len(self._edges):
            return self._start
        inputs = self._inputs
        scale = TargetScale.of(known)  # the units of these labels, not of those left out
        labels = label_columns(scale.to(known.Y), known.labeled.astype(np.float64))
        validation = None
        if self.validation is not None:
            at = np.flatnonzero(self.validation.labeled)
            validation = (at, scale.to(self.validation.Y[at]), self.validation.weight[at])
        problem = EdgeProblem(
            self._propagation(),
            self._edges,
            self._edges.given_weights(self.graph),
            inputs.columns,
            inputs.nodes,
            BOUND,
            labels[:, :-1],
            known.weight,
            labels,
            validation,
            self.link,
        )
        rng = np.random.default_rng(self.seed)

        def draw() -> tuple[np.ndarray, np.ndarray]:
            split = draw_split(known, _SPLIT_RATE, rng)
            return labels * split.in_mask[:, None], np.flatnonzero(split.out_mask)

        return self._start.trained(
            *train_edge_function(problem, draw, self.schedule, self.progress)
        )

    def reweighted(self, function: EdgeFunction) -> Graph:
        """The graph with the weights of a function."""
        return function.reweighted(self.graph, self.X, self._inputs)
