"""Rows of propagated features and self-excluded labels: the inputs of models on single nodes."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.feature_tables import FeatureScale, SparseTable, scaled_sparse, settle_scale
from ..._utils.progress import Progress
from ..._utils.targets import TargetScale
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.diagonal.self_weight import SelfWeight
from ...propagation.hops import Hops
from ...propagation.resolvent import Resolvent
from ...self_exclusion.label_trick import self_excluded
from ...self_exclusion.rounding import cut_residues, own_tolerance
from ..base.node_inputs import NodeInputs

TOL = 1e-6  # of self-weights on large problems


class PropagatedRows:
    """P·X, scaled, and (P−C)·Y_tr; those of the fit are computed once.

    P·X and C are shared with the rows `in_units` of other targets.

    Parameters
    ----------
    make : makes the propagation of a graph.
    fitted : labels, graph and features of the fit.
    target_scale : the units of labels in training.
    scale : scaling of the features; see `SGC`.
    """

    def __init__(
        self,
        make: Callable[[Graph], Propagation],
        fitted: NodeInputs,
        target_scale: TargetScale,
        scale: str | bool,
        progress: Progress,
    ) -> None:
        self.make, self.fitted, self.progress = make, fitted, progress
        self.P = make(fitted.graph)
        self.n_steps = getattr(self.P, "n_steps", None)
        self.target_scale = target_scale
        self._raw = self._spread(fitted)
        self.feature_scale = FeatureScale.of(self._raw, settle_scale(scale, fitted.X))
        self._shared: dict[str, Any] = {}
        self._labels: np.ndarray | None = None

    def in_units(self, target_scale: TargetScale) -> PropagatedRows:
        """The same rows with labels in other units."""
        found = copy(self)
        found.target_scale, found._labels = target_scale, None
        return found

    def on(self, graph: Graph) -> Propagation:
        return self.P if graph is self.fitted.graph else self.make(graph)

    def _spread(self, inputs: NodeInputs) -> Any:
        """P·X; it stays sparse only if there are no steps."""
        X = inputs.X.astype(np.float32)
        if sp.issparse(X) and self.n_steps == 0:
            return sp.csr_array(X)
        return self.on(inputs.graph).apply(X, progress=self.progress)

    def _is_fitted(self, inputs: NodeInputs) -> bool:
        return inputs.X is self.fitted.X and inputs.graph is self.fitted.graph

    def features(self, inputs: NodeInputs) -> np.ndarray:
        """P·X of every node, scaled as in the fit."""
        if not self._is_fitted(inputs):
            return self.feature_scale.apply(filled(self._spread(inputs)))
        if "features" not in self._shared:
            self._shared["features"] = self.feature_scale.apply(filled(self._raw))
        return self._shared["features"]

    def table(
        self, inputs: NodeInputs, view: np.ndarray | None, label_size: float
    ) -> RowTable | SparseTable:
        """Scaled features beside label columns, computed for the rows that are read.

        Sparse features without label columns stay sparse if that is faster.
        """
        raw = self._raw if self._is_fitted(inputs) else self._spread(inputs)
        if view is None and sp.issparse(raw):
            sparse = scaled_sparse(raw, self.feature_scale)
            if sparse is not None:
                return sparse
        return RowTable(raw, self.feature_scale, view, label_size)

    def label_inputs(self, inputs: NodeInputs) -> np.ndarray:
        """Y_tr in the units of training; zero rows where no label is known."""
        return self.target_scale.inputs(inputs.targets)

    def labels(self, inputs: NodeInputs, self_weight: SelfWeight | None = None) -> np.ndarray:
        """(P−C)·Y_tr of every node."""
        fitted = self.fitted
        same = inputs.graph is fitted.graph and inputs.targets is fitted.targets
        if same and self._labels is not None:
            return self._labels
        train = np.flatnonzero(inputs.targets.labeled)
        P, Y = self.on(inputs.graph), self.label_inputs(inputs)
        if self_weight is None:
            self_weight = self._self_weight(inputs, P, train)
        options: dict[str, Any] = {"self_weight": self_weight, "progress": self.progress}
        precise = P.to_rounding() if isinstance(P, Resolvent) else P
        view = without_own_hop(P, self_excluded(precise, Y, train, **options), Y.shape[1])
        cut_residues(view, Y, train, float(self_weight.error_bound.max(initial=0.0)))
        if same:
            self._labels = view
        return view

    def labels_elsewhere(self, inputs: NodeInputs) -> np.ndarray:
        """P·Y_tr: what nodes without a label see; they have no own label to exclude."""
        P, Y = self.on(inputs.graph), self.label_inputs(inputs)
        return without_own_hop(P, P.apply(Y, progress=self.progress), Y.shape[1])

    def _self_weight(self, inputs: NodeInputs, P: Propagation, train: np.ndarray) -> SelfWeight:
        """C at the nodes; that of the fitted nodes is kept, because folds need it again."""
        known = self.fitted.targets.labeled
        if inputs.graph is not self.fitted.graph or not known[train].all():
            return P.self_weight(train, tol=own_tolerance(P, train, TOL), progress=self.progress)
        if "own" not in self._shared:
            nodes = np.flatnonzero(known)
            tol = own_tolerance(P, nodes, TOL)
            self._shared["own"] = P.self_weight(nodes, tol=tol, progress=self.progress)
        return self._shared["own"]

    def random_labels(self, in_mask: np.ndarray, split_rate: float) -> np.ndarray:
        """P·Y_in/α of every node, for the labels in the mask (paper, eq. 7)."""
        Y_in = self.label_inputs(self.fitted) * in_mask[:, None] / split_rate
        view = self.P.apply(Y_in.astype(np.float32), progress=False)
        return without_own_hop(self.P, view, Y_in.shape[1])


@dataclass(frozen=True)
class RowTable:
    """[P·X scaled, labels seen] as a table whose rows are computed when they are read.

    The propagated features may be a file larger than memory, and training reads a few rows at a
    time.
    """

    raw: Any  # array, or CSR matrix whose rows are made dense when read
    scale: FeatureScale
    view: np.ndarray | None
    label_size: float

    @property
    def shape(self) -> tuple[int, int]:
        n_labels = 0 if self.view is None else self.view.shape[1]
        return len(self), self.raw.shape[1] + n_labels

    def __len__(self) -> int:
        return self.raw.shape[0]

    def __getitem__(self, rows: Any) -> np.ndarray:
        features = self.scale.apply(filled(self.raw[rows]))
        if self.view is None:
            return features
        labels = (self.view[rows] / self.label_size).astype(np.float32)
        return np.concatenate([features, labels], axis=1)


def filled(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


def rows_of(estimator: Any) -> PropagatedRows:
    """Rows of the fit, computed on first use; saved models do not hold them."""
    e = estimator

    def make() -> PropagatedRows:
        arguments = (e._propagation, e.fitted_inputs, e._target_scale, e.scale, e.progress)
        return e._once_in_any_units("rows", lambda: PropagatedRows(*arguments))

    return e._once("rows", lambda: make().in_units(e._target_scale))


def without_own_hop(P: Propagation, view: np.ndarray, n_labels: int) -> np.ndarray:
    """All hops of `Hops` but the zeroth, which holds only own labels."""
    return view[:, n_labels:] if isinstance(P, Hops) else view
