"""`TWIRLS`: unfolded energy steps between two perceptrons, trained end to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
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
from .rows import TOL, filled

if TYPE_CHECKING:
    from ...nn.epochs import Training

Scorer = Callable[..., Any]
"""``f(network, shown=None)``: scores of some rows. By default all labels are inputs, and each
node's own is excluded from its row; otherwise the labels ``shown`` are inputs of every row."""


@dataclass(frozen=True)
class GraphInputs:
    """Inputs for a network that propagates all nodes at once.

    ``Y`` holds the input labels, None without the label trick; ``self_weight`` is C at the nodes
    ``labeled``.
    """

    P: Unfolded
    X: Any
    Y: Any = None
    labeled: Any = None
    self_weight: Any = None

    def n_computed(self, n_rows: int) -> int:
        """Number of rows that are computed for ``n_rows`` scores."""
        return self.P.n_nodes

    def scorer(self, rows: np.ndarray | slice) -> Scorer:
        def scores(network: Any, shown: Any = None) -> Any:
            labels = (self.Y, self.labeled, self.self_weight) if shown is None else (shown,)
            return network(self.P, self.X, *labels)[rows]

        return scores


@dataclass(frozen=True)
class PropagatedInputs:
    """P·X, P·1 and (P−C)·Y.

    A linear h₀ commutes with P: no epoch has to propagate, and rows are independent of each other.
    """

    P: Unfolded
    X: Any
    ones: Any
    Y: Any = None
    others: Any = None

    @classmethod
    def of(cls, P: Unfolded, X: Any, progress: Progress) -> PropagatedInputs:
        """Inputs without labels."""
        ones = np.ones(P.n_nodes, np.float32)
        return cls(P, spread(P, X, progress), spread(P, ones, progress))

    def with_labels(
        self, given: GraphInputs, self_weight: np.ndarray, progress: Progress
    ) -> PropagatedInputs:
        """The same inputs with the labels of ``given``, if any; ``self_weight`` is C in float64.

        What remains after an own label is subtracted may be far smaller than the rounding of that
        label in float32.
        """
        import torch

        if given.Y is None:
            return self
        Y, at = given.Y.double(), given.labeled
        others = spread(self.P, Y, progress)
        others[at] -= torch.from_numpy(self_weight)[:, None] * Y[at]
        return replace(self, Y=given.Y, others=others.float())

    def n_computed(self, n_rows: int) -> int:
        return n_rows

    def scorer(self, rows: np.ndarray | slice) -> Scorer:
        X, ones = self.X[rows], self.ones[rows]
        others = None if self.others is None else self.others[rows]

        def scores(network: Any, shown: Any = None) -> Any:
            Y = others if shown is None else spread(self.P, shown, False)[rows]
            return network(None, X, Y, ones=ones)

        return scores


def spread(P: Unfolded, values: Any, progress: Progress) -> Any:
    """P·values as a tensor."""
    import torch

    return torch.from_numpy(P.apply(np.asarray(values), progress=progress))


