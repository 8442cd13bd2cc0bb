"""Models by their names on the command line."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from ..auto import AutoModel
from ..boosting import GraphBoosting
from ..label_propagation import LabelPropagation
from ..tables import Problem
from ..trainable import TrainableLabelPropagation
from .settings import FitSettings, parse_seconds

MODELS: dict[str, tuple[type, bool, str]] = {
    "auto": (AutoModel, False, "tries what suits the data and blends it"),
    "label-propagation": (LabelPropagation, False, "labels and edges alone"),
    "trainable-label-propagation": (
        TrainableLabelPropagation,
        False,
        "labels and edges alone, with weights learnt from them",
    ),
    "boosting": (GraphBoosting, True, "trees on columns, neighbours' columns and labels"),
}
"""name → (class, whether it needs columns, what it is)."""


def find_model(name: str) -> type:
    if name in MODELS:
        return MODELS[name][0]
    near = get_close_matches(name, MODELS, 1, 0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"`--model` must be one of {', '.join(MODELS)}; got {name!r}.{hint}")


def make_model(
    settings: FitSettings, task: str, *, checkpoint: Any = None, progress: Any = None
) -> Any:
    """The estimator of some settings."""
    kind = find_model(settings.model)
    allowed = kind().get_params()
    for name in settings.set:
        if name not in allowed:
            near = get_close_matches(name, allowed, 1, 0.4)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"`--set` must name parameters of {settings.model}; got {name!r}.{hint} They are: "
                f"{', '.join(allowed)}."
            )
    given: dict[str, Any] = {"task": task, "progress": progress, "random_state": settings.seed}
    if kind is AutoModel:
        given |= {"budget": parse_seconds(settings.budget), "metric": settings.metric}
        given["checkpoint"] = checkpoint
    return kind(**({name: v for name, v in given.items() if name in allowed} | settings.set))


def features_for(settings: FitSettings, problem: Problem) -> Any:
    """The columns a model takes: None for one that uses labels alone."""
    kind, needs, _ = MODELS[settings.model]
    if needs and problem.X is None:
        raise ValueError(
            f"`--model {settings.model}` must have columns to learn from; the nodes have none. Use "
            "--model auto or trainable-label-propagation."
        )
    return None if kind in (LabelPropagation, TrainableLabelPropagation) else problem.X
