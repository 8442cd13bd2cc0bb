"""`LabelFeatureRegression`: Corollary 1's predictor, in closed form at every split rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_damping, check_number
from ..._utils.feature_tables import SCALES
from ..._utils.progress import Progress, ProgressBar
from ...graph.graph import Graph
from ...propagation.base import Propagation
from ...propagation.diagonal.self_weight import SelfWeight
from ...self_exclusion.label_views import damped
from ...self_exclusion.objective import (
    LabelTrickProblem,
    certify_columns,
    minimize,
    penalty_matrix,
    penalty_weights,
    probed_penalty,
    solve_semidefinite,
)
from ...self_exclusion.rounding import own_tolerance
from ..base.draws import draw_split
from ..base.feature_estimator import TRICKS, FeatureEstimator
from ..base.folds import by_folds, draw_folds, version_scores
from ..base.node_inputs import NodeInputs
from ..base.weights import LinearFit, best_rate, check_split_rates
from .rows import TOL, PropagatedRows, rows_of

_MOST_COLUMN_ENTRIES = 20_000_000_000  # about a minute; with more, the penalty is estimated
_N_INNER_FOLDS = 3  # that choose the rate of an out-of-fold prediction


@dataclass(eq=False, repr=False)
class LabelFeatureRegression(FeatureEstimator):
    """Least squares on propagated features and labels (paper, Corollary 1, eq. 9 and 10).

    The objective is

        ‖Y_tr − M_tr P X W_x − M_tr (P−C) Y_tr W_y‖² + (1−α)/α·‖Γ W_y‖² + ridge·(‖W_x‖² + ‖W_y‖²),

    the expected loss of the stochastic label trick at rate α, solved exactly. Classes are regressed
    as indicators.

    Parameters
    ----------
    damping : float, default=0.9
        λ in (0, 1) of the propagation (1−λ)(I−λS)⁻¹.
    n_steps : int or None, default=9
        Number of steps of its iteration. None computes the exact limit.
    norm : {"sym", "row", "col"}, default="sym"
        Normalization of the adjacency matrix; see `Graph.normalized`.
    self_loops : bool, default=True
        Whether to add a self-loop to each node that has none.
    label_trick : {"deterministic", "stochastic", None}, default="deterministic"
        "deterministic" is the objective above. "stochastic" minimizes the mean loss over
        ``n_splits`` random splits, an estimate of it. None uses features only.
    split_rate : float, sequence of float or "auto", default="auto"
        α; from several, the best is chosen, all at the cost of one product of the data. "auto"
        tries the paper's {0.05, …, 0.95} and, if deterministic, the limit 1, which has no penalty.
    n_splits : int, default=20
        Number of random splits per rate for "stochastic".
    ridge : float, default=1.0
        Strength of the L2 penalty, for inputs of size one. The intercept is not penalized.
    scale : {"auto", "columns", "global", False}, default="auto"
        Scaling of the propagated features. "columns" gives each column mean 0 and standard
        deviation 1, "global" divides all by one number, and False leaves them as they are. "auto"
        is "global" for sparse and "columns" for dense features.
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
        Whether to show a bar; None shows it on a terminal. A function is called with (done, total).

    Attributes
    ----------
    coef_features_ : ndarray of shape (d, c)
        W_x, for the scaled features.
    coef_labels_ : ndarray of shape (c, c)
        W_y.
    intercept_ : ndarray of shape (c,)
        The constant.
    split_rate_ : float
        α in use.
    split_rate_scores_ : dict of float to float
        Score of each α on validation nodes or, without any, of out-of-fold predictions. With
        "stochastic" and no validation nodes, the weights have seen the scored labels.
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
    self_exclusion.label_trick_problem : The objective at every split rate.

    Notes
    -----
    Does not need torch. Time is O(m(c+d)²) once for m labeled nodes, c classes and d features, then
    O((c+d)³) per rate. If ``n_steps`` is given, Γ takes one column of P per labeled node; on large
    graphs its class-wise sums are estimated with random signs instead (`probed_penalty`), to about
    one percent. C is exact in either case.

    Each fifth of the labeled nodes is predicted out of fold by weights made without its labels. If
    there are several rates and no validation nodes, its rate is chosen by three inner folds of the
    other labels: a rate chosen by the labels that are scored would flatter the score. On first use,
    out-of-fold predictions then take 20 solutions like that of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltrick import Graph, LabelFeatureRegression
    >>> graph = Graph.from_edges(range(59), range(1, 60))
    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]
    >>> model = LabelFeatureRegression().fit(X, np.where(np.arange(60) % 2, y, -1), graph=graph)
    >>> float(model.score(None, np.where(np.arange(60) % 2, -1, y))) > 0.9
    True
    """

    damping: float = 0.9
    n_steps: int | None = 9
    _: KW_ONLY
    norm: str = "sym"
    self_loops: bool = True
    label_trick: str | None = "deterministic"
    split_rate: str | float | Sequence[float] = "auto"
    n_splits: int = 20
    ridge: float = 1.0
    scale: str | bool = "auto"
    class_weight: Any = None
    calibrate: bool = True
    task: str = "auto"
    random_state: Any = 0
    tol: float = 1e-6
    progress: Progress = None

    def _fit(self, *data: Any) -> None:
        rates = self._settle()
        self._start_feature_fit(*data)
        if self.label_trick == "stochastic":
            fit = self._by_splits(rates)
        else:
            fit = self._by_corollary(rates if self.label_trick else (1.0,))
        d = self._n_spread_features
        self.coef_features_, self.intercept_ = fit.weights[:d], fit.weights[d]
        self.coef_labels_ = fit.weights[d + 1 :]
        self.split_rate_, self.split_rate_scores_ = fit.split_rate, fit.scores or {}

    @property
    def _rows(self) -> PropagatedRows:
        return rows_of(self)

    def _settle(self) -> tuple[float, ...]:
        """Check the parameters and return the split rates to try."""
        check_choice("label_trick", self.label_trick, TRICKS)
        check_choice("scale", self.scale, SCALES)
        check_damping(self.damping)
        check_count("n_splits", self.n_splits, 1)
        if self.ridge != 0:
            check_number("ridge", self.ridge, 0.0, np.inf)
        return check_split_rates(self.split_rate, limit=self.label_trick != "stochastic")

    def _propagation(self, graph: Graph) -> Propagation:
        options = {"norm": self.norm, "self_loops": self.self_loops}
        return damped(graph, self.damping, self.n_steps, self.tol, **options)

    # -- training -------------------------------------------------------------------------
    def _ridges(self) -> np.ndarray:
        """One ridge per input; almost 0 for the constant."""
        c = self.targets_.Y.shape[1] if self.label_trick else 0
        each = np.full(self._n_spread_features + 1 + c, float(self.ridge))
        each[self._n_spread_features] = 1e-9
        return each

    @property
    def _n_spread_features(self) -> int:
        return self._rows.features(self.fitted_inputs).shape[1]

    def _by_corollary(self, rates: tuple[float, ...]) -> LinearFit:
        """The minimizer at the best rate, by validation or out-of-fold scores."""
        found = self._solve(self.fitted_inputs, rates)
        if len(rates) == 1:
            return LinearFit(found[0], split_rate=rates[0])
        if len(self.validation_):
            each = [self._validation_score(W) for W in found]
        else:
            predict_fold = partial(self._predict_fold, rates, choose=False)
            rows = self._cross_fitted(predict_fold, self.progress, len(rates))
            each = version_scores(self.targets_, rows)
        best = int(np.argmax(each))
        scores = dict(zip(rates, each, strict=True))
        return LinearFit(found[best], split_rate=rates[best], scores=scores)

    def _solve(
        self, inputs: NodeInputs, rates: tuple[float, ...], penalty: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Weights (features, constant, labels) at each rate, from the labels of ``inputs``.

        ``penalty`` is YᵀU²Y, computed by default.
        """
        nodes = np.flatnonzero(inputs.targets.labeled)
        Y = self._rows.label_inputs(inputs)
        labels = self._labels_seen(inputs)[nodes]
        if penalty is None:
            penalty = self._penalty(Y, nodes)
        root = np.sqrt(inputs.targets.weight[nodes])[:, None]
        features = self._feature_rows(self.fitted_inputs)[nodes]
        problem = LabelTrickProblem(Y[nodes] * root, labels * root, features * root, penalty)
        found = minimize(problem, rates, ridge=self._ridges())
        return [np.concatenate([weights.features, weights.labels]) for weights in found]

    def _self_weight(self) -> SelfWeight:
        P, nodes = self._rows.P, self.labeled_
        options: dict[str, Any] = {"tol": own_tolerance(P, nodes, TOL), "progress": self.progress}
        rows = None if self._probes_penalty else nodes
        make = partial(P.self_weight, nodes, rows=rows, **options)
        return self._once_in_any_units("self_weight", make)

    @property
    def _probes_penalty(self) -> bool:
        """Whether one column of P per labeled node would take too long for the penalty."""
        in_columns = self.n_steps is not None  # the limit uses neighborhoods
        return in_columns and len(self.labeled_) * self.graph_.nnz > _MOST_COLUMN_ENTRIES

    def _penalty(self, Y: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """YᵀU²Y of the labels at some nodes; ``Y`` is zero elsewhere.

        Energies are summed over all labeled rows, in folds too: they do not depend on labels. How
        accurate they must be does.
        """
        if not self.label_trick:
            return np.zeros((0, 0))
        P, weight = self._rows.P, self._self_weight()
        if self._probes_penalty:
            options: dict[str, Any] = {"self_weight": weight, "progress": self.progress}
            return probed_penalty(P, Y, nodes, rows=self.labeled_, **options)[0]
        weight = certify_columns(P, Y[self.labeled_], weight, 1e-2)
        u2 = penalty_weights(P, self.labeled_, self_weight=weight)
        return penalty_matrix(Y, nodes, u2[np.searchsorted(self.labeled_, nodes)])

    def _by_splits(self, rates: tuple[float, ...]) -> LinearFit:
        """Normal equations summed over random splits: all epochs of a training at once."""
        rng = np.random.default_rng(self.random_state)
        seen = None if len(self.validation_) else self._table(self.fitted_inputs)[self.labeled_]

        def score(fit: LinearFit) -> float:
            if seen is None:
                return self._validation_score(fit.weights)
            return version_scores(self.targets_, self._predict(seen, [fit.weights]))[0]

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

    # -- folds and scores -----------------------------------------------------------------
    def _predict_fold(
        self, rates: tuple[float, ...], inside: np.ndarray, *, choose: bool
    ) -> np.ndarray:
        """Rows of a fold of the labeled nodes by weights from the labels of the others, at each
        rate or, with ``choose``, at the one that is best for the others.

        The labels of the fold are neither targets nor inputs of the training; they are inputs of
        one another in the prediction.
        """
        nodes = self.labeled_
        others = self._training_inputs(nodes[~inside])
        fold = self._without_fold(others.targets)
        if choose:
            rates = (fold._rate_for(others, rates),)
        given = self.fitted_inputs
        table = fold._table(given, fold._labels_seen(given))[nodes[inside]]
        return fold._predict(table, fold._solve(others, rates))

    def _rate_for(self, given: NodeInputs, rates: tuple[float, ...]) -> float:
        """The best rate by cross-validation on the labels of ``given`` alone."""
        known, nodes = given.targets, np.flatnonzero(given.targets.labeled)
        if len(rates) == 1 or len(nodes) < 2:
            return rates[0]
        table = self._table(given, self._labels_seen(given))[nodes]
        # Draws of signs are costly. A penalty is a sum over labels: a part has its share of it.
        Y, probes = self._rows.label_inputs(given), self._probes_penalty
        whole = self._penalty(Y, nodes) if probes else None

        def predict_fold(inside: np.ndarray) -> np.ndarray:
            others = self._training_inputs(nodes[~inside])
            penalty = None if whole is None else whole * np.mean(~inside)
            return self._predict(table[inside], self._solve(others, rates, penalty))

        fold = draw_folds(known, nodes, _N_INNER_FOLDS, 0)
        rows = np.zeros((len(nodes), known.Y.shape[1] * len(rates)))
        rows = by_folds(fold, predict_fold, rows, progress=False)
        return rates[int(np.argmax(version_scores(known, rows)))]

    def _predict(self, table: np.ndarray, weights: list[np.ndarray]) -> np.ndarray:
        """Predictions of rows of inputs by each of the weights, side by side."""
        return np.concatenate([self._finish(table @ W) for W in weights], axis=1)

    def _validation_score(self, W: np.ndarray) -> float:
        """Score on the validation nodes, which have no own label to exclude."""

        def make() -> np.ndarray:
            given = self.fitted_inputs
            labels = self._rows.labels_elsewhere(given) if self.label_trick else None
            return self._table(given, labels)[self.validation_]

        table = self._once("validation rows", make)
        return version_scores(self.validation_targets_, self._predict(table, [W]))[0]

    # -- rows and predictions -------------------------------------------------------------
    def _feature_rows(self, inputs: NodeInputs) -> np.ndarray:
        """Rows [P·X, 1]."""
        features = self._rows.features(inputs)
        return np.concatenate([features, np.ones((len(features), 1))], axis=1)

    def _labels_seen(self, inputs: NodeInputs) -> np.ndarray:
        """(P−C)·Y_tr on the fitted graph, by the self-weights that the penalty needs as well."""
        if not self.label_trick:
            return np.zeros((self.graph_.n_nodes, 0))
        return self._rows.labels(inputs, self._self_weight())

    def _table(self, inputs: NodeInputs, labels: np.ndarray | None = None) -> np.ndarray:
        """Rows [P·X, 1, labels], by default those of (P−C)·Y_tr."""
        features = self._feature_rows(inputs)
        if labels is None and self.label_trick:
            labels = self._rows.labels(inputs)
        return features if labels is None else np.concatenate([features, labels], axis=1)

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
                "out-of-fold predictions need label_trick='deterministic' or None: random splits "
                "train each weight on every label."
            )
        rates: tuple[float, ...] = (self.split_rate_,)
        if not len(self.validation_):  # the rate was chosen by the labels that it is scored on
            rates = tuple(self.split_rate_scores_) or rates
        predict_fold = partial(self._predict_fold, rates, choose=True)
        return self._oof_by_folds(predict_fold, self.progress)
