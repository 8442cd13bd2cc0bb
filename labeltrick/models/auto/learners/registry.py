"""The learners of `AutoModel`, the most useful first, and those that a user asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from .estimator import EstimatorLearner, is_estimator
from .graph_network import DeepGraphNetworkLearner, GraphNetworkLearner
from .linear import LinearLearner
from .nearby import WordsNearbyLearner
from .network import DeepNetworkLearner, NetworkLearner
from .protocol import Learner, Problem
from .trees import OwnColumnsLearner, TreesLearner

LEARNERS: tuple[Learner, ...] = (
    TreesLearner("trees"),
    NetworkLearner("network", options={"n_layers": 2, "dropout": 0.5}),
    DeepNetworkLearner("deep network", options={"n_layers": 3, "dropout": 0.3}),
    WordsNearbyLearner("words nearby"),
    GraphNetworkLearner("graph network"),
    DeepGraphNetworkLearner("deep graph network"),
    LinearLearner("linear"),
    # Trees of the blend take smaller steps.
    OwnColumnsLearner("features alone", options={"n_rounds": 75, "learning_rate": 0.16}),
)
NAMES = tuple(learner.name for learner in LEARNERS)


def check_learners(learners: Any, exclude: Any) -> tuple[list[Learner], list[str]]:
    """The learners that are asked for, and the names that are excluded."""
    if isinstance(learners, str) or (learners is not None and not isinstance(learners, Sequence)):
        raise TypeError(
            "`learners` must be None or a list of names, learners and scikit-learn estimators; "
            f"got {learners!r}. Write ['trees', 'network']."
        )
    if isinstance(exclude, str) or not isinstance(exclude, Sequence):
        raise TypeError(f"`exclude` must be a list of names; got {exclude!r}. Write ['trees'].")
    for name in exclude:
        _named(name, "exclude")
    asked = LEARNERS if learners is None else _unique([_learner(each) for each in learners])
    # Baselines are reported beside any choice.
    asked = [*asked, *(each for each in LEARNERS if each.baseline and each not in asked)]
    kept = [each for each in asked if each.name not in exclude]
    if all(each.baseline for each in kept):
        raise ValueError(
            "`learners` must leave at least one learner that is not a baseline; got "
            f"{[each.name for each in kept]}. Choose from {list(NAMES[:-1])}."
        )
    return kept, list(exclude)


def _learner(given: Any) -> Learner:
    if isinstance(given, Learner):
        return given
    if isinstance(given, str):
        return _named(given, "learners")
    if is_estimator(given):
        return EstimatorLearner(type(given).__name__, estimator=given)
    raise TypeError(
        "`learners` must hold names, learners and scikit-learn classifiers or regressors; got "
        f"{given!r}."
    )


def _named(name: Any, parameter: str) -> Learner:
    found = {learner.name: learner for learner in LEARNERS}.get(name)
    if found is None:
        near = get_close_matches(str(name), NAMES, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"`{parameter}` must hold names of {list(NAMES)}; got {name!r}.{hint}")
    return found


def _unique(learners: list[Learner]) -> list[Learner]:
    """Two estimators of one class get different names."""
    found: list[Learner] = []
    for learner in learners:
        count = sum(each.name.split(" #")[0] == learner.name for each in found)
        if count and isinstance(learner, EstimatorLearner):
            learner = replace(learner, name=f"{learner.name} #{count + 1}")
        elif count:
            raise ValueError(f"`learners` must not repeat a name; got {learner.name!r} twice.")
        found.append(learner)
    return found


def is_built_in(learner: Learner) -> bool:
    return type(learner) in {type(each) for each in LEARNERS}


def suited(learners: list[Learner], problem: Problem) -> tuple[list[Learner], list[str]]:
    """(the learners that suit the data, with their columns; the names of the others)."""
    fits = [learner for learner in learners if learner.suits(problem)]
    others = [learner.name for learner in learners if not learner.suits(problem)]
    return [learner.prepared(problem) for learner in fits], others
