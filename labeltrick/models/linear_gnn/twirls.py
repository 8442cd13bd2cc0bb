"""`TWIRLS`: unfolded energy steps between two perceptrons, trained end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.checks import check_count, check_share
from ..._utils.feature_tables import FeatureScale, settle_scale
from ..._utils.progress import Progress, ProgressBar
from ...graph.graph import Graph
from ...propagation.unfolded import Unfolded
from ...self_exclusion.rounding import own_tolerance
from ..base.draws import draw_split, in_order
from ..base.node_inputs import NodeInputs
from ..base.trained import TrainedEstimator
from .rows import TOL
from .twirls_inputs import GraphInputs, PropagatedInputs, Scorer

if TYPE_CHECKING:
    from ...nn.epochs import EpochScore, Training


class TWIRLS(TrainedEstimator):
    """TWIRLS with labels beside the features (paper, sections 4.2 and 5.2, eq. 14).

    h₁(𝒫 h₀([X, Y]) − 𝒞 h₀([X, Y]) + 𝒞 h₀([X, 0])): 𝒫 are K gradient steps on the energy
    ‖F − h₀‖² + λ·tr(Fᵀ L F), 𝒞 its diagonal, h₀ and h₁ perceptrons. A node's own label is
    swapped for none in its own row and nowhere else.

    Parameters
    ----------
    n_steps, smoothness, step_size, precondition, self_loops : K, λ and the steps; see `Unfolded`.
    label_trick : "deterministic" (the formula above), "stochastic" (a fresh random part of the
        labels in each epoch, the rest as targets) or None (features alone).
    hidden, n_before, n_after, dropout : width and linear layers of h₀ and h₁.
    scale : of the features; see `SGC`.
    others : as for `SGC`, attributes and errors too. All nodes are one batch.

    Examples
    --------
    >>> graph = Graph.from_edges(range(59), range(1, 60))
    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]
    >>> TWIRLS(hidden=16, max_epochs=20).fit(X, y, graph=graph).predict_proba().shape
    (60, 3)
    """

    def __init__(
        self,
        n_steps: int = 2,
        *,
        smoothness: float = 1.0,
        step_size: float | None = None,
        precondition: bool = True,
        self_loops: bool = True,
        label_trick: str | None = "deterministic",
        split_rate: float = 0.5,
        scale: str | bool = "auto",
        hidden: int = 128,
        n_before: int = 1,
        n_after: int = 1,
        dropout: float = 0.5,
        learning_rate: float = 0.01,
        weight_decay: float = 5e-4,
        max_epochs: int = 300,
        patience: int = 50,
        validation_fraction: float = 0.1,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: Any = 0,
        progress: Progress = None,
    ) -> None:
        self.n_steps = n_steps
        self.smoothness = smoothness
        self.step_size = step_size
        self.precondition = precondition
        self.self_loops = self_loops
        self.label_trick = label_trick
        self.split_rate = split_rate
        self.scale = scale
        self.hidden = hidden
        self.n_before = n_before
        self.n_after = n_after
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.max_epochs = max_epochs
        self.patience = patience
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
    ) -> TWIRLS:
        """As for `SGC`; every epoch is one step on all labeled nodes."""
        return self._fit(X, y, graph, sample_weight, validation)

    # -- inputs ---------------------------------------------------------------------------
    def _prepare(self) -> None:
        how = settle_scale(self.scale, self.features_)
        # Sparse features stay sparse: divided by one number at most, never centered.
        self._sparse = hasattr(self.features_, "tocsr")
        if self._sparse and how == "columns":
            raise ValueError(
                "`scale` must be 'global', False or 'auto' for sparse features; got 'columns', "
                "which would fill them."
            )
        if self._sparse:
            values = self.features_.data
            size = np.sqrt(np.mean(np.square(values), dtype=np.float64)) if len(values) else 0.0
            self._sparse_size = float(size) if how and size > 0 else 1.0
        else:
            self._feature_scale = FeatureScale.of(self.features_, how)
        # A linear h₀ commutes with P. Sparse features would fill up.
        self._propagates_once = self.n_before == 1 and not self._sparse
        self._tensors_of(self.fitted_inputs)

    def _propagation(self, graph: Graph) -> Unfolded:
        return Unfolded(
            graph,
            self.n_steps,
            smoothness=self.smoothness,
            step_size=self.step_size,
            precondition=self.precondition,
            self_loops=self.self_loops,
        )

    def _fitted_propagation(self) -> Unfolded:
        if "P" not in self._cache:
            self._cache["P"] = self._propagation(self.graph_)
        return self._cache["P"]

    def _tensors(self, inputs: NodeInputs) -> GraphInputs | PropagatedInputs:
        """What the network takes, with self-exclusion at every labeled node."""
        import torch

        same = inputs.graph is self.graph_
        P = self._fitted_propagation() if same else self._propagation(inputs.graph)
        labels: tuple[Any, ...] = ()
        C = np.zeros(0)
        if self.label_trick is not None:
            train = np.flatnonzero(inputs.targets.labeled)
            C = P.self_weight(train, tol=own_tolerance(P, train, TOL), progress=self.progress).value
            Y = self._target_scale.inputs(inputs.targets)
            labels = tuple(
                torch.from_numpy(part)
                for part in (Y.astype(np.float32), train, C.astype(np.float32))
            )
        given = GraphInputs(P, self._feature_tensor(inputs.X), *labels)
        if self._propagates_once:
            return PropagatedInputs.of(given, C, self.progress)
        return given

    def _feature_tensor(self, X: Any) -> Any:
        import torch

        if not self._sparse:
            dense = X.toarray() if hasattr(X, "tocsr") else X
            return torch.from_numpy(self._feature_scale.apply(dense))
        from ...nn.sparse_rows import SparseRows

        return SparseRows((X / self._sparse_size).astype(np.float32))

    # -- training -------------------------------------------------------------------------
    def _train(
        self, nodes: np.ndarray, validation: np.ndarray, seed: int, bar: ProgressBar
    ) -> tuple[Any, Training]:
        import torch

        from ...nn.training import train_whole, validation_score
        from ...nn.twirls import TwirlsNet

        rng, nodes = np.random.default_rng(seed), in_order(self.targets_, nodes)
        inputs = self._training_inputs(nodes)
        given = self._tensors_of(inputs)
        Y, weight = self._target_rows(nodes)
        truth, importance = self._target_rows(validation)

        at_nodes, at_validation = given.scorer(nodes), given.scorer(validation)
        everyone = np.arange(len(nodes))

        def draw(network: Any) -> tuple[Any, np.ndarray]:
            """Scores of ``nodes``, and which of them are targets."""
            if self.label_trick != "stochastic":
                return at_nodes(network), everyone
            split = draw_split(inputs.targets, self.split_rate, rng)
            factor = torch.from_numpy((split.in_mask / self.split_rate).astype(np.float32))
            return at_nodes(network, given.Y * factor[:, None]), everyone[split.out_mask[nodes]]

        def validate(network: Any) -> EpochScore:
            rows = self._rows(network, at_validation)
            return validation_score(rows, truth, importance, self._link)

        width = Y.shape[1]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31)))
            network = TwirlsNet(
                self.n_features_in_,
                0 if self.label_trick is None else width,
                width,
                hidden=check_count("hidden", self.hidden, 1),
                n_before=check_count("n_before", self.n_before, 1),
                n_after=check_count("n_after", self.n_after, 1),
                dropout=check_share("dropout", self.dropout),
            )
            training = train_whole(
                network,
                draw,
                everyone,
                given.n_computed(len(nodes)),
                Y,
                weight,
                validate if len(validation) else None,
                self._link,
                self._training_options(),
                bar,
            )
        return network, training

    def _network_rows(self, network: Any, inputs: NodeInputs) -> np.ndarray:
        return self._rows(network, self._tensors_of(inputs).scorer(slice(None)))

    def _tensors_of(self, inputs: NodeInputs) -> GraphInputs | PropagatedInputs:
        """Those of the fit where all is as it was."""
        same = (inputs.X, inputs.graph, inputs.targets)
        fitted = (self.features_, self.graph_, self.targets_)
        known = all(one is other for one, other in zip(same, fitted, strict=True))
        if not known:
            return self._tensors(inputs)
        if "tensors" not in self._cache:
            self._cache["tensors"] = self._tensors(inputs)
        return self._cache["tensors"]

    def _rows(self, network: Any, scores: Scorer) -> np.ndarray:
        from ...nn.training import whole_rows

        return whole_rows(network, lambda: scores(network), self._link)
