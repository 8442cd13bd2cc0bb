"""The models of the command line, by name."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ...graph.compute import SETTINGS
from ...io.tables import Problem
from ...models.auto import AutoModel
from ...models.auto.on_table import OnTable
from ...models.boosting import GraphBoosting
from ...models.correct_smooth import CorrectAndSmooth, TrainableCorrectAndSmooth
from ...models.gnn.estimator import GNN
from ...models.label_propagation.plain import LabelPropagation
from ...models.label_propagation.trainable import TrainableLabelPropagation
from ...models.linear_gnn import SGC, SIGN, TWIRLS, LabelFeatureRegression
from .settings import FitSettings, parse_seconds


@dataclass(frozen=True)
class NamedModel:
    """A model of the command line.

    ``columns`` is "none" (only labels and edges), "maybe", "table" (needs columns) or "numbers"
    (needs columns and takes them as numbers).
    """

    kind: type
    columns: str
    what: str


MODELS = {
    "auto": NamedModel(AutoModel, "maybe", "tries learners that suit the data and blends them"),
    "label-propagation": NamedModel(LabelPropagation, "none", "only labels and edges"),
    "trainable-label-propagation": NamedModel(
        TrainableLabelPropagation, "none", "only labels and edges, with learned weights"
    ),
    "boosting": NamedModel(
        GraphBoosting, "table", "trees on columns, neighbors' columns and labels"
    ),
    "regression": NamedModel(
        LabelFeatureRegression, "numbers", "linear in propagated columns and labels, closed form"
    ),
    "sgc": NamedModel(SGC, "numbers", "one linear layer on propagated columns and labels"),
    "sign": NamedModel(SIGN, "numbers", "a perceptron on propagated columns and labels"),
    "twirls": NamedModel(TWIRLS, "numbers", "two perceptrons with energy steps between them"),
    "gnn": NamedModel(GNN, "numbers", "a graph network with labels as inputs; --set backbone=sage"),
    "correct-and-smooth": NamedModel(
        CorrectAndSmooth, "numbers", "a perceptron, corrected by nearby residuals and smoothed"
    ),
    "trainable-correct-and-smooth": NamedModel(
        TrainableCorrectAndSmooth, "numbers", "the same, with learned weights"
    ),
}


def find_model(name: str) -> type:
    """The estimator class of a model name."""
    if name in MODELS:
        return MODELS[name].kind
    near = get_close_matches(name, MODELS, 1, 0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"`--model` must be one of {', '.join(MODELS)}; got {name!r}.{hint}")


def make_model(
    settings: FitSettings, task: str, *, resume_from: Any = None, progress: Any = None
) -> Any:
    """The unfitted estimator that the settings describe."""
    kind = find_model(settings.model)
    allowed = kind().get_params()
    parameters = {name: v for name, v in settings.set.items() if name not in settings.engine}
    for name in parameters:
        if name not in allowed:
            near = get_close_matches(name, allowed, 1, 0.4)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"`--set` must name parameters of {settings.model}; got {name!r}.{hint} They are: "
                f"{', '.join([*allowed, *SETTINGS])}."
            )
    given: dict[str, Any] = {"task": task, "progress": progress, "random_state": settings.seed}
    if kind is AutoModel:
        given |= {"budget": parse_seconds(settings.budget), "metric": settings.metric}
        given["resume_from"] = resume_from
    model = kind(**({name: v for name, v in given.items() if name in allowed} | parameters))
    return OnTable(model) if MODELS[settings.model].columns == "numbers" else model


def features_for(settings: FitSettings, problem: Problem) -> Any:
    """The columns that the model takes; None if it uses only labels and edges."""
    columns = MODELS[settings.model].columns
    if columns in ("table", "numbers") and problem.X is None:
        raise ValueError(
            f"`--model {settings.model}` must have columns to learn from; there are none. Use "
            "--model auto or trainable-label-propagation."
        )
    return None if columns == "none" else problem.X