@dataclass(eq=False, repr=False)
class TWIRLS(TrainedEstimator):
    """TWIRLS with labels beside the features (paper, section 4.2, eq. 13).

    The predictor is h₁(𝒫 h₀([X, Y]) − 𝒞 h₀([X, Y]) + 𝒞 h₀([X, 0])), where 𝒫 are K gradient steps on
    the energy ‖F − h₀‖² + λ·tr(Fᵀ L F), 𝒞 is the diagonal of 𝒫, and h₀ and h₁ are perceptrons. A
    node's own label is set to zero in its own row and nowhere else.

    Parameters
    ----------
    n_steps : int, default=2
        K, the number of gradient steps.
    smoothness : float, default=1.0
        λ, the weight of the smoothness term.
    step_size : float or None, default=None
        Size of a gradient step; see `Unfolded`.
    precondition : bool, default=True
        Whether steps are preconditioned by the degrees; see `Unfolded`.
    self_loops : bool, default=True
        Whether to add a self-loop to each node that has none.
    label_trick : {"deterministic", "stochastic", None}, default="deterministic"
        "deterministic" is the formula above. "stochastic" uses a fresh random part of the labels,
        scaled by 1/α, in each epoch, and the others as targets. None uses features only.
    split_rate : float, default=0.5
        α, the share of the labels that are inputs with the stochastic label trick.
    scale : {"auto", "columns", "global", False}, default="auto"
        Scaling of the features. "columns" gives each column mean 0 and standard deviation 1,
        "global" divides all of them by one number, and False leaves them as they are. "auto" is
        "global" for sparse and "columns" for dense features.
    hidden : int, default=128
        Width of the hidden layers.
    n_before : int, default=1
        Number of linear layers of h₀.
    n_after : int, default=1
        Number of linear layers of h₁.
    dropout : float, default=0.5
        Dropout rate of the hidden layers.
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
    SIGN : A perceptron after linear propagation.

    Notes
    -----
    Needs torch. Each epoch is one step on all labeled nodes. Out-of-fold predictions take five more
    trainings, on first use.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import TWIRLS, Graph
    >>> graph = Graph.from_edges(range(59), range(1, 60))
    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]
    >>> TWIRLS(hidden=16, max_epochs=20).fit(X, y, graph=graph).predict_proba().shape
    (60, 3)
    """

    n_steps: int = 2
    _: KW_ONLY
    smoothness: float = 1.0
    step_size: float | None = None
    precondition: bool = True
    self_loops: bool = True
    label_trick: str | None = "deterministic"
    split_rate: float = 0.5
    scale: str | bool = "auto"
    hidden: int = 128
    n_before: int = 1
    n_after: int = 1
    dropout: float = 0.5
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
        how = settle_scale(self.scale, self.features_)
        # Sparse features stay sparse: they may be divided by one number, but not centered.
        self._sparse = hasattr(self.features_, "tocsr")
        if self._sparse and how == "columns":
            raise ValueError(
                "`scale` must be 'global', False or 'auto' for sparse features; got 'columns', "
                "which would make them dense."
            )
        if self._sparse:
            values = self.features_.data
            size = np.sqrt(np.mean(np.square(values), dtype=np.float64)) if len(values) else 0.0
            self._sparse_size = float(size) if how and size > 0 else 1.0
        else:
            self._feature_scale = FeatureScale.of(self.features_, how)
        # A linear h₀ commutes with P. Sparse features would become dense.
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

    def _tensors(self, inputs: NodeInputs) -> GraphInputs | PropagatedInputs:
        """Inputs of the network, with self-exclusion at every labeled node."""
        import torch

        graph = inputs.graph
        if graph is self.graph_:
            P = self._once_in_any_units("P", lambda: self._propagation(graph))
        else:
            P = self._propagation(graph)
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
        if not self._propagates_once:
            return given

        def propagate() -> PropagatedInputs:
            return PropagatedInputs.of(P, given.X, self.progress)

        if inputs.X is self.features_ and graph is self.graph_:
            features = self._once_in_any_units("propagated", propagate)
        else:
            features = propagate()
        return features.with_labels(given, C, self.progress)

    def _feature_tensor(self, X: Any) -> Any:
        import torch

        if not self._sparse:
            return torch.from_numpy(self._feature_scale.apply(filled(X)))
        from ...nn.sparse_rows import SparseRows

        return SparseRows((X / self._sparse_size).astype(np.float32))

    # -- training -------------------------------------------------------------------------
    def _train(
        self, nodes: np.ndarray, validation: np.ndarray, seed: int, bar: ProgressBar
    ) -> tuple[Any, Training]:
        import torch

        rng, nodes = np.random.default_rng(seed), in_order(self.targets_, nodes)
        inputs = self._training_inputs(nodes)
        given = self._tensors_of(inputs)
        at_nodes, at_validation = given.scorer(nodes), given.scorer(validation)
        everyone = np.arange(len(nodes))

        def draw(network: Any) -> tuple[Any, np.ndarray]:
            """Scores of targets, and which of ``nodes`` they are."""
            if self.label_trick != "stochastic":
                return at_nodes(network), everyone
            split = draw_split(inputs.targets, self.split_rate, rng)
            factor = torch.from_numpy((split.in_mask / self.split_rate).astype(np.float32))
            targets = everyone[split.out_mask[nodes]]
            return at_nodes(network, given.Y * factor[:, None])[targets], targets

        return self._train_whole(
            self._network,
            draw,
            given.n_computed(len(nodes)),
            nodes,
            validation,
            lambda network: self._rows(network, at_validation),
            int(rng.integers(2**31)),
            bar,
        )

    def _network(self, n_outputs: int) -> Any:
        from ...nn.twirls import TwirlsNet

        return TwirlsNet(
            self.n_features_in_,
            0 if self.label_trick is None else n_outputs,
            n_outputs,
            hidden=check_count("hidden", self.hidden, 1),
            n_before=check_count("n_before", self.n_before, 1),
            n_after=check_count("n_after", self.n_after, 1),
            dropout=check_share("dropout", self.dropout),
        )

    def _network_rows(self, network: Any, inputs: NodeInputs) -> np.ndarray:
        return self._rows(network, self._tensors_of(inputs).scorer(slice(None)))

    def _tensors_of(self, inputs: NodeInputs) -> GraphInputs | PropagatedInputs:
        """Inputs of the network; those of the fit are kept."""
        same = (inputs.X, inputs.graph, inputs.targets)
        fitted = (self.features_, self.graph_, self.targets_)
        if any(one is not other for one, other in zip(same, fitted, strict=True)):
            return self._tensors(inputs)
        return self._once("tensors", lambda: self._tensors(inputs))

    def _rows(self, network: Any, scores: Scorer) -> np.ndarray:
        from ...nn.training import whole_rows

        return whole_rows(network, lambda: scores(network), self._link)
