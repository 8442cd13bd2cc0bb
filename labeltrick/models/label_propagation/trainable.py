"""`TrainableLabelPropagation`: label propagation with weights learned from the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_damping, check_flag, check_number
from ..._utils.progress import Progress
from ..._utils.targets import Targets, TargetScale
from ...graph.graph import Graph
from ...graph.normalized import NORMS
from ..base.estimator import GraphEstimator
from ..base.node_inputs import NodeInputs
from ..base.weights import PAPER_SPLIT_RATES, apply_link, link_of
from . import linear_training, mlp_training
from .design import DesignSettings, LabelDesign
from .plain import tidy
from .problem import LabelProblem

LABEL_TRICKS = ("deterministic", "stochastic")
LOSSES = ("auto", "cross_entropy", "squared")
WEIGHTS = ("shared", "per_hop", "mlp")


class TrainableLabelPropagation(GraphEstimator):
    """Label propagation whose weights are trained (paper, sections 3 and 4.1): P·Y_tr·W.

    Inputs are views of the labels in which no node sees its own. The weights map what
    a node sees to what it is: classes that cite one another, neighbors that repel (heterophily),
    hops that matter more than others.

    Parameters
    ----------
    damping, n_steps, self_loops, tol : the propagation, as for `LabelPropagation`.
    label_trick : "deterministic" trains on the self-excluded view (P−C)·Y_tr (eq. 6); "stochastic"
        on a fresh random part of the labels as inputs and the rest as targets each epoch (eq. 8).
    loss : "cross_entropy" (convex for linear weights, solved to convergence), "squared" (closed
        form), or "auto": the first for classes, the second for numbers.
    split_rate : α, the share of the labels that are inputs; "auto"; or several to choose from.
        Deterministic: squared loss has Theorem 1's closed form at any α, and "auto" scores the
        paper's grid {0.05, …, 0.95} at the cost of one fit (and of five more where there are no
        validation nodes); cross-entropy only has the limit α → 1. Stochastic: "auto" trains at
        each α of the grid and keeps the best; with weights="mlp" it draws a new α in each epoch.
    weights : "shared": one c×c matrix. "per_hop": one for each power S, …, S^n_hops of the
        adjacency, each with its own self-exclusion. "mlp": a small ensemble of networks on all
        of those views (needs torch).
    n_hops : powers for "per_hop" and "mlp".
    norm : "sym", "row", "col", several of them (views of each), or "auto": ("row", "col") for
        "mlp", else "sym".
    normalize : divide views by the label mass seen, so that they are means of labels. "auto":
        yes, unless Theorem 1 is used, which needs views that are linear in the labels.
    gate : weights that depend on the node's degree and on how much label mass reached it.
    types : "auto" gives each edge type views, and each node type weights, of its own where the
        graph carries types; False does not.
    ridge : pull towards plain label propagation, ridge/2·‖W − s·I‖² beside the summed loss;
        "auto" is 1, and 0 for Theorem 1's closed form. Where every node sees all others (a small
        dense graph), what it sees plus its own label is the same for all: next to no ridge then
        lets weights read the label off what is missing. Leave it at 1 there.
    hidden, n_layers, dropout, n_members : of the networks; each member leaves out one fold of the
        targets, which it then predicts.
    learning_rate, max_epochs, patience : for random splits 0.002, 2000, 500 as in the paper;
        for networks 0.003, 20, 10.
    class_weight, calibrate, task : as for `LabelPropagation`.
    random_state : seed of splits and networks.
    progress : see `Propagation.apply`.

    Attributes
    ----------
    coef_labels_ : W, (inputs, c); inputs are views × classes, for each node type and gate. None
        for "mlp".
    split_rate_, split_rate_scores_ : α in use (its mean where it is drawn); score of each α tried.
    oof_proba_, oof_prediction_, oof_score_ : as for `LabelPropagation`. The weights are kept
        honest too: each fifth of the nodes is predicted by weights that were made without its
        labels, as targets and as inputs, when first asked for. What was chosen by these scores (a
        split rate, without validation nodes) flatters them a little.
    reached_, labeled_, classes_, prior_, calibration_ : as for `LabelPropagation`.
    n_iter_, history_ : evaluations or epochs; (epoch, loss, score) of random splits, with the
        number of the network before them for "mlp".

    Notes
    -----
    `predict` never shows a node its own label, labeled nodes included. One class, one label or
    classes seen once give a right answer. Errors as for `LabelPropagation`.

    Examples
    --------
    Neighbors that differ: plain propagation is always wrong here, trained weights never.

    >>> ring = Graph.from_edges(range(40), [(i + 1) % 40 for i in range(40)])
    >>> y = np.arange(40) % 2
    >>> y[::5] = -1
    >>> model = TrainableLabelPropagation(weights="per_hop", n_hops=1).fit(None, y, graph=ring)
    >>> model.predict()[::5].tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """

    def __init__(
        self,
        damping: float = 0.6,
        n_steps: int | None = None,
        *,
        label_trick: str = "deterministic",
        loss: str = "auto",
        split_rate: str | float | Sequence[float] = "auto",
        weights: str = "shared",
        n_hops: int = 4,
        norm: str | Sequence[str] = "auto",
        self_loops: bool = False,
        normalize: bool | str = "auto",
        gate: bool = False,
        types: str | bool = "auto",
        ridge: str | float = "auto",
        hidden: int = 256,
        n_layers: int = 3,
        dropout: float = 0.5,
        n_members: int = 5,
        learning_rate: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: Any = 0,
        tol: float = 1e-6,
        progress: Progress = None,
    ) -> None:
        self.damping = damping
        self.n_steps = n_steps
        self.label_trick = label_trick
        self.loss = loss
        self.split_rate = split_rate
        self.weights = weights
        self.n_hops = n_hops
        self.norm = norm
        self.self_loops = self_loops
        self.normalize = normalize
        self.gate = gate
        self.types = types
        self.ridge = ridge
        self.hidden = hidden
        self.n_layers = n_layers
        self.dropout = dropout
        self.n_members = n_members
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.tol = tol
        self.progress = progress

    # -- fit ------------------------------------------------------------------------------
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> TrainableLabelPropagation:
        """Train the weights; ``X`` is not used. Missing labels: −1, None or NaN.

        ``validation`` (numbers or a mask) are labeled nodes that tell the best split rate and
        epoch; their labels are never inputs. Without, predictions of the training nodes made
        without their own label do. ``sample_weight`` weighs the loss.
        """
        self._start_fit(X, y, graph, sample_weight, validation)
        known = self.targets_
        self._settings = self._settle()
        self._scale = TargetScale.of(known)
        self._problem = LabelProblem.of(
            self._design(self.graph_),
            known,
            self._scale,
            self.validation_targets_ if len(self.validation_) else None,
            link=self._link,
            constant=known.task != "classification" and not self._by_theorem,
            gate=self.gate,
            seed=self.random_state,
            progress=self.progress,
        )
        self.coef_labels_: np.ndarray | None = None
        self.ensemble_: Any = None
        self.history_: list[tuple[float, ...]] = []
        if self.weights == "mlp":
            self._fit_mlp()
        else:
            self._fit_linear()
        self.reached_ = self._problem.reached()
        return self

    def _fit_linear(self) -> None:
        if self.label_trick == "stochastic":
            fit = linear_training.by_splits(self._problem, self._split_options())
        elif self._by_theorem:
            fit = linear_training.by_theorem(self._problem, self._rates, self._ridge)
        elif self._link == "identity":
            fit = linear_training.by_ridge(self._problem, self._ridge)
        else:
            fit = linear_training.by_convex(self._problem, self._ridge)
        self.coef_labels_, self.split_rate_ = fit.weights, fit.split_rate
        self.split_rate_scores_ = fit.scores or {}
        self.n_iter_, self.history_ = fit.n_iter, fit.history or []
        self._make_oof = fit.oof

    def _schedule(self, rate: float, epochs: int, patience: int) -> tuple[float, int, int]:
        """Learning rate, epochs and patience, with the defaults given."""
        if self.learning_rate is not None:
            rate = check_number("learning_rate", self.learning_rate, 0.0, np.inf)
        if self.max_epochs is not None:
            epochs = check_count("max_epochs", self.max_epochs, 1)
        if self.patience is not None:
            patience = check_count("patience", self.patience, 1)
        return rate, epochs, patience

    def _split_options(self) -> linear_training.SplitOptions:
        return linear_training.SplitOptions(
            self._rates,
            *self._schedule(0.002, 2000, 500),
        )

    def _fit_mlp(self) -> None:
        from ...nn.training import TrainingOptions

        options = TrainingOptions(
            check_count("hidden", self.hidden, 1),
            check_count("n_layers", self.n_layers, 1),
            self.dropout,
            *self._schedule(0.003, 20, 10),
        )
        rates = self._rates if self.label_trick == "stochastic" else None
        members = check_count("n_members", self.n_members, 1)
        self.ensemble_ = mlp_training.fit(self._problem, rates, members, options)
        self.split_rate_ = 1.0 if rates is None else float(np.mean(rates))
        self.split_rate_scores_ = {}
        self.history_ = self.ensemble_.history
        self.n_iter_ = len(self.history_)
        if members > 1:
            self._cache["oof"] = self._finish(self.ensemble_.oof, self.targets_)

    # -- parameters -----------------------------------------------------------------------
    def _settle(self) -> DesignSettings:
        """Check the parameters and settle what "auto" stands for."""
        check_choice("label_trick", self.label_trick, LABEL_TRICKS)
        check_choice("weights", self.weights, WEIGHTS)
        check_choice("loss", self.loss, LOSSES)
        check_choice("types", self.types, ("auto", False))
        check_choice("normalize", self.normalize, ("auto", True, False))
        check_flag("gate", self.gate)
        task = self.targets_.task
        if task == "regression" and self.loss == "cross_entropy":
            raise ValueError("`loss` must be 'squared' or 'auto' for numbers; got 'cross_entropy'.")
        squared = self.loss == "squared" or task == "regression"
        if self.weights == "mlp" and squared and task != "regression":
            raise ValueError("`loss` must be 'cross_entropy' or 'auto' for classes by 'mlp'.")
        self._link = "identity" if squared else link_of(task)
        norms = self._norms()
        relations = self.types == "auto" and bool(self.graph_.relations)
        self._node_types = None
        if self.types == "auto" and self.graph_.node_types is not None:
            self._node_types = np.unique(self.graph_.node_types)
        one_view = len(norms) == 1 and not relations and self._node_types is None
        theorem = squared and task != "regression" and self.weights == "shared"
        theorem &= one_view and not self.gate
        normalize = not theorem if self.normalize == "auto" else bool(self.normalize)
        self._by_theorem = theorem and not normalize and self.label_trick == "deterministic"
        self._rates = self._split_rates()
        self._ridge = 0.0 if self._by_theorem else 1.0
        if self.ridge != "auto":
            self._ridge = 0.0 if self.ridge == 0 else check_number("ridge", self.ridge, 0, np.inf)
        return DesignSettings(
            weights=self.weights,
            damping=check_damping(self.damping),
            n_steps=self.n_steps,
            n_hops=check_count("n_hops", self.n_hops, 1),
            norms=norms,
            self_loops=self.self_loops,
            normalize=normalize,
            tol=self.tol,
        )

    def _norms(self) -> tuple[str, ...]:
        if isinstance(self.norm, str) and self.norm == "auto":
            return ("row", "col") if self.weights == "mlp" else ("sym",)
        norms = (self.norm,) if isinstance(self.norm, str) else tuple(self.norm)
        for norm in norms or ("none given",):
            check_choice("norm", norm, NORMS)
        return norms

    def _split_rates(self) -> tuple[float, ...]:
        if isinstance(self.split_rate, str):
            check_choice("split_rate", self.split_rate, ("auto",))
            return PAPER_SPLIT_RATES
        rates = tuple(np.atleast_1d(np.asarray(self.split_rate, float)).tolist())
        for rate in rates or (float("nan"),):
            check_number("split_rate", rate, 0.0, 1.0)
        if self.label_trick == "deterministic" and not self._by_theorem:
            raise ValueError(
                f"`split_rate` must be 'auto' here; got {self.split_rate!r}. At a rate below 1 "
                "only squared loss on one shared, unnormalized view of classes has a "
                "deterministic form; use label_trick='stochastic' for the others."
            )
        return rates

    # -- predictions ----------------------------------------------------------------------
    def _design(self, graph: Graph) -> LabelDesign:
        if "design" in self._cache and self._cache["design"].graph is graph:
            return self._cache["design"]
        relations = list(self.graph_.relations) if self.types == "auto" else []
        made = LabelDesign(graph, self._settings, self._node_types, relations)
        if graph is self.graph_:
            self._cache["design"] = made
        return made

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        problem, targets, graph = self._problem, inputs.targets, inputs.graph
        if targets is not self.targets_ or graph is not self.graph_:
            problem = problem.on(self._design(graph), targets, self._scale)
        if self.ensemble_ is not None:
            return self._finish(self.ensemble_.predict(mlp_training.rows(problem, None)), targets)
        rows = apply_link(problem.rows(None) @ self.coef_labels_, self._link)
        return self._finish(rows, targets, problem.reached())

    def _finish(
        self, rows: np.ndarray, targets: Targets, reached: np.ndarray | None = None
    ) -> np.ndarray:
        rows = self._scale.back(rows)
        if reached is not None and not self._settings.normalize:
            rows[~reached] = self.prior_  # a raw view of no label is no view
        return tidy(rows, targets.task)

    @property
    def has_oof(self) -> bool:
        return self.ensemble_ is None or len(self.ensemble_.members) > 1

    @property
    def oof_rows_(self) -> np.ndarray:
        if not self.has_oof:
            raise AttributeError("leave-one-out predictions need n_members of two or more.")
        if "oof" not in self._cache:
            assert self._make_oof is not None  # None is for networks, which keep theirs
            self._cache["oof"] = self._finish(self._make_oof(), self.targets_)
        return self._cache["oof"]

    def __getstate__(self) -> dict[str, Any]:
        """Left-out predictions are made before the means to make them are left behind."""
        if getattr(self, "_make_oof", None) is not None:
            _ = self.oof_rows_
        return {**super().__getstate__(), "_make_oof": None}
