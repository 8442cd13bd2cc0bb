"""Base of `SGC` and `SIGN`: propagate once, then train on the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.checks import check_count
from ..._utils.feature_tables import SparseTable
from ..._utils.progress import ProgressBar
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ..base.draws import draw_split, in_order
from ..base.node_inputs import NodeInputs
from ..base.trained import TrainedEstimator
from .rows import PropagatedRows, RowTable, rows_of

if TYPE_CHECKING:
    from ...nn.epochs import Training


class RowWise(TrainedEstimator):
    """Base: rows [P·X, (P−C)·Y_tr] are made once; a perceptron is trained on them in batches."""

    batch_size: int | None

    # -- defined by subclasses ------------------------------------------------------------
    def _propagation(self, graph: Graph) -> Propagation:
        raise TypeError(f"{type(self).__name__} must define _propagation.")

    def _head(self) -> dict[str, Any]:
        """Options of the `MLP` on the rows."""
        raise TypeError(f"{type(self).__name__} must define _head.")

    # -- rows -----------------------------------------------------------------------------
    def _prepare(self) -> None:
        self._head()  # raises errors before any work is done
        if self.batch_size is not None:
            check_count("batch_size", self.batch_size, 2)
        self._rows  # noqa: B018  (raises errors about features)

    @property
    def _rows(self) -> PropagatedRows:
        return rows_of(self)

    def _label_size(self, inputs: NodeInputs) -> float:
        """The divisor of the label columns.

        It depends only on the labels that a network is trained with: otherwise it would reveal
        others.
        """
        if self.label_trick is None:
            return 1.0
        # Over all nodes: the labeled ones may see no labels.
        size = float(np.sqrt(np.mean(np.square(self._rows.labels(inputs)))))
        return size if size > 0 else 1.0

    def _table(self, inputs: NodeInputs, label_size: float) -> RowTable | SparseTable:
        view = None if self.label_trick is None else self._rows.labels(inputs)
        return self._rows.table(inputs, view, label_size)

    # -- training -------------------------------------------------------------------------
    def _train(
        self, nodes: np.ndarray, validation: np.ndarray, seed: int, bar: ProgressBar
    ) -> tuple[Any, Training]:
        import torch

        from ...nn.mlp import MLP
        from ...nn.training import RowData, train_rows

        rng, nodes = np.random.default_rng(seed), in_order(self.targets_, nodes)
        given = self._training_inputs(nodes)
        label_size = self._label_size(given)
        rows = self._table(given, label_size)
        Y, weight = self._target_rows(nodes)
        validation_rows = (
            RowData(rows[validation], *self._target_rows(validation)) if len(validation) else None
        )
        if len(nodes) < 2:  # batch norm and batches need two
            nodes, Y, weight = (
                np.resize(part, (2, *part.shape[1:])) for part in (nodes, Y, weight)
            )
        inputs, everyone = rows[nodes], np.arange(len(nodes))

        def draw() -> tuple[Any, np.ndarray]:
            if self.label_trick != "stochastic":
                return inputs, everyone
            return self._random_rows(nodes, given, label_size, rng)

        options = self._training_options(batch_size=self.batch_size)
        with torch.random.fork_rng(devices=[]):  # keeps the caller's random state
            torch.manual_seed(int(rng.integers(2**31)))
            words = isinstance(rows, SparseTable)
            network: Any = MLP(rows.shape[1], Y.shape[1], words=words, **self._head())
            network.label_size = label_size
            generator = torch.default_generator
            training = train_rows(
                network, draw, Y, weight, validation_rows, self._link, options, generator, bar
            )
        return network, training

    def _random_rows(
        self, nodes: np.ndarray, given: NodeInputs, label_size: float, rng: np.random.Generator
    ) -> tuple[Any, np.ndarray]:
        """Rows with P·Y_in/α of a fresh split, and the places of its targets (paper, eq. 7)."""
        split = draw_split(given.targets, self.split_rate, rng)
        view = self._rows.random_labels(split.in_mask, self.split_rate)
        rows = self._rows.table(self.fitted_inputs, view, label_size)[nodes]
        return rows, np.flatnonzero(split.out_mask[nodes])

    def _network_rows(self, network: Any, inputs: NodeInputs) -> np.ndarray:
        from ...nn.training import predict_rows

        return predict_rows(network, self._table(inputs, network.label_size), self._link)
