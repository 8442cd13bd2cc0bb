"""The score of a run without the columns that give the answer away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import scipy.sparse as sp

from ...io.tables import Problem
from .models import columns_of, find_model
from .scores import Score
from .settings import FitSettings
from .suspicious_columns import SuspiciousColumn

ONLY_LABELS = "label-propagation"


@dataclass(frozen=True)
class ScoreWithout:
    """The score of a second fit, on the same nodes, without some columns."""

    columns: tuple[str, ...]
    model: str
    score: Score

    def to_json(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "model": self.model, "score": self.score.to_json()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ScoreWithout:
        return cls(tuple(value["columns"]), value["model"], Score(**value["score"]))

    @property
    def words(self) -> str:
        """What was fitted, in words."""
        what = f"without {named(self.columns)}"
        if self.model == ONLY_LABELS:
            return f"label propagation, {what}: no other columns are left"
        return f"the same model, fitted again {what}"


def named(columns: tuple[str, ...], most: int = 5) -> str:
    """The columns in words, of which at most ``most`` are named."""
    shown = ", ".join(repr(name) for name in columns[:most])
    return shown if len(columns) <= most else f"{shown} and {len(columns) - most} more"


def takes_columns(settings: FitSettings) -> bool:
    """Whether the model learns from columns at all."""
    find_model(settings.model)
    return columns_of(settings) != "none"


def without_columns(
    settings: FitSettings, problem: Problem, doubted: list[SuspiciousColumn]
) -> tuple[FitSettings, Problem, tuple[str, ...]] | None:
    """Settings and problem for a fit without the columns that give the answer away, and their
    names; None if there are none, or if the model does not learn from columns.

    The model stays the same. If it needs columns and none are left, it is label propagation.
    """
    names = tuple(entry.column for entry in doubted if entry.gives_away)
    if not names or not takes_columns(settings):
        return None
    X = problem.X
    if hasattr(X, "get_columns"):
        X = X.drop(names)
    else:
        kept = [k for k in range(X.shape[1]) if f"column {k}" not in names]
        X = X.tocsr()[:, kept] if sp.issparse(X) else X[:, kept]
    problem = replace(problem, X=X if X.shape[1] else None)
    if problem.X is None and columns_of(settings) != "maybe":
        settings = replace(settings, model=ONLY_LABELS, set=settings.engine)
    return settings, problem, names
