"""`GNN`: graph networks of PyTorch Geometric with the stochastic label trick."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_damping, check_share, warn_caller
from ..._utils.feature_tables import FeatureScale, settle_scale
from ..._utils.progress import Progress, ProgressBar
from ...graph.node_keys import renumbered
from ...graph.normalized import inverse_permutation
from ...graph.stored.graph import StoredGraph
from ..base.draws import in_order
from ..base.folds import draw_folds
from ..base.node_inputs import NodeInputs
from ..base.trained import TrainedEstimator

if TYPE_CHECKING:
    from ...nn.epochs import Training

_FOLDS = 5  # labeled nodes are predicted in five passes, each without a fifth of the labels


@dataclass(eq=False, repr=False)
class GNN(TrainedEstimator):
    """Graph network with labels beside the features (paper, eq. 2).

    Parameters
    ----------
    backbone : {"gcn", "sage", "gat", "gin", "appnp"}, default="gcn"
        The network, from torch_geometric.
    label_trick : {"stochastic", None}, default="stochastic"
        "stochastic" uses a fresh random part of the labels as inputs in each epoch, and the others
        as targets. None uses features only. (The deterministic label trick needs linear
        propagation; see `SGC`, `SIGN` and `TWIRLS`.)
    split_rate : float, default=0.5
        α, the share of the labels that are inputs with the stochastic label trick.
    rescale : bool or "auto", default="auto"
        Whether to multiply the labels of a split by 1/α, so that their expected sum equals that of
        inference. "auto" does so unless ``n_reuse`` > 0.
    combine : {"concat", "add"}, default="concat"
        "concat" appends the label columns to the features. "add" adds a learned linear map of them.
    n_reuse : int, default=0
        Number of further passes that also receive the soft predictions of the nodes whose labels
        are not inputs (label reuse).
    scale : {"auto", "columns", "global", False}, default="auto"
        Scaling of the features. "columns" gives each column mean 0 and standard deviation 1,
        "global" divides all of them by one number, and False leaves them as they are. "auto" is
        "global" for sparse and "columns" for dense features.
    hidden : int, default=256
        Width of the hidden layers.
    n_layers : int, default=2
        Number of layers.
    dropout : float, default=0.5
        Dropout rate of the hidden layers.
    damping : float, default=0.9
        λ in (0, 1) of the propagation of "appnp".
    n_steps : int, default=10
        Number of propagation steps of "appnp".
    learning_rate : float, default=0.01
        Learning rate of Adam.
    weight_decay : float, default=5e-4
        L2 penalty of Adam.
    max_epochs : int, default=300
        Largest number of epochs.
    patience : int, default=50
        Number of epochs without a better score after which training ends.
    validation_fraction : float, default=0.1
        Share of the labeled nodes that choose the best epoch if `fit` gets no validation nodes.
        Their labels are not targets, but predictions use them as inputs.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" weighs classes by the inverse of their frequency.
    calibrate : bool, default=True
        Whether `predict_proba` is calibrated on validation nodes or, without any, on out-of-fold
        predictions. The calibration is fitted on first use; `predict` does not depend on it.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        The kind of labels. "auto" infers it from the type and shape of ``y``; floats with a
        fractional part mean regression.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of all random draws.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Attributes
    ----------
    network_ : nn.Module
        The trained network.
    history_ : list of (int, float, float)
        Epoch, loss and validation score of each epoch.
    best_epoch_ : int
        The epoch whose weights were kept.
    n_iter_ : int
        Number of epochs run.
    oof_proba_ : ndarray of shape (m, c)
        Probabilities of the labeled nodes, in the order of ``labeled_``, made without their own
        labels; not calibrated.
    oof_prediction_ : ndarray of shape (m,) or (m, c)
        Predictions of the labeled nodes made without their own labels.
    oof_score_ : float
        Accuracy, or R² for regression, of these predictions.
    labeled_ : ndarray of int
        Numbers of the labeled nodes whose labels are inputs.
    validation_ : ndarray of int
        Numbers of the validation nodes.
    classes_ : ndarray
        Classes in ascending order; only for classification.
    prior_ : ndarray of shape (c,)
        Class shares or mean target of the labeled nodes.
    calibration_ : Calibration
        How probabilities are calibrated, with the calibration error before and after.

    See Also
    --------
    nn.LabelTrick : The same label trick around any network.

    Notes
    -----
    Needs the extra ``pyg``. All nodes are one batch, and sparse features are made dense. `predict`
    never shows a labeled node its own label: each fifth of them is predicted in a pass without the
    labels of that fifth. The labels that choose an epoch or score out-of-fold predictions are
    neither targets nor inputs of the network.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import GNN, Graph
    >>> graph = Graph.from_edges(range(59), range(1, 60))
    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]
    >>> GNN("gcn", hidden=16, max_epochs=20).fit(X, y, graph=graph).predict_proba().shape
    (60, 3)
    """

    _tricks = (None, "stochastic")

    backbone: str = "gcn"
    _: KW_ONLY
    label_trick: str | None = "stochastic"
    split_rate: float = 0.5
    rescale: bool | str = "auto"
    combine: str = "concat"
    n_reuse: int = 0
    scale: str | bool = "auto"
    hidden: int = 256
    n_layers: int = 2
    dropout: float = 0.5
    damping: float = 0.9
    n_steps: int = 10
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    max_epochs: int = 300
    patience: int = 50
    validation_fraction: float = 0.1
    class_weight: Any = None
    calibrate: bool = True
    task: str = "auto"
    random_state: Any = 0
    progress: Progress = None

    # -- inputs ---------------------------------------------------------------------------
    def _prepare(self) -> None:
        from ...nn.backbones import BACKBONES

        check_choice("backbone", self.backbone, BACKBONES)
        check_choice("combine", self.combine, ("concat", "add"))
        check_choice("rescale", self.rescale, ("auto", True, False))
        check_count("n_reuse", self.n_reuse)
        check_count("n_steps", self.n_steps)
        check_damping(self.damping)
        if self.graph_.weights is not None and self.backbone in ("sage", "gat", "gin"):
            warn_caller(f"backbone={self.backbone!r} ignores edge weights. Use 'gcn' or 'appnp'.")
        X = _dense(self.features_)
        self._feature_scale = FeatureScale.of(X, settle_scale(self.scale, self.features_))
        self._tensors_of(self.fitted_inputs)

    def _tensors_of(self, inputs: NodeInputs) -> tuple[Any, Any]:
        """Features and adjacency; those of the fit are kept."""
        if inputs.X is not self.features_ or inputs.graph is not self.graph_:
            return self._tensors(inputs)
        return self._once_in_any_units("tensors", lambda: self._tensors(inputs))

    def _tensors(self, inputs: NodeInputs) -> tuple[Any, Any]:
        import torch

        from ...nn.backbones import adjacency_for

        x = torch.from_numpy(self._feature_scale.apply(_dense(inputs.X)))
        return x, adjacency_for(
            self.backbone, inputs.graph, damping=self.damping, n_steps=self.n_steps
        )

    def _ordered_tensors(self) -> tuple[np.ndarray, Any, Any]:
        """(order of the nodes, tensors of the fit in that order), except on disk."""

        def make() -> tuple[np.ndarray, Any, Any]:
            graph, order = self.graph_, np.arange(self.graph_.n_nodes)
            if not isinstance(graph, StoredGraph):
                order = in_order(self.targets_, order)
                graph = renumbered(graph, order)
            inputs = NodeInputs(self.targets_, graph, _dense(self.features_)[order])
            return order, *self._tensors(inputs)

        return self._once_in_any_units("ordered", make)

    def _labels(self, inputs: NodeInputs) -> Any:
        """Labels in the form that `LabelTrick` takes."""
        import torch

        if inputs.targets.task == "classification":
            return torch.from_numpy(inputs.targets.codes)
        return torch.from_numpy(self._target_scale.inputs(inputs.targets).astype(np.float32))

    # -- training -------------------------------------------------------------------------
    def _network(self, n_outputs: int) -> Any:
        from ...nn.backbones import build_backbone
        from ...nn.label_trick import LabelTrick

        wide = self.label_trick is not None and self.combine == "concat"
        n_inputs = self.n_features_in_ + (n_outputs if wide else 0)
        model = build_backbone(
            self.backbone,
            n_inputs,
            n_outputs,
            hidden=check_count("hidden", self.hidden, 1),
            n_layers=check_count("n_layers", self.n_layers, 1),
            dropout=check_share("dropout", self.dropout),
        )
        if self.label_trick is None:
            return model
        return LabelTrick(
            model,
            n_outputs,
            split_rate=self.split_rate,
            rescale=self.rescale,
            combine=self.combine,
            n_features=self.n_features_in_,
            n_reuse=self.n_reuse,
            task=self.targets_.task,
        )

    def _train(
        self, nodes: np.ndarray, validation: np.ndarray, seed: int, bar: ProgressBar
    ) -> tuple[Any, Training]:
        import torch

        nodes = in_order(self.targets_, nodes)
        # In an order that does not depend on the numbering of the nodes: dropout and splits of
        # the labels are drawn row by row.
        order, x, adjacency = self._ordered_tensors()
        y = self._labels(self.fitted_inputs)[torch.from_numpy(order)]
        train = torch.from_numpy(self._training_inputs(nodes).targets.labeled[order])
        place = inverse_permutation(order)
        places = place[nodes]
        at, everyone = torch.from_numpy(places), np.arange(len(nodes))

        def draw(network: Any) -> tuple[Any, np.ndarray]:
            if self.label_trick is None:
                return network(x, adjacency)[at], everyone
            scores, out = network.step(x, adjacency, y=y, train=train)
            chosen = everyone[out.numpy()[places]]
            return scores[at[chosen]], chosen

        return self._train_whole(
            self._network,
            draw,
            self.graph_.n_nodes,
            nodes,
            validation,
            lambda network: self._forward(network, x, adjacency, y, train)[place[validation]],
            seed,
            bar,
        )

    def _forward(self, network: Any, x: Any, adjacency: Any, y: Any, train: Any) -> np.ndarray:
        from ...nn.training import whole_rows

        labels = {} if self.label_trick is None else {"y": y, "train": train}
        return whole_rows(network, lambda: network(x, adjacency, **labels), self._link)

    def _network_rows(self, network: Any, inputs: NodeInputs) -> np.ndarray:
        import torch

        x, adjacency = self._tensors_of(inputs)
        y, labeled = self._labels(inputs), inputs.targets.labeled
        rows = self._forward(network, x, adjacency, y, torch.from_numpy(labeled))
        if self.label_trick is None:
            return rows
        known = np.flatnonzero(labeled)
        fold = draw_folds(inputs.targets, known, _FOLDS, 0)
        for k in np.unique(fold):
            mine = known[fold == k]
            others = labeled.copy()
            others[mine] = False
            train = torch.from_numpy(others)
            rows[mine] = self._forward(network, x, adjacency, y, train)[mine]
        return rows


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if hasattr(X, "tocsr") else np.asarray(X)
