"""Baselines to compare a score with: the most frequent label, labels only, columns only."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...io.tables import Problem
from ...models.auto import AutoModel
from ...models.boosting import GraphBoosting
from ...models.label_propagation.plain import LabelPropagation
from .models import label_options
from .scores import NodeScores
from .settings import FitSettings


def baseline_rows(
    settings: FitSettings, problem: Problem, model: Any, nodes: np.ndarray, *, oof: bool
) -> dict[str, np.ndarray]:
    """Predictions of the nodes by each baseline. With ``oof``, the nodes are the labeled ones, and
    each is predicted without its own label."""
    if isinstance(model, AutoModel):
        return {name: model.baseline(name, oof)[nodes] for name in model.baselines_}
    prior = "mean" if model.targets_.task == "regression" else "majority"
    found = {prior: np.repeat(model.prior_[None], len(nodes), axis=0)}
    for name, (simple, X) in _simpler_models(settings, problem).items():
        simple.set_params(task=model.targets_.task)
        simple.fit(X, graph=problem.graph, **label_options(problem))
        found[name] = simple.oof_rows_ if oof else NodeScores.of(simple).probabilities[nodes]
    return found


def _simpler_models(settings: FitSettings, problem: Problem) -> dict[str, tuple[Any, Any]]:
    """Simpler estimators, each with the columns that it takes."""
    found: dict[str, tuple[Any, Any]] = {}
    if settings.model != "label-propagation":
        found["label propagation"] = LabelPropagation(), None
    if problem.X is not None and not sp.issparse(problem.X):
        own = GraphBoosting(
            neighbor_hops=0, label_hops=0, damping=None, random_state=settings.seed, progress=False
        )
        found["features alone"] = own, problem.X
    return found
