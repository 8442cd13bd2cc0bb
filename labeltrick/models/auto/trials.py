"""What `AutoModel` tried, and which learners fit into its budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._utils.checks import check_count
from .learners.protocol import Learner, Sizes


@dataclass(frozen=True)
class Trial:
    """Result of one learner, blend or baseline that `AutoModel` tried.

    Attributes
    ----------
    name : str
        Name of the learner, blend or baseline.
    score : float
        Value of ``metric`` on the validation nodes if there are any, else on the labeled nodes out
        of fold. NaN if it was not run.
    loss : float
        Log loss or mean squared error on the same nodes, on which the choice is based.
    seconds : float
        Time taken.
    note : str, default=""
        Why it was not run, or what it consists of.
    """

    name: str
    score: float
    loss: float
    seconds: float
    note: str = ""


def plan(
    learners: list[Learner], sizes: Sizes, n_folds: int, budget: float | None
) -> tuple[list[Learner], dict[str, str]]:
    """(learners to run, reason for each learner not run). The first one always runs."""
    kept: list[Learner] = []
    left: dict[str, str] = {}
    spent = 0.0
    for learner in learners:
        seconds = learner.cost(sizes, n_folds)
        if kept and budget is not None and spent + seconds > budget:
            left[learner.name] = f"not run: about {seconds:.0f} s would exceed the budget"
            continue
        kept.append(learner)
        spent += seconds
    return kept, left


# With more, half of them teach as much as four fifths, for a quarter of the time, and no single one
# can bend a choice.
MANY_LABELS = 20_000
_FOLDS, _FEW_FOLDS = 5, 2


def check_folds(given: Any) -> None:
    """Check a number of folds."""
    if given != "auto":
        check_count("n_folds", given, 2)


def folds_for(given: Any, n_labeled: int) -> int:
    """The number of folds of so many labels."""
    if given != "auto":
        return int(given)
    return _FEW_FOLDS if n_labeled > MANY_LABELS else _FOLDS
