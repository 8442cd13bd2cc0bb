"""What a running search tells: what is being tried, the best score so far, and the time left."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...evaluation import metrics
from .looks import Look


def state_of(
    name: str, fold: int, looks: Mapping[str, np.ndarray], look: Look, seconds_left: float
) -> dict[str, Any]:
    """The state before a fit of learner ``name``, as plain values. ``looks`` are the calibrated
    predictions of the first fold by the learners that have any."""
    state: dict[str, Any] = {"trying": name, "fold": fold}
    if looks:
        best = min(looks, key=lambda each: float(look.losses(looks[each]).mean()))
        metric = metrics.default_metric(look.known.task)
        score = metrics.measure(metric, look.known.Y[look.nodes], looks[best])
        state |= {"best": best, "metric": metric, "score": round(float(score), 4)}
    if math.isfinite(seconds_left):
        state["seconds_left"] = max(0, round(seconds_left))
    return state


def in_words(state: Mapping[str, Any]) -> str:
    """A state as a line.

    >>> in_words({"trying": "trees", "fold": 2, "seconds_left": 75})
    'trees, fold 2; 1:15 of the budget left'
    """
    parts = [f"{state['trying']}, fold {state['fold']}"]
    if "best" in state:
        parts.append(f"best so far: {state['best']} ({state['metric']} {state['score']:.4g})")
    if "seconds_left" in state:
        minutes, seconds = divmod(state["seconds_left"], 60)
        parts.append(f"{minutes}:{seconds:02} of the budget left")
    return "; ".join(parts)
