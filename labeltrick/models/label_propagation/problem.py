"""A training problem of labels: the inputs of the labeled nodes, their targets, how to score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._utils.progress import Progress
from ..._utils.targets import Targets, TargetScale
from ...evaluation import metrics
from ...self_exclusion.label_views import LabelInputs, label_columns
from ..base.draws import in_order
from ..base.folds import N_FOLDS, draw_folds
from ..base.weights import apply_link
from .design import LabelDesign, NodeScale


@dataclass(frozen=True)
class LabelProblem:
    """Labels on a graph, as inputs and as targets.

    Attributes
    ----------
    design : which views are inputs.
    columns : (n, c+1) scaled labels and their mass: the inputs of propagation.
    prior : mean label of the fit, the row of nodes that no label reaches. It is the same for all
        and is kept with the weights: a mean of the *other* labels would reveal a node's own.
    constant : whether there is a column of ones beside the views.
    nodes, Y, weight : the training nodes, their targets and weights.
    targets : the labels as given.
    scale : the units of ``columns`` and ``Y``.
    validation : validation nodes, their targets and weights, or None.
    link : "softmax", "sigmoid" or "identity".
    """

    design: LabelDesign
    columns: np.ndarray
    prior: np.ndarray
    nodes: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    targets: Targets
    scale: TargetScale
    validation: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    link: str
    constant: bool
    gate: bool
    seed: Any
    progress: Progress

    @classmethod
    def of(
        cls,
        design: LabelDesign,
        targets: Targets,
        scale: TargetScale,
        validation: Targets | None,
        **options: Any,
    ) -> LabelProblem:
        """A problem from labels in their own units; ``options`` are the other attributes."""
        columns, nodes = _columns(targets, scale), np.flatnonzero(targets.labeled)
        validation_rows = None
        if validation is not None:
            at = np.flatnonzero(validation.labeled)
            validation_rows = (at, scale.to(validation.Y[at]), validation.weight[at])
        prior, Y, weight = scale.to(targets.prior), columns[nodes, :-1], targets.weight[nodes]
        labels = (columns, prior, nodes, Y, weight, targets, scale)
        return cls(design, *labels, validation_rows, **options)

    @cached_property
    def inputs(self) -> LabelInputs:
        """Views at every node, without its own label."""
        dtype = np.float32 if self.design.settings.weights == "mlp" else np.float64
        return self.view(self.columns, None, dtype=dtype, progress=self.progress)

    def view(self, columns: np.ndarray, nodes: np.ndarray | None, **options: Any) -> LabelInputs:
        """Views of any labels on the graph."""
        return self.design.views.inputs(columns, nodes, blank=self.prior, **options)

    @cached_property
    def node_scale(self) -> NodeScale:
        """How log degree and label mass are scaled if weights depend on them."""
        some = self.inputs.at(self.nodes)
        return NodeScale.of(self.design.node_columns(some, self.nodes))

    def on(self, design: LabelDesign, targets: Targets) -> LabelProblem:
        """The problem of the same model with other labels or another graph."""
        columns = _columns(targets, self.scale)
        return self._changed(design=design, columns=columns, targets=targets)

    def reweighted(self, design: LabelDesign) -> LabelProblem:
        """The same problem with other weights of the edges."""
        other = replace(self, design=design)
        other.node_scale  # noqa: B018  # of the new strengths, for all labels
        return other

    def in_units(self, scale: TargetScale) -> LabelProblem:
        """The problem with inputs in other units; classes have none."""
        if self.targets.task != "regression":
            return self
        return self._changed(columns=_columns(self.targets, scale))

    def without(self, nodes: np.ndarray) -> LabelProblem:
        """The problem of the other training nodes.

        Labels of ``nodes`` are neither inputs nor targets, and have no part in the prior and the
        units either.
        """
        kept = self.nodes[~np.isin(self.nodes, nodes)]
        targets = self.targets.only(kept)
        scale = TargetScale.of(targets) if len(kept) else self.scale
        columns, validation = _columns(targets, scale), self.validation
        if validation is not None:
            at, Y, weight = validation
            validation = (at, scale.to(self.scale.back(Y)), weight)
        return self._changed(
            columns=columns,
            prior=scale.to(targets.prior) if len(kept) else self.prior,
            nodes=kept,
            Y=columns[kept, :-1],
            weight=targets.weight[kept],
            targets=targets,
            scale=scale,
            validation=validation,
        )

    def _changed(self, **fields: Any) -> LabelProblem:
        other = replace(self, **fields)
        if "node_scale" in self.__dict__ or self.gate:
            other.__dict__["node_scale"] = self.node_scale
        return other

    def oof_inputs(self, seen: LabelProblem, nodes: np.ndarray) -> LabelInputs:
        """Inputs of nodes that the problem ``seen`` was made without, in its units.

        They see all labels but their own, with the prior of ``seen`` where they see none.
        """
        inputs = self.in_units(seen.scale).inputs.at(nodes)
        values = inputs.values.copy()
        if self.design.views.normalize:
            values[~inputs.reached] = seen.prior
        return replace(inputs, values=values)

    def oof_predictions(self, seen: LabelProblem, nodes: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Predictions of nodes by weights that were trained on ``seen``, in the units of ``y``.

        Nodes that no label reaches get the mean of the other labels if views are not normalized.
        """
        inputs = self.oof_inputs(seen, nodes)
        rows = apply_link(self.matrix(inputs, nodes) @ W, self.link)
        if not self.design.views.normalize:
            rows[~inputs.reached.any(axis=1)] = seen.prior
        return seen.scale.back(rows)

    def oof_score(self, rows: np.ndarray) -> float:
        """Score of predictions of the training nodes in the units of ``y``."""
        truth = self.targets.Y[self.nodes]
        return metrics.score(self.targets.task, truth, rows, self.weight)

    def in_key_order(self) -> LabelProblem:
        """The problem with the training nodes in an order that does not depend on their numbers."""
        nodes = in_order(self.targets, self.nodes)
        at = np.searchsorted(self.nodes, nodes)
        other = replace(self, nodes=nodes, Y=self.Y[at], weight=self.weight[at])
        other.__dict__.update(inputs=self.inputs, node_scale=self.node_scale)
        return other

    def folds(self, n_folds: int = N_FOLDS, seed: int = 0) -> np.ndarray:
        """The fold of each training node."""
        return draw_folds(self.targets, self.nodes, n_folds, seed)

    def matrix(self, inputs: LabelInputs, rows: np.ndarray | None) -> np.ndarray:
        """Design matrix of some inputs."""
        Z = self.design.matrix(inputs, rows, self.node_scale if self.gate else None)
        if not self.constant:
            return Z
        return np.concatenate([Z, np.ones((len(Z), 1), Z.dtype)], axis=1)

    def rows(self, nodes: np.ndarray | None) -> np.ndarray:
        """Design matrix of some nodes; None means all."""
        return self.matrix(self.inputs if nodes is None else self.inputs.at(nodes), nodes)

    def start(self) -> np.ndarray:
        """The weights of plain label propagation."""
        unit = self.design.start(self.Y.shape[1], self.gate)
        if self.constant:
            unit = np.concatenate([unit, np.zeros((1, self.Y.shape[1]))])
        return unit

    def pull(self, ridge: float) -> np.ndarray:
        """The ridge on the weights of each input, (inputs, 1); almost 0 for the constant."""
        each = np.full((len(self.start()), 1), ridge)
        if self.constant:
            each[-1] = min(ridge, 1e-6)
        return each

    def reached(self) -> np.ndarray:
        """Mask of the nodes that some label other than their own reaches."""
        return np.asarray(self.inputs.reached.any(axis=1))

    def validation_scorer(self) -> Callable[[np.ndarray], float]:
        """Weights → score of the validation nodes."""
        assert self.validation is not None
        nodes, truth, weight = self.validation
        V, task, link = self.rows(nodes), self.targets.task, self.link
        return lambda W: metrics.score(task, truth, apply_link(V @ W, link), weight)


def _columns(targets: Targets, scale: TargetScale) -> np.ndarray:
    """Labels and mass. Every label is an input with weight 1: sample weights are for the loss."""
    known = targets.labeled.astype(np.float64)
    return label_columns(scale.to(targets.Y), known)
