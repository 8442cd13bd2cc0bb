"""Predictions by the blend of `AutoModel`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._utils.targets import Targets
from ..base.folds import nodes_by_fold
from ..base.node_inputs import NodeInputs, nodes_of_fit
from ..base.weights import tidy
from .blend import mixed, residual_views
from .choosing import LABELS_ALONE, label_rows, views_at
from .few_labels import mass_nearby, trust_in_labels, without_labels_alone


class BlendedRows:
    """Base of `AutoModel`, which predicts all nodes from any labels."""

    uses_validation_labels = True

    @property
    def _known_targets(self: Any) -> Targets:
        """All labels of the fit. Those of validation nodes only choose while it learns; then they
        are inputs like the others."""
        if not len(self.validation_):
            return self.targets_
        args = (self.validation_targets_, self.class_weight)
        return self._once("all labels", lambda: self.targets_.joined(*args))

    @property
    def _default_inputs(self: Any) -> NodeInputs:
        return replace(self.fitted_inputs, targets=self._known_targets)

    def scores_of(self: Any, inputs: NodeInputs) -> np.ndarray:
        if self._dropout.hides_all:  # they were never inputs in training
            inputs = replace(inputs, targets=inputs.targets.only(np.zeros(0, np.int64)))
        rows = self._blended(inputs, self.shares_)
        if self._dropout.share and LABELS_ALONE in self.shares_:
            trust = self._trust_in_labels(inputs)[:, None]
            if (trust < 1).any():
                names = (each.name for each in self._taking_part)
                rest = self._blended(inputs, without_labels_alone(self.shares_, names))
                rows = trust * rows + (1 - trust) * rest
        return self._corrected(rows, inputs)

    def _corrected(self: Any, rows: np.ndarray, inputs: NodeInputs) -> np.ndarray:
        """Rows with the residuals of nearby nodes, which belong to the nodes of the fit: on another
        graph, names say which these are."""
        if self._correction is None:
            return rows
        damping = self._correction.damping  # self-weights are computed once, by saved models too
        if inputs.graph is self.graph_ or inputs.graph == self.graph_:
            views = self._once("residual views", lambda: residual_views(self.graph_, damping))
            return self._correction.apply(rows, inputs, views)
        at = inputs.of_fit
        at = nodes_of_fit(self.graph_, inputs.graph) if at is None else at
        if at is None or (at < 0).all():
            return rows
        return self._correction.moved(at).apply(rows, inputs)

    def _blended(self: Any, inputs: NodeInputs, shares: dict[str, float]) -> np.ndarray:
        blocks = self._maker.blocks(inputs)
        if blocks is None:
            return self._mixed(
                shares, inputs.targets.task, lambda name: self._rows_of(name, inputs)
            )
        return self._blended_by_blocks(inputs, shares, blocks)

    def _mixed(
        self: Any, shares: dict[str, float], task: str, rows_of: Callable[[str], np.ndarray]
    ) -> np.ndarray:
        parts = [self._calibrations[name].apply(rows_of(name), task) for name in shares]
        return tidy(mixed(parts, list(shares.values())), task)

    def _blended_by_blocks(
        self: Any, inputs: NodeInputs, shares: dict[str, float], blocks: list[np.ndarray]
    ) -> np.ndarray:
        """The same, some nodes at a time."""
        by_row = {each.name: each for each in self._learners if each.learner.by_row}
        whole = {name: self._rows_of(name, inputs) for name in shares if name not in by_row}
        out = np.empty(inputs.targets.Y.shape)

        def rows_at(nodes: np.ndarray, name: str) -> np.ndarray:
            if name in whole:
                return whole[name][nodes]
            return np.mean(self._maker.parts(by_row[name], inputs, None, nodes), axis=0)

        self._maker.forget()
        try:
            for nodes in blocks:
                self._maker.keep_only(inputs, nodes)
                out[nodes] = self._mixed(shares, inputs.targets.task, partial(rows_at, nodes))
        finally:
            self._maker.forget()
        return out

    def _trust_in_labels(self: Any, inputs: NodeInputs) -> np.ndarray:
        known, lam = self._dropout.shown(self.targets_), self._damping
        usual = self._once("mass", lambda: mass_nearby(lam, self.graph_, known, self.labeled_))
        return trust_in_labels(mass_nearby(lam, inputs.graph, inputs.targets), usual)

    @property
    def oof_rows_(self: Any) -> np.ndarray:
        return self._oof_rows

    def _rows_of(self: Any, name: str, inputs: NodeInputs) -> np.ndarray:
        """Predictions by one learner or by label propagation; no node sees its own label."""
        if name == LABELS_ALONE:
            views = views_at(self._damping, inputs.graph)
            return label_rows(views, inputs.targets, self.prior_)
        fitted = next(each for each in self._learners if each.name == name)
        return self._maker.rows(fitted, inputs, self._folds_of(inputs, fitted.n_folds))

    def _folds_of(self: Any, inputs: NodeInputs, n_folds: int) -> list[np.ndarray] | None:
        """The labeled nodes that each member is not shown, on the graph of the fit: those of its
        fold there, and a part of those whose labels it has not learned from."""
        if inputs.graph is not self.graph_:
            return None
        known, seed = inputs.targets, self._maker.seed
        more = known.only(np.flatnonzero(known.labeled & ~self.targets_.labeled))
        learned, others = (nodes_by_fold(some, n_folds, seed) for some in (self.targets_, more))
        return [np.concatenate([mine[known.labeled[mine]], new])
                for mine, new in zip(learned, others, strict=True)]  # fmt: skip
