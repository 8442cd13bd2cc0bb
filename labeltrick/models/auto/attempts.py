"""The learners of a search, and what was run of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._utils.allowance import Allowance
from ..._utils.checks import warn_caller
from .crossfit import FittedLearner
from .learners.protocol import Learner, Member
from .plan import FitPlan

CHOICE = "choice"  # its name in a plan


@dataclass(frozen=True)
class Part:
    """One fit of a learner, its time, and the steps of loops that the clock has ended."""

    member: Member
    seconds: float
    steps: list[int | None]


@dataclass(eq=False)
class Attempt:
    """A learner and its parts so far. ``why`` says why it is not part of the blend."""

    learner: Learner
    cost: float
    parts: list[Part] = field(default_factory=list)
    why: str = ""
    look: np.ndarray | None = None
    n_started: int = 0  # parts that have begun
    options: dict[str, Any] = field(default_factory=dict)  # those that were changed

    def shorten(self, share: float) -> None:
        """Change options, so that it takes a share of its time."""
        shorter = self.learner.shortened(share)
        self.options = {name: value for name, value in shorter.options.items()
                        if value != self.learner.options.get(name)}  # fmt: skip
        self.learner = shorter

    @property
    def name(self) -> str:
        return self.learner.name

    def n_fits(self, n_folds: int) -> int:
        """The number of its fits, that on all labels included."""
        return n_folds + (self.learner.whole_fit > 0)

    def usual(self, k: int, n_folds: int) -> float:
        """Seconds of a further fit, by the first one."""
        return self.parts[0].seconds * (self.learner.whole_fit if k == n_folds else 1.0)

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)

    @property
    def fitted(self) -> FittedLearner:
        return FittedLearner(self.learner, [part.member for part in self.parts])


def fail(each: Attempt, error: Exception) -> None:
    """Leave a learner of the user out that has failed."""
    each.why = f"left out: {type(error).__name__}: {error}".splitlines()[0]
    warn_caller(f"learner {each.name!r} was {each.why}")


def plan_of(
    attempts: list[Attempt], choice: Allowance | None = None, nested: bool = False
) -> FitPlan:
    """The plan that runs the attempts and the choice again."""
    done = [each for each in attempts if not each.why]
    steps = {f"{each.name} {k}": part.steps
             for each in done for k, part in enumerate(each.parts) if part.steps}  # fmt: skip
    if choice is not None and choice.cut:
        steps[CHOICE] = choice.steps
    options = {each.name: each.options for each in done if each.options}
    return FitPlan(tuple(each.name for each in done), steps, options, nested)
