"""`SGC` and `SIGN`: propagate once, then train on the rows as on any table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_share
from ..._utils.feature_tables import SparseTable
from ..._utils.progress import Progress, ProgressBar
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.hops import Hops
from ...propagation.polynomials import HopSum, Power
from ..base.draws import draw_split, in_order
from ..base.node_inputs import NodeInputs
from ..base.trained import TrainedEstimator
from .rows import PropagatedRows, RowTable, rows_of

if TYPE_CHECKING:
    from ...nn.epochs import Training


class RowWise(TrainedEstimator):
    """Base: rows [P·X, (P−C)·Y_tr] are made once; a perceptron is trained on them in
    mini-batches."""

    n_steps: int
    norm: str
    self_loops: bool
    batch_size: int | None

    # -- what subclasses say --------------------------------------------------------------
    def _propagation(self, graph: Graph) -> Propagation:
        raise TypeError(f"{type(self).__name__} must define _propagation.")

    def _head(self) -> dict[str, Any]:
        """Options of the `MLP` on the rows."""
        raise TypeError(f"{type(self).__name__} must define _head.")

    # -- rows -----------------------------------------------------------------------------
    def _prepare(self) -> None:
        self._head()  # wrong parameters are told before any work is done
        if self.batch_size is not None:
            check_count("batch_size", self.batch_size, 2)
        self._rows  # noqa: B018  (features that will not do are told now)

    @property
    def _rows(self) -> PropagatedRows:
        return rows_of(self)

    def _label_size(self, inputs: NodeInputs) -> float:
        """What label columns are divided by. Of the labels that a network is trained with: a
        size that knew those left out would tell of them."""
        if self.label_trick is None:
            return 1.0
        # Over all nodes: among labeled ones alone there may be nothing to see.
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
        with torch.random.fork_rng(devices=[]):  # leaves the caller's random state alone
            torch.manual_seed(int(rng.integers(2**31)))
            words = isinstance(rows, SparseTable)
            network: Any = MLP(rows.shape[1], Y.shape[1], words=words, **self._head())
            network.label_size = label_size  # goes where the network goes
            generator = torch.default_generator
            training = train_rows(
                network, draw, Y, weight, validation_rows, self._link, options, generator, bar
            )
        return network, training

    def _random_rows(
        self, nodes: np.ndarray, given: NodeInputs, label_size: float, rng: np.random.Generator
    ) -> tuple[Any, np.ndarray]:
        """Rows with P·Y_in/α of a fresh split, and the places of its targets (eq. 8)."""
        split = draw_split(given.targets, self.split_rate, rng)
        view = self._rows.random_labels(split.in_mask, self.split_rate)
        rows = self._rows.table(self.fitted_inputs, view, label_size)[nodes]
        return rows, np.flatnonzero(split.out_mask[nodes])

    def _network_rows(self, network: Any, inputs: NodeInputs) -> np.ndarray:
        from ...nn.training import predict_rows

        return predict_rows(network, self._table(inputs, network.label_size), self._link)


class SGC(RowWise):
    """Simplified graph convolution with labels beside the features (paper, section 4.2).

    One linear layer on rows [S^K X, (S^K − C) Y_tr], C = diag(S^K): each node sees its
    neighbors' labels, never its own.

    Parameters
    ----------
    n_steps : K.
    norm, self_loops : of S; see `Graph.normalized`.
    label_trick : "deterministic": self-excluded labels beside the features; "stochastic": labels
        of a fresh random part of the nodes, scaled by 1/α, train the rest in each epoch; None:
        features alone.
    split_rate : α of "stochastic".
    scale : of the propagated features. "columns": mean 0 and spread 1 each; "global": all divided
        by one number; False: as they are; "auto": "global" for sparse, "columns" for dense.
    learning_rate, weight_decay, max_epochs, batch_size : of Adam, whose weights are averaged over
        an epoch; batches of a twentieth of the targets (32 to 1024) if None.
    patience : epochs without a better score after which training ends.
    validation_fraction : share of the labeled nodes that choose the best epoch if no
        validation nodes are given. Their labels are not trained on; predictions use them.
    class_weight, calibrate, task, random_state, progress : as for `TrainableLabelPropagation`.

    Attributes
    ----------
    network_ : the trained torch module on rows.
    history_, best_epoch_, n_iter_ : (epoch, loss, score) of each epoch; the one that was kept.
    oof_proba_, oof_prediction_, oof_score_ : of the labeled nodes without their own label, by
        networks that were not trained on it either (five more trainings, when first asked for).
    labeled_, classes_, prior_, calibration_ : as for `LabelPropagation`.

    Notes
    -----
    Needs torch. NaN in X, a wrong number of rows and no X at all are errors; constant columns
    are left out of account. Training that diverges is an error that names the learning rate; the
    weights of the best epoch are kept. O(K·edges·columns) once, then O(n·columns) an epoch.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> src, dst = rng.integers(0, 200, (2, 4000))
    >>> same = y[src] == y[dst]
    >>> graph = Graph.from_edges(src[same], dst[same])
    >>> X = y[:, None] + rng.normal(size=(200, 5))
    >>> model = SGC(n_steps=2).fit(X, np.where(rng.random(200) < 0.3, y, -1), graph=graph)
    >>> float(model.score(None, y)) > 0.95
    True
    """

    def __init__(
        self,
        n_steps: int = 3,
        *,
        norm: str = "sym",
        self_loops: bool = True,
        label_trick: str | None = "deterministic",
        split_rate: float = 0.5,
        scale: str | bool = "auto",
        learning_rate: float = 0.01,
        weight_decay: float = 1e-4,
        max_epochs: int = 100,
        patience: int = 20,
        batch_size: int | None = None,
        validation_fraction: float = 0.1,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: Any = 0,
        progress: Progress = None,
    ) -> None:
        self.n_steps = n_steps
        self.norm = norm
        self.self_loops = self_loops
        self.label_trick = label_trick
        self.split_rate = split_rate
        self.scale = scale
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.max_epochs = max_epochs
        self.patience = patience
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> SGC:
        """Propagate features and labels once, then train on the rows of the labeled nodes.

        ``X``: features of all nodes, dense or sparse. Missing labels in ``y``: −1, None or NaN.
        ``validation`` (numbers or a mask) are labeled nodes that tell the best epoch; their
        labels are never inputs. ``sample_weight`` weighs the loss.
        """
        return self._fit(X, y, graph, sample_weight, validation)

    def _propagation(self, graph: Graph) -> Propagation:
        return Power(graph, self.n_steps, norm=self.norm, self_loops=self.self_loops)

    def _head(self) -> dict[str, Any]:
        return {"n_layers": 1}


class SIGN(RowWise):
    """SIGN with labels beside the features: a perceptron on hops of both.

    Parameters
    ----------
    n_steps : K; hops 0 to K.
    hops : "sum": Σ_k S^k as in the paper; "concat": every hop in columns of its own, as in the
        original, with self-exclusion hop by hop.
    hidden, n_layers, dropout : of the perceptron; one layer is a linear map.
    hidden_norm : of its hidden layers, "layer" or "batch". Not "batch" with the deterministic
        label trick: the mean of a batch would carry a label past its own exclusion.
    weight_decay : None for 10 to the number of labels, at most 1e-3: the penalty of the sum of
        the losses then is the same for any number of them.
    max_epochs, patience : None for 20 epochs, or as many as make 400 steps where the labels are
        few; and for half of that.
    others : as for `SGC`, attributes and errors too.

    Examples
    --------
    >>> graph = Graph.from_edges(range(59), range(1, 60))
    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]
    >>> SIGN(2, hops="concat", max_epochs=20).fit(X, y, graph=graph).predict_proba().shape
    (60, 3)
    """

    def __init__(
        self,
        n_steps: int = 5,
        *,
        hops: str = "sum",
        norm: str = "sym",
        self_loops: bool = True,
        label_trick: str | None = "deterministic",
        split_rate: float = 0.5,
        scale: str | bool = "auto",
        hidden: int = 256,
        n_layers: int = 2,
        dropout: float = 0.5,
        hidden_norm: str = "layer",
        learning_rate: float = 0.006,
        weight_decay: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        batch_size: int | None = None,
        validation_fraction: float = 0.1,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: Any = 0,
        progress: Progress = None,
    ) -> None:
        self.n_steps = n_steps
        self.hops = hops
        self.norm = norm
        self.self_loops = self_loops
        self.label_trick = label_trick
        self.split_rate = split_rate
        self.scale = scale
        self.hidden = hidden
        self.n_layers = n_layers
        self.dropout = dropout
        self.hidden_norm = hidden_norm
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.max_epochs = max_epochs
        self.patience = patience
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> SIGN:
        """As for `SGC`."""
        return self._fit(X, y, graph, sample_weight, validation)

    def _decay(self) -> float:
        if self.weight_decay is not None:
            return self.weight_decay
        return min(1e-3, 10 / len(self.labeled_))

    def _schedule(self) -> tuple[int, int]:
        from ...nn.training import n_batches

        steps = n_batches(len(self.labeled_), self.batch_size)
        epochs = max(20, 400 // steps)
        if self.max_epochs is not None:
            epochs = check_count("max_epochs", self.max_epochs, 1)
        patience = max(1, epochs // 2) if self.patience is None else self.patience
        return epochs, check_count("patience", patience, 1)

    def _propagation(self, graph: Graph) -> Propagation:
        check_choice("hops", self.hops, ("sum", "concat"))
        kind = HopSum if self.hops == "sum" else Hops
        return kind(graph, self.n_steps, norm=self.norm, self_loops=self.self_loops)

    def _head(self) -> dict[str, Any]:
        check_choice("hidden_norm", self.hidden_norm, ("layer", "batch"))
        if self.hidden_norm == "batch" and self.label_trick == "deterministic":
            raise ValueError(
                "`hidden_norm` must be 'layer' with the deterministic label trick; got 'batch', "
                "which would carry labels past their exclusion."
            )
        return {
            "norm": self.hidden_norm,
            "hidden": check_count("hidden", self.hidden, 1),
            "n_layers": check_count("n_layers", self.n_layers, 1),
            "dropout": check_share("dropout", self.dropout),
        }
