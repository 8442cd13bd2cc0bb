"""Model selection: search by out-of-fold or validation scores.

Out-of-fold predictions are honest scores: damping, norm, self-loops, steps and split rate can be
chosen without setting labels aside for validation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import warn_caller
from .._utils.progress import Progress, ProgressBar
from ..evaluation import metrics
from ..graph.graph import Graph
from .base.estimator import GraphEstimator
from .base.node_inputs import NodeInputs, graph_for
from .base.protocol import NodeEstimator

Scoring = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Trial:
    """One setting that was tried.

    Attributes
    ----------
    params : dict
        The parameters.
    score : float
        Their score; −inf if training diverged.
    """

    params: dict[str, Any]
    score: float


@dataclass(eq=False, repr=False)
class GraphSearch(GraphEstimator):
    """Exhaustive search over the parameters of an estimator.

    Parameters
    ----------
    estimator : estimator
        Any estimator of this library.
    grid : dict of str to sequence, or list of dict
        Values to try for each parameter; every combination is tried.
    scoring : callable or None, default=None
        None scores by accuracy, or R² for regression. A function is called with (true rows,
        predicted rows): one-hot or indicator rows and probabilities, or values and predictions.
        Higher is better.
    progress : bool, callable or None, default=None
        None shows a progress bar on a terminal, True always and False never; a function is called
        with (done, total).

    Attributes
    ----------
    best_estimator_ : estimator
        The fitted estimator with the best score.
    best_params_ : dict
        Its parameters.
    best_score_ : float
        Its score.
    trials_ : list of Trial
        Every setting with its score, in the order tried.
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
    AutoModel : A blend of several models without settings.
    split_nodes : Split labeled nodes at random.

    Notes
    -----
    Without ``validation`` nodes, scores are those of ``oof_prediction_``; the best score is
    slightly optimistic if many settings were tried. With them, the best setting is the one that
    predicts the validation nodes best, and their labels never enter any fit.

    Examples
    --------
    >>> from labeltrick import Graph, LabelPropagation
    >>> ring = Graph.from_edges(range(12), [(i + 1) % 12 for i in range(12)])
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1, -1, 1, 1, 1]
    >>> search = GraphSearch(LabelPropagation(), {"damping": [0.3, 0.9], "norm": ["sym", "row"]})
    >>> search.fit(None, y, graph=ring).best_params_["damping"]
    0.3
    >>> int(search.predict()[8])
    1
    """

    estimator: Any
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
    _: KW_ONLY
    scoring: Scoring | None = None
    progress: Progress = None

    @property
    def task(self) -> str:  # type: ignore[override]
        return self.estimator.task

    @property
    def uses_validation_labels(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.estimator, "uses_validation_labels", False))

    @property
    def uses_types(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.estimator, "uses_types", False))

    def _fit(
        self, X: Any, y: Any, graph: Graph | None, sample_weight: Any, validation: Any
    ) -> None:
        from sklearn.model_selection import ParameterGrid

        if self.scoring is not None and not callable(self.scoring):
            raise TypeError(
                f"`scoring` must be None or a function of (true rows, predicted rows); got "
                f"{self.scoring!r}."
            )
        settings = list(ParameterGrid(self.grid))
        given = {"sample_weight": sample_weight, "validation": validation}
        options = {name: value for name, value in given.items() if value is not None}
        options["graph"] = graph_for(graph, X, y)
        self.trials_: list[Trial] = []
        best = None
        with ProgressBar(len(settings), "search", self.progress) as bar:
            for params in settings:
                model = clone(self.estimator).set_params(**params)
                try:
                    model.fit(X, y, **options)
                    score = self._score(model)
                except FloatingPointError as error:  # other settings may not diverge
                    warn_caller(f"{params}: {error}")
                    score = -math.inf
                self.trials_.append(Trial(params, score))
                if best is None or score > self.best_score_:
                    best = model
                    self.best_score_, self.best_params_ = score, params
                bar.advance()
        if best is None:
            raise ValueError("`grid` must hold at least one setting; got none.")
        self.best_estimator_ = best
        self.__dict__.pop("classes_", None)
        for name in ("targets_", "graph_", "labeled_", "prior_", "classes_", "validation_"):
            if hasattr(best, name):
                setattr(self, name, getattr(best, name))
        self._cache = best._cache

    def _score(self, model: NodeEstimator) -> float:
        if not len(model.validation_):
            known, nodes, rows = model.targets_, model.labeled_, model.oof_rows_
        else:
            known, nodes = model.validation_targets_, model.validation_
            rows = model.scores_of(model.fitted_inputs)[nodes]
        if self.scoring is not None:
            return float(self.scoring(known.Y[nodes], rows))
        return metrics.score(known.task, known.Y[nodes], rows, known.weight[nodes])

    def inputs_of(self, X: Any, y: Any, graph: Graph | None) -> NodeInputs:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.inputs_of(X, y, graph)

    @property
    def fitted_inputs(self) -> NodeInputs:
        return self.best_estimator_.fitted_inputs

    @property
    def _default_inputs(self) -> NodeInputs:
        return self.best_estimator_._default_inputs

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        return self.best_estimator_.scores_of(inputs)

    @property
    def calibration_(self) -> Any:
        return self.best_estimator_.calibration_

    @property
    def oof_rows_(self) -> np.ndarray:
        return self.best_estimator_.oof_rows_
