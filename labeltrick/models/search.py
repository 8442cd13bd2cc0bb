"""Model choice: search by leave-one-out or validation scores.

Predictions that a node's own label did not enter are honest scores of their own: damping,
norm, self-loops, steps and split rate can be chosen without giving up labels for a validation set.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._utils.progress import Progress, ProgressBar
from ..evaluation import metrics
from ..graph.graph import Graph
from .base.estimator import GraphEstimator
from .base.node_inputs import NodeInputs, graph_for
from .base.protocol import NodeEstimator

Scoring = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Trial:
    """One setting that was tried, and its score."""

    params: dict[str, Any]
    score: float


class GraphSearch(GraphEstimator):
    """The best of several settings of an estimator, by leave-one-out or on validation nodes.

    Parameters
    ----------
    estimator : any estimator of this library.
    grid : {parameter: values}, or a list of such; every combination is tried.
    scoring : None for accuracy (R² for numbers), or a function of (true rows, predicted rows):
        one-hot or indicator rows and probabilities, or values and predictions. More is better.
    progress : a bar over the trials; see `Propagation.apply`.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_ : the winner, fitted.
    trials_ : every setting with its score, in the order tried.

    Notes
    -----
    Without ``validation``, scores are those of ``oof_prediction_``; the winner's own score is a
    little flattering where many settings were tried. With it, the winner is the one that
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

    def __init__(
        self,
        estimator: Any,
        grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        scoring: Scoring | None = None,
        progress: Progress = None,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.scoring = scoring
        self.progress = progress

    @property
    def task(self) -> str:  # type: ignore[override]
        return self.estimator.task

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Graph | None = None,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> GraphSearch:
        """Try every setting; ``validation`` are labeled nodes to score on instead."""
        from sklearn.model_selection import ParameterGrid

        if self.scoring is not None and not callable(self.scoring):
            raise TypeError(
                f"`scoring` must be None or a function of (true rows, predicted rows); got "
                f"{self.scoring!r}."
            )
        settings = list(ParameterGrid(self.grid))
        on = graph_for(graph, X, y)
        options: dict[str, Any] = {"graph": on}
        if sample_weight is not None:
            options["sample_weight"] = sample_weight
        if validation is not None:
            options["validation"] = validation
        self.trials_: list[Trial] = []
        best = None
        with ProgressBar(len(settings), "search", self.progress) as bar:
            for params in settings:
                model = clone(self.estimator).set_params(**params)
                try:
                    model.fit(X, y, **options)
                    score = self._score(model)
                except FloatingPointError as error:  # one setting that diverges is no reason
                    warnings.warn(f"{params}: {error}", stacklevel=2)
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
        return self

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

    def scores_of(self, inputs: NodeInputs) -> np.ndarray:
        return self.best_estimator_.scores_of(inputs)

    @property
    def calibration_(self) -> Any:
        return self.best_estimator_.calibration_

    @property
    def oof_rows_(self) -> np.ndarray:
        return self.best_estimator_.oof_rows_
