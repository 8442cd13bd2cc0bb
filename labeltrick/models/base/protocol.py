"""What an estimator offers to the code around it: the search, the automatic model, the runs of the
command line and the leak tests. `GraphEstimator` provides all of it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..._utils.targets import Targets
from ...evaluation.calibration import Calibration
from ...graph.graph import Graph
from .node_inputs import NodeInputs


class NodeEstimator(Protocol):
    """A fitted estimator of nodes, beyond scikit-learn's ``fit`` and ``predict``.

    Attributes
    ----------
    targets_, labeled_ : the labels that are inputs, and their nodes.
    validation_targets_, validation_ : the labels that only choose, and their nodes.
    graph_ : the graph of the fit.
    sees_own_label : whether the prediction of a labeled node depends on its own label.
    uses_types : whether types of edges and nodes are used.
    has_oof : whether there are out-of-fold rows.
    oof_rows_ : scores of the labeled nodes, each made without its own label.
    calibration_ : how scores become probabilities.
    fitted_inputs : labels, graph and features of the fit.
    """

    targets_: Targets
    validation_targets_: Targets
    labeled_: np.ndarray
    validation_: np.ndarray
    graph_: Graph
    sees_own_label: bool
    uses_types: bool

    @property
    def has_oof(self) -> bool: ...
    @property
    def oof_rows_(self) -> np.ndarray: ...
    @property
    def calibration_(self) -> Calibration: ...
    @property
    def fitted_inputs(self) -> NodeInputs: ...

    def inputs_of(self, X: Any, y: Any, graph: Graph | None) -> NodeInputs:
        """Labels, graph and features to predict from: those of the fit unless given."""

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        """One row of scores per node, before calibration."""
