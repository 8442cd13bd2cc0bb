"""`LabelFeatureRegression`: Corollary 1's predictor, in closed form at every split rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_damping, check_number
from ..._utils.feature_tables import SCALES
from ..._utils.progress import Progress, ProgressBar
from ...evaluation import metrics
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.diagonal.self_weight import SelfWeight
from ...self_exclusion.label_views import damped
from ...self_exclusion.objective import (
    LabelTrickProblem,
    minimize,
    penalty_matrix,
    penalty_weights,
    probed_penalty,
    solve_semidefinite,
)
from ...self_exclusion.rounding import own_tolerance
from ..base.draws import draw_split
from ..base.feature_estimator import TRICKS, FeatureEstimator
from ..base.folds import N_FOLDS, by_folds, draw_folds
from ..base.node_inputs import NodeInputs
from ..base.weights import PAPER_SPLIT_RATES, LinearFit, best_rate
from .rows import TOL, PropagatedRows, rows_of

_MOST_COLUMN_ENTRIES = 20_000_000_000  # a minute or so; beyond, the penalty is drawn


class LabelFeatureRegression(FeatureEstimator):
    """Least squares on propagated features and labels (paper, Corollary 1):

    ‖Y_tr − M_tr P X W_x − M_tr (P−C) Y_tr W_y‖² + (1−α)/α·‖Γ W_y‖² + ridge·(‖W_x‖² + ‖W_y‖²).

    What the random label trick at rate α amounts to on average, solved exactly. Classes are
    regressed on as indicators.

    Parameters
    ----------
    damping, n_steps, norm, self_loops : the propagation; ``n_steps=None`` is the limit of many.
    label_trick : "deterministic" (the objective above), "stochastic" (the mean loss over
        ``n_splits`` random splits, minimized exactly: an estimate of the same) or None.
    split_rate : α; several to choose from; or "auto", the paper's {0.05, …, 0.95} and the limit
        1, which has no penalty. All of them share one product of the data.
    ridge : pull of the weights to zero (the intercept is free), for inputs of size one.
    scale : of the propagated features; see `SGC`.
    class_weight, calibrate, task, random_state, tol, progress : as for
        `TrainableLabelPropagation`.

    Attributes
    ----------
    coef_features_, coef_labels_, intercept_ : W_x (of the scaled features), W_y and the constant.
    split_rate_, split_rate_scores_ : α in use; the score of each on validation nodes, else of
        the leave-one-out predictions ("stochastic": of labels that the weights have seen).
    oof_proba_, oof_prediction_, oof_score_ : of the labeled nodes, each fifth by weights made
        without its labels. A rate chosen by them flatters them a little.

    Notes
    -----
    Needs no torch. O(m(c+d)²) once for m labeled nodes, c classes and d features, then
    O((c+d)³) a rate. Γ takes a column of P for each labeled node where ``n_steps`` is given; on
    large graphs its class-wise sums are drawn with random signs instead (`probed_penalty`), to a
    percent or so. C is exact in any case. Errors as for `SGC`.

    Examples
    --------
    >>> graph = Graph.from_edges(range(59), range(1, 60))
    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]
    >>> model = LabelFeatureRegression().fit(X, np.where(np.arange(60) % 2, y, -1), graph=graph)
    >>> float(model.score(None, y)) > 0.9
    True
    """

    def __init__(
        self,
        damping: float = 0.9,
        n_steps: int | None = 9,
        *,
        norm: str = "sym",
        self_loops: bool = True,
        label_trick: str | None = "deterministic",
        split_rate: str | float | Sequence[float] = "auto",
        n_splits: int = 20,
        ridge: float = 1.0,
        scale: str | bool = "auto",
        class_weight: Any = None,
        calibrate: bool = True,
        task: str = "auto",
        random_state: Any = 0,
        tol: float = 1e-6,
        progress: Progress = None,
    ) -> None:
        self.damping = damping
        self.n_steps = n_steps
        self.norm = norm
        self.self_loops = self_loops
        self.label_trick = label_trick
        self.split_rate = split_rate
        self.n_splits = n_splits
        self.ridge = ridge
        self.scale = scale
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.task = task
        self.random_state = random_state
        self.tol = tol
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> LabelFeatureRegression:
        """Solve for the weights. ``validation`` nodes tell the best split rate; arguments as for
        `SGC`."""
        rates = self._settle()
        self._start_feature_fit(X, y, graph, sample_weight, validation)
        if self.label_trick == "stochastic":
            fit = self._by_splits(rates)
        else:
            fit = self._by_corollary(rates if self.label_trick else (1.0,))
        d = self._n_spread_features
        self.coef_features_, self.intercept_ = fit.weights[:d], fit.weights[d]
        self.coef_labels_ = fit.weights[d + 1 :]
        self.split_rate_, self.split_rate_scores_ = fit.split_rate, fit.scores or {}
        return self

    @property
    def _rows(self) -> PropagatedRows:
        return rows_of(self)

    def _settle(self) -> tuple[float, ...]:
        """Check the parameters; the split rates to try."""
        check_choice("label_trick", self.label_trick, TRICKS)
        check_choice("scale", self.scale, SCALES)
        check_damping(self.damping)
        check_count("n_splits", self.n_splits, 1)
        if self.ridge != 0:
            check_number("ridge", self.ridge, 0.0, np.inf)
        stochastic = self.label_trick == "stochastic"
        if isinstance(self.split_rate, str):
            check_choice("split_rate", self.split_rate, ("auto",))
            return PAPER_SPLIT_RATES if stochastic else (*PAPER_SPLIT_RATES, 1.0)
        rates = tuple(np.atleast_1d(np.asarray(self.split_rate, float)).tolist())
        for rate in rates or (float("nan"),):
            if rate != 1 or stochastic:
                check_number("split_rate", rate, 0.0, 1.0)
        return rates

    def _propagation(self, graph: Graph) -> Propagation:
        options: dict[str, Any] = {"norm": self.norm, "self_loops": self.self_loops}
        return damped(graph, self.damping, self.n_steps, self.tol, **options)

    # -- the two ways ---------------------------------------------------------------------
    def _ridges(self) -> np.ndarray:
        """One for each input; the constant has none to speak of."""
        c = self.targets_.Y.shape[1] if self.label_trick else 0
        each = np.full(self._n_spread_features + 1 + c, float(self.ridge))
        each[self._n_spread_features] = 1e-9
        return each

    @property
    def _n_spread_features(self) -> int:
        return self._rows.features(self.fitted_inputs).shape[1]

    def _by_corollary(self, rates: tuple[float, ...]) -> LinearFit:
        """The minimizer at each rate; the best on validation nodes, else by folds."""
        found = self._solve(self.fitted_inputs, rates)
        if len(rates) == 1:
            return LinearFit(found[0], split_rate=rates[0])
        validate = self._validate()
        oof = None if len(self.validation_) else self._oof_rows(rates)
        scores = {
            rate: validate(W, None if oof is None else oof[k])
            for k, (rate, W) in enumerate(zip(rates, found, strict=True))
        }
        best = int(np.argmax([scores[rate] for rate in rates]))
        if oof is not None:
            self._cache["oof"] = self._finish(oof[best])
        return LinearFit(found[best], split_rate=rates[best], scores=scores)

    def _solve(self, inputs: NodeInputs, rates: tuple[float, ...]) -> list[np.ndarray]:
        """Weights (features, constant, labels) at each rate, from the labels of ``inputs``."""
        nodes = np.flatnonzero(inputs.targets.labeled)
        Y = self._rows.label_inputs(inputs)
        labels, penalty = np.zeros((len(nodes), 0)), np.zeros((0, 0))
        if self.label_trick:
            labels = self._rows.labels(inputs, self._self_weight())[nodes]
            penalty = self._penalty(Y, nodes)
        root = np.sqrt(inputs.targets.weight[nodes])[:, None]
        features = self._feature_rows(self.fitted_inputs)[nodes]
        problem = LabelTrickProblem(Y[nodes] * root, labels * root, features * root, penalty)
        found = minimize(problem, rates, ridge=self._ridges())
        return [np.concatenate([weights.features, weights.labels]) for weights in found]

    def _self_weight(self) -> SelfWeight:
        if "self_weight" not in self._cache:
            nodes = self.labeled_
            rows = None if self._probes_penalty else nodes
            self._cache["self_weight"] = self._rows.P.self_weight(
                nodes,
                tol=own_tolerance(self._rows.P, nodes, TOL),
                rows=rows,
                progress=self.progress,
            )
        return self._cache["self_weight"]

    @property
    def _probes_penalty(self) -> bool:
        """Whether whole columns of P, one a labeled node, would take too long for the penalty."""
        in_columns = self.n_steps is not None  # the limit has its energies from neighborhoods
        return in_columns and len(self.labeled_) * self.graph_.nnz > _MOST_COLUMN_ENTRIES

    def _penalty(self, Y: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """YᵀU²Y of the labels at some nodes. Energies are over all labeled rows, in folds too: a
        matter of the graph, not of labels."""
        P, weight = self._rows.P, self._self_weight()
        if self._probes_penalty:
            found, _ = probed_penalty(
                P, Y, nodes, rows=self.labeled_, self_weight=weight, progress=self.progress
            )
            return found
        u2 = penalty_weights(P, self.labeled_, self_weight=weight)
        return penalty_matrix(Y, nodes, u2[np.searchsorted(self.labeled_, nodes)])

    def _oof_rows(self, rates: tuple[float, ...]) -> list[np.ndarray]:
        """At each rate, each fifth of the labeled nodes by weights from the others' labels, as
        targets and as inputs; the fifth's own labels are inputs of one another only."""
        nodes, c = self.labeled_, self.targets_.Y.shape[1]
        full = self._table(self.fitted_inputs)[nodes]

        def predict_fold(inside: np.ndarray) -> np.ndarray:
            known = NodeInputs(self.targets_.only(nodes[~inside]), self.graph_, self.features_)
            return np.concatenate([full[inside] @ W for W in self._solve(known, rates)], axis=1)

        # In the units of training: 0 is the center of the numbers.
        guess = 0.0 if self.targets_.task == "regression" else 1 / c
        otherwise = np.full((len(nodes), c * len(rates)), guess)
        fold = draw_folds(self.targets_, nodes, N_FOLDS, 0)
        rows = by_folds(fold, predict_fold, otherwise, progress=self.progress)
        return np.split(rows, len(rates), axis=1)

    def _by_splits(self, rates: tuple[float, ...]) -> LinearFit:
        """Normal equations summed over random splits: all epochs of a training at once."""
        validate = self._validate()
        rng = np.random.default_rng(self.random_state)
        oof = None
        if not len(self.validation_):
            oof = self._table(self.fitted_inputs)[self.labeled_]

        def score(fit: LinearFit) -> float:
            return validate(fit.weights, None if oof is None else oof @ fit.weights)

        with ProgressBar(self.n_splits * len(rates), "splits", self.progress) as bar:
            return best_rate(
                rates,
                lambda rate: LinearFit(solve_semidefinite(*self._normal_equations(rate, rng, bar))),
                score,
            )

    def _normal_equations(
        self, rate: float, rng: np.random.Generator, bar: ProgressBar
    ) -> tuple[np.ndarray, np.ndarray]:
        known = self.targets_
        Y = self._rows.label_inputs(self.fitted_inputs)
        features = self._feature_rows(self.fitted_inputs)
        system = np.diag(self._ridges())
        right = np.zeros((len(system), Y.shape[1]))
        # An expectation over splits, divided by 1−α as in Theorem 1.
        share = 1 / (self.n_splits * (1 - rate))
        for _ in range(self.n_splits):
            split = draw_split(known, rate, rng)
            out = np.flatnonzero(split.out_mask)
            view = self._rows.random_labels(split.in_mask, rate)[out]
            Z = np.concatenate([features[out], view], axis=1)
            weighted = Z * (share * known.weight[out])[:, None]
            system += weighted.T @ Z
            right += weighted.T @ Y[out]
            bar.advance()
        return system, right

    def _validate(self) -> Callable[[np.ndarray, np.ndarray | None], float]:
        """(weights, left-out rows) → score: of those rows; without any, on validation nodes."""
        by_validation = len(self.validation_) > 0
        nodes = self.validation_ if by_validation else self.labeled_
        known = self.validation_targets_ if by_validation else self.targets_
        truth, weight = known.Y[nodes], known.weight[nodes]
        inputs = self._validation_rows() if by_validation else None

        def validate(W: np.ndarray, oof: np.ndarray | None) -> float:
            rows = inputs @ W if oof is None else oof
            return metrics.score(known.task, truth, self._finish(rows), weight)

        return validate

    def _validation_rows(self) -> np.ndarray:
        """Their labels are no inputs: nothing of their own to leave out, no self-weights needed."""
        features = self._feature_rows(self.fitted_inputs)[self.validation_]
        if not self.label_trick:
            return features
        labels = self._rows.labels_elsewhere(self.fitted_inputs)[self.validation_]
        return np.concatenate([features, labels], axis=1)

    # -- rows and predictions -------------------------------------------------------------
    def _feature_rows(self, inputs: NodeInputs) -> np.ndarray:
        """Rows [P·X, 1]."""
        features = self._rows.features(inputs)
        return np.concatenate([features, np.ones((len(features), 1))], axis=1)

    def _table(self, inputs: NodeInputs) -> np.ndarray:
        """Rows [P·X, 1, (P−C)·Y_tr]."""
        features = self._feature_rows(inputs)
        if not self.label_trick:
            return features
        return np.concatenate([features, self._rows.labels(inputs)], axis=1)

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        weights = (self.coef_features_, self.intercept_[None], self.coef_labels_)
        return self._finish(self._table(inputs) @ np.concatenate(weights))

    @property
    def has_oof(self) -> bool:
        return self.label_trick != "stochastic"

    @property
    def oof_rows_(self) -> np.ndarray:
        if not self.has_oof:
            raise AttributeError(
                "leave-one-out predictions need label_trick='deterministic' or None: random splits "
                "train each weight on every label."
            )
        if "oof" not in self._cache:
            self._cache["oof"] = self._finish(self._oof_rows((self.split_rate_,))[0])
        return self._cache["oof"]
