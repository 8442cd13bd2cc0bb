"""`TrainableLabelPropagation`: label propagation with weights learned from the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._utils.checks import check_count, check_number
from ..._utils.feature_tables import check_features
from ..._utils.progress import Progress
from ..._utils.targets import TargetScale
from ...graph.graph import Graph
from ..base.feature_estimator import FeatureEstimator
from ..base.node_inputs import NodeInputs
from ..base.weights import apply_link, tidy
from . import linear_training, mlp_training
from .design import LabelDesign
from .edge_function import EdgeFunction
from .edge_learning import EdgeLearner
from .problem import LabelProblem
from .settings import Settled, settle


@dataclass(eq=False, repr=False)
class TrainableLabelPropagation(FeatureEstimator):
    """Label propagation with trained weights: P·Y_tr·W (paper, sections 3 and 4.1).

    Inputs are views of the labels in which no node sees its own. The weights map what a node sees
    to its label. They can learn classes that cite one another, neighbors that differ (heterophily),
    and hops that matter more than others.

    Parameters
    ----------
    damping : float, default=0.6
        λ in (0, 1) of the propagation (1−λ)(I−λS)⁻¹.
    n_steps : int or None, default=None
        Number of steps of its iteration. None computes the exact limit.
    label_trick : {"deterministic", "stochastic"}, default="deterministic"
        "deterministic" trains on the self-excluded view (P−C)·Y_tr (eq. 6). "stochastic" uses a
        fresh random part of the labels as inputs in each epoch, and the others as targets (eq. 7).
    loss : {"auto", "cross_entropy", "squared"}, default="auto"
        "cross_entropy" is convex for linear weights and solved to convergence; "squared" has a
        closed form. "auto" is the first for classes and the second for numbers.
    split_rate : float, sequence of float or "auto", default="auto"
        α, the share of the labels that are inputs; from several, the best is chosen. Deterministic:
        squared loss has Theorem 1's closed form (eq. 8) at any α, and "auto" scores the paper's
        grid {0.05, …, 0.95} at the cost of one fit (and of five more without validation nodes);
        cross-entropy has only the limit α → 1. Stochastic: "auto" trains at each α of the grid and
        keeps the best; with ``weights="mlp"`` it draws a new α in each epoch.
    weights : {"shared", "per_hop", "mlp"}, default="shared"
        "shared" is one c×c matrix. "per_hop" has one for each power S, …, S^n_hops of the adjacency
        matrix, each with its own self-exclusion. "mlp" is a small ensemble of networks on all of
        these views (needs torch).
    n_hops : int, default=4
        Number of powers for "per_hop" and "mlp".
    norm : {"sym", "row", "col"}, sequence of these, or "auto", default="auto"
        Normalization of the adjacency matrix; several give views of each. "auto" is ("row", "col")
        for "mlp" and "sym" otherwise.
    self_loops : bool, default=False
        Whether to add a self-loop to each node that has none.
    edge_weights : {"given", "learned"}, default="given"
        "given" uses the weights of the graph. "learned" multiplies them by a function of the
        features and degrees of the two ends, trained by gradients through the propagation: in each
        epoch, a random half of the labels predicts the other half. It needs ``X`` and torch, and
        takes O(epochs × steps × edges × classes). Not for "mlp".
    normalize : bool or "auto", default="auto"
        Whether to divide views by the label mass seen, which makes them means of labels. "auto"
        does so unless Theorem 1 is used, which needs views that are linear in the labels.
    gate : bool, default=False
        Whether weights depend on the degree of the node and on the label mass that reached it.
    types : "auto" or False, default="auto"
        "auto" gives each edge type of the graph its own views and each node type its own weights.
        False ignores types.
    ridge : float or "auto", default="auto"
        Strength of the penalty ridge/2·‖W − s·I‖² towards plain label propagation, added to the
        summed loss. "auto" is 1, and 0 for Theorem 1's closed form. Keep it at 1 on small dense
        graphs: where every node sees all others, what it sees plus its own label is the same for
        all nodes, and without a ridge weights can read the label off what is missing.
    hidden : int, default=256
        Width of the hidden layers of the networks.
    n_layers : int, default=3
        Number of linear layers of the networks.
    dropout : float, default=0.5
        Dropout rate of the hidden layers.
    n_members : int, default=5
        Number of networks; each is trained without one fold of the targets, which it then predicts.
    learning_rate : float or None, default=None
        Learning rate of Adam. None is 0.002 for random splits, as in the paper, 0.003 for
        networks and 0.02 for edge weights.
    max_epochs : int or None, default=None
        Largest number of epochs. None is 2000 for random splits, 20 for networks and 100 for edge
        weights.
    patience : int or None, default=None
        Number of epochs without a better score after which training ends. None is 500 for random
        splits, 10 for networks and 50 for edge weights, where it needs validation nodes.
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
    tol : float, default=1e-6
        Accuracy of the exact limit (``n_steps=None``).
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Attributes
    ----------
    coef_labels_ : ndarray of shape (inputs, c) or None
        W. Inputs are views × classes, for each node type and gate. None for "mlp".
    ensemble_ : Ensemble or None
        The networks for "mlp".
    edge_weights_ : ndarray of shape (nnz,) or None
        Weight in use of each entry of ``graph_``, in the order of its ``indices``.
    edge_function_ : EdgeFunction or None
        The learned function of edges.
    split_rate_ : float
        α in use; its mean if it is drawn.
    split_rate_scores_ : dict of float to float
        Score of each α that was compared.
    n_iter_ : int
        Number of evaluations or epochs.
    history_ : list of tuple
        (epoch, loss, score) of random splits, preceded by the number of the network for "mlp".
    reached_ : ndarray of bool, shape (n,)
        Nodes that labels other than their own reach.
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
    LabelPropagation : Label propagation without weights.

    Notes
    -----
    `predict` never shows a node its own label, labeled nodes included. Out-of-fold predictions are
    made on first use: each fifth of the labeled nodes is predicted by weights trained without their
    labels, both as targets and as inputs. The split rate of a fold is chosen, and learned edge
    weights are trained, without them too.

    Examples
    --------
    Neighbors differ: plain propagation is always wrong here, trained weights never.

    >>> import numpy as np
    >>> from labeltrick import Graph, TrainableLabelPropagation
    >>> ring = Graph.from_edges(range(40), [(i + 1) % 40 for i in range(40)])
    >>> y = np.arange(40) % 2
    >>> y[::5] = -1
    >>> model = TrainableLabelPropagation(weights="per_hop", n_hops=1).fit(None, y, graph=ring)
    >>> model.predict()[::5].tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """

    damping: float = 0.6
    n_steps: int | None = None
    _: KW_ONLY
    label_trick: str = "deterministic"
    loss: str = "auto"
    split_rate: str | float | Sequence[float] = "auto"
    weights: str = "shared"
    n_hops: int = 4
    norm: str | Sequence[str] = "auto"
    self_loops: bool = False
    edge_weights: str = "given"
    normalize: bool | str = "auto"
    gate: bool = False
    types: str | bool = "auto"
    ridge: str | float = "auto"
    hidden: int = 256
    n_layers: int = 3
    dropout: float = 0.5
    n_members: int = 5
    learning_rate: float | None = None
    max_epochs: int | None = None
    patience: int | None = None
    class_weight: Any = None
    calibrate: bool = True
    task: str = "auto"
    random_state: Any = 0
    tol: float = 1e-6
    progress: Progress = None

    uses_types = True

    # -- fit ------------------------------------------------------------------------------
    def _check_features(self, X: Any, *, reset: bool) -> Any:
        if self.edge_weights != "learned":
            return None  # labels and edges are all that is used
        if X is None:
            raise ValueError(
                "`X` must be given with edge_weights='learned': the weights are a function of the "
                "features; got None. Pass features, or use edge_weights='given'."
            )
        return check_features(self, X, reset=reset)

    def _fit(self, *data: Any) -> None:
        self._start_feature_fit(*data)
        known = self.targets_
        settled = settle(self)
        self._settings, self._link = settled.design, settled.link
        self._node_types = settled.node_types
        weighted, without = self._learn_edges()
        self._problem = LabelProblem.of(
            self._design(weighted),
            known,
            self._target_scale,
            self.validation_targets_ if len(self.validation_) else None,
            link=self._link,
            constant=known.task != "classification" and not settled.by_theorem,
            gate=self.gate,
            seed=self.random_state,
            progress=self.progress,
        )
        self.coef_labels_: np.ndarray | None = None
        self.ensemble_: Any = None
        self._member_scales: list[TargetScale] = []
        self._make_oof: Any = None  # networks have their rows in the cache
        self.history_: list[tuple[float, ...]] = []
        if self.weights == "mlp":
            self._fit_mlp(settled)
        else:
            self._fit_linear(settled, without)
        self.reached_ = self._problem.reached()

    def _learn_edges(self) -> tuple[Graph, linear_training.Without]:
        """Set ``edge_function_``; return the graph with its weights, and the function that makes
        the problem whose weights have not seen some labels."""
        self.edge_function_: EdgeFunction | None = None
        if self.edge_weights != "learned":
            return self.graph_, lambda fold: self._problem
        known = self.targets_
        learner = EdgeLearner(
            self.graph_,
            self.features_,
            self._settings,
            self._link,
            self.validation_targets_ if len(self.validation_) else None,
            self._schedule(0.02, 100, 50),
            int(np.random.default_rng(self.random_state).integers(2**31)),
            self.progress,
        )
        self.edge_function_ = learner.learn(known)

        def without(fold: np.ndarray) -> LabelProblem:
            seen = learner.learn(known.only(np.setdiff1d(self.labeled_, fold)))
            return self._problem.reweighted(self._design(learner.reweighted(seen)))

        return learner.reweighted(self.edge_function_), without

    def _fit_linear(self, settled: Settled, without: linear_training.Without) -> None:
        problem, ridge = self._problem, settled.ridge
        if self.label_trick == "stochastic":
            schedule = self._schedule(0.002, 2000, 500)
            options = linear_training.SplitOptions(settled.rates, *schedule)
            fit = linear_training.by_splits(problem, options, without)
        elif settled.by_theorem:
            fit = linear_training.by_theorem(problem, settled.rates, ridge, without)
        elif self._link == "identity":
            fit = linear_training.by_ridge(problem, ridge, without)
        else:
            fit = linear_training.by_convex(problem, ridge, without)
        self.coef_labels_, self.split_rate_ = fit.weights, fit.split_rate
        self.split_rate_scores_ = fit.scores or {}
        self.n_iter_, self.history_ = fit.n_iter, fit.history or []
        self._make_oof = fit.oof

    def _schedule(self, rate: float, epochs: int, patience: int) -> tuple[float, int, int]:
        """Learning rate, epochs and patience; the arguments are their defaults."""
        if self.learning_rate is not None:
            rate = check_number("learning_rate", self.learning_rate, 0.0, np.inf)
        if self.max_epochs is not None:
            epochs = check_count("max_epochs", self.max_epochs, 1)
        if self.patience is not None:
            patience = check_count("patience", self.patience, 1)
        return rate, epochs, patience

    def _fit_mlp(self, settled: Settled) -> None:
        from ...nn.training import TrainingOptions

        shape = {
            "hidden": check_count("hidden", self.hidden, 1),
            "n_layers": check_count("n_layers", self.n_layers, 1),
            "dropout": self.dropout,
        }
        options = TrainingOptions(*self._schedule(0.003, 20, 10))
        rates = settled.rates if self.label_trick == "stochastic" else None
        members = check_count("n_members", self.n_members, 1)
        found = mlp_training.fit(self._problem, rates, members, shape, options)
        self.ensemble_, self._member_scales = found
        self.split_rate_ = 1.0 if rates is None else float(np.mean(rates))
        self.split_rate_scores_ = {}
        self.history_ = self.ensemble_.history
        self.n_iter_ = len(self.history_)
        if members > 1:
            self._cache["oof"] = tidy(self.ensemble_.oof, self.targets_.task)

    # -- predictions ----------------------------------------------------------------------
    def _design(self, weighted: Graph) -> LabelDesign:
        """The design on a graph whose weights are final."""
        relations = list(self.graph_.relations) if self.types == "auto" else []
        return LabelDesign(weighted, self._settings, self._node_types, relations)

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        problem, targets, graph, X = self._problem, inputs.targets, inputs.graph, inputs.X
        design = problem.design
        if graph is not self.graph_ or X is not self.features_:
            edges = self.edge_function_
            design = self._design(graph if edges is None else edges.reweighted(graph, X))
        if targets is not self.targets_ or design is not problem.design:
            problem = problem.on(design, targets)
        if self.ensemble_ is not None:
            rows = mlp_training.predict(self.ensemble_, self._member_scales, problem)
            return tidy(rows, targets.task)
        rows = apply_link(problem.rows(None) @ self.coef_labels_, self._link)
        rows = problem.scale.back(rows)
        if not self._settings.normalize:
            rows[~problem.reached()] = self.prior_  # a raw view without labels is zero
        return tidy(rows, targets.task)

    @property
    def edge_weights_(self) -> np.ndarray | None:
        """Weight in use of each entry of ``graph_``; None if all are 1."""
        return self._problem.design.graph.weights

    @property
    def has_oof(self) -> bool:
        return self.ensemble_ is None or len(self.ensemble_.members) > 1

    @property
    def oof_rows_(self) -> np.ndarray:
        if not self.has_oof:
            raise AttributeError("out-of-fold predictions need n_members of two or more.")
        return self._once("oof", lambda: tidy(self._make_oof(), self.targets_.task))

    def __getstate__(self) -> dict[str, Any]:
        """Compute out-of-fold predictions before the function that makes them is dropped."""
        if getattr(self, "_make_oof", None) is not None:
            _ = self.oof_rows_
        return {**super().__getstate__(), "_make_oof": None}
