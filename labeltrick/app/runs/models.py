"""The models of the command line, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from ...graph.compute import SETTINGS
from ...io.tables import Problem
from ...models.auto import AutoModel
from ...models.auto.learners.registry import check_learners
from ...models.auto.on_table import OnTable
from ...models.boosting import GraphBoosting
from ...models.correct_smooth import CorrectAndSmooth, TrainableCorrectAndSmooth
from ...models.gnn.estimator import GNN
from ...models.label_propagation.plain import LabelPropagation
from ...models.label_propagation.trainable import TrainableLabelPropagation
from ...models.linear_gnn import SGC, SIGN, TWIRLS, LabelFeatureRegression
from .settings import FitSettings, parse_seconds

MODELS: dict[str, tuple[type, str]] = {
    "auto": (AutoModel, "maybe"),
    "label-propagation": (LabelPropagation, "none"),
    "trainable-label-propagation": (TrainableLabelPropagation, "none"),
    "boosting": (GraphBoosting, "table"),
    "regression": (LabelFeatureRegression, "numbers"),
    "sgc": (SGC, "numbers"),
    "sign": (SIGN, "numbers"),
    "twirls": (TWIRLS, "numbers"),
    "gnn": (GNN, "numbers"),
    "correct-and-smooth": (CorrectAndSmooth, "numbers"),
    "trainable-correct-and-smooth": (TrainableCorrectAndSmooth, "numbers"),
}
"""Class of each model, and the columns that it takes: "none" (it uses only labels and edges),
"maybe", "table" (it needs columns) or "numbers" (it needs columns and takes them as numbers)."""


def columns_of(settings: FitSettings) -> str:
    """The columns that the model takes with these parameters."""
    if settings.set.get("edge_weights") == "learned":
        return "numbers"  # a function of the features
    return MODELS[settings.model][1]


def find_model(name: str) -> type:
    """The estimator class of a model name."""
    if name in MODELS:
        return MODELS[name][0]
    names = ", ".join(MODELS)
    raise ValueError(f"`--model` must be one of {names}; got {name!r}.{_nearest(name, MODELS)}")


def _nearest(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, list(names), 1, 0.4)
    return f" Did you mean {near[0]!r}?" if near else ""


def make_model(
    settings: FitSettings, task: str, *, resume_from: Any = None, progress: Any = None
) -> Any:
    """The unfitted estimator that the settings describe."""
    kind = find_model(settings.model)
    allowed = kind().get_params()
    parameters = {name: v for name, v in settings.set.items() if name not in settings.engine}
    for name in parameters:
        if name not in allowed:
            raise ValueError(
                f"`--set` must name parameters of {settings.model}; got {name!r}."
                f"{_nearest(name, allowed)} They are: {', '.join([*allowed, *SETTINGS])}."
            )
    given: dict[str, Any] = {"task": task, "progress": progress, "random_state": settings.seed}
    given["unseen_categories"] = "missing"  # with a note: new rows often have new categories
    if kind is AutoModel:
        given |= {"budget": parse_seconds(settings.budget), "metric": settings.metric}
        given |= {"resume_from": resume_from, "plan": settings.plan or None, **_learners(settings)}
    model = kind(**({name: v for name, v in given.items() if name in allowed} | parameters))
    return OnTable(model) if columns_of(settings) == "numbers" else model


def _learners(settings: FitSettings) -> dict[str, Any]:
    """The learners of auto that the settings name, checked."""
    found = {"learners": list(settings.learners) or None, "exclude": list(settings.exclude)}
    try:
        check_learners(**found)
    except ValueError as error:  # it names the parameter of AutoModel
        raise ValueError(re.sub(r"^`", "`--", str(error))) from None
    return found


def is_random(name: str) -> bool:
    """Whether a model makes random choices."""
    return "random_state" in find_model(name)().get_params()


def features_for(settings: FitSettings, problem: Problem) -> Any:
    """The columns that the model takes; None if it uses only labels and edges."""
    columns = columns_of(settings)
    if columns in ("table", "numbers") and problem.X is None:
        raise ValueError(
            f"`--model {settings.model}` must have columns to learn from; there are none. Use "
            "--model auto or trainable-label-propagation."
        )
    return None if columns == "none" else problem.X


def label_options(problem: Problem) -> dict[str, Any]:
    """The labels that a fit uses, and its validation nodes: their labels choose, and are not
    inputs."""
    assert problem.labels is not None
    options = {"y": problem.labels.as_y(problem.known("train", "val"))}
    validation = problem.split.get("val", ())
    return options | {"validation": validation} if len(validation) else options
