"""Fits learners within a budget: a first fold of each, then the other folds of those with hope.

Cheap learners come first. Decisions by the clock are recorded in a plan; with a plan the same parts
are fitted again, and no clock is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._utils.allowance import Allowance, allowing
from ..._utils.checks import warn_caller
from ..._utils.progress import ProgressBar
from .budget import Budget
from .crossfit import CrossFitter, FittedLearner
from .journal import Journal
from .learners.protocol import Learner, Member, Sizes
from .learners.registry import is_built_in
from .looks import Look, is_best, without_hope
from .plan import FitPlan
from .reporting import in_words, state_of

CHOICE = "choice"  # its name in a plan
_FIRST_LOOKS = 1.5  # folds' worth of the time for learning, as some learners end after them
_CHOICES = 2.0  # choices take about as long as preparing so many times
_TOO_SHORT = 0.25  # a learner needs this share of its estimated time, or is not tried


@dataclass(frozen=True)
class Part:
    """One fit of a learner, its time, and the steps of loops that the clock has ended."""

    member: Member
    seconds: float
    steps: list[int | None]


@dataclass
class Attempt:
    """A learner and its parts so far. ``why`` says why it is not part of the blend."""

    learner: Learner
    cost: float
    parts: list[Part] = field(default_factory=list)
    why: str = ""
    look: np.ndarray | None = None
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

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)

    @property
    def fitted(self) -> FittedLearner:
        return FittedLearner(self.learner, [part.member for part in self.parts])


@dataclass
class Search:
    """Runs the attempts. ``look`` are the nodes by which learners are compared early."""

    fitter: CrossFitter
    journal: Journal
    budget: Budget
    look: Look
    bar: ProgressBar
    plan: FitPlan | None = None
    clock: Callable[[], float] = time.perf_counter
    _attempts: list[Attempt] = field(default_factory=list)
    _note: str = ""

    def run(self, learners: list[Learner], sizes: Sizes) -> list[Attempt]:
        """All attempts in the given order; those with ``why`` have no use for the blend."""
        attempts = [Attempt(each, each.cost(sizes, self.fitter.n_folds)) for each in learners]
        self._attempts = attempts
        if self.plan is not None:
            for each in attempts:
                self._replay(each, self.plan)
            return attempts
        taking_part = [each for each in attempts if not each.learner.baseline]
        begin = self.budget.spent
        self.fitter.prepare(learners)
        self.budget.keep(_CHOICES * (self.budget.spent - begin))
        order = sorted(taking_part, key=lambda each: (each.learner.follows is not None, each.cost))
        self._first_looks(order)
        self._drop(taking_part)
        self._rest(taking_part)
        for each in attempts:
            if each.learner.baseline:
                self._baseline(each, taking_part)
        return attempts

    # -- the parts of a search -----------------------------------------------------------------
    def _first_looks(self, attempts: list[Attempt]) -> None:
        time_left, n_folds = self.budget.left_for_learning, self.fitter.n_folds
        end = self.budget.spent + time_left * min(0.5, _FIRST_LOOKS / n_folds)
        for k, each in enumerate(attempts):
            if not self._is_worth(each, attempts[:k]):
                self._skip(self.fitter.n_folds, each.name)
                continue
            share = (end - self.budget.spent) / (len(attempts) - k)
            # If it turns out to be the best one, there must be time for its other folds.
            share = min(share, time_left / n_folds)
            usual = self._speed(attempts) * each.cost / self.fitter.n_folds
            tried = any(other.parts for other in attempts)
            if tried and (self.budget.hurried or share < _TOO_SHORT * usual):
                each.why = self._no_time(usual)
                self._skip(self.fitter.n_folds, each.name)
                continue
            if share < usual:
                each.shorten(share / usual)
            self._fit_next(each, share)
            if each.parts:
                self._look_at(each)

    def _is_worth(self, each: Attempt, before: list[Attempt]) -> bool:
        """Whether the learner that it follows, if any, was the best one."""
        named = each.learner.follows
        if named is None or all(other.name != named for other in before):
            return True
        looks = {other.name: other.look for other in before if other.look is not None}
        if not is_best(self.look, looks, named):
            each.why = f"not run: {named} was not the best"
        return not each.why

    def _speed(self, attempts: list[Attempt]) -> float:
        """Seconds per estimated second, by the learners that were tried."""
        found = [each.parts[0].seconds * self.fitter.n_folds / each.cost
                 for each in attempts if each.parts and each.cost > 1]  # fmt: skip
        return float(np.median(found)) if found else 1.0

    def _drop(self, attempts: list[Attempt]) -> None:
        seen = {each.name: each.look for each in attempts if each.look is not None}
        if self.fitter.n_folds == 1:
            return
        for name, why in without_hope(self.look, seen).items():
            each = next(one for one in attempts if one.name == name)
            each.why = f"stopped after one of {self.fitter.n_folds} folds: {why}"
            self._skip(self.fitter.n_folds - 1, name)

    def _rest(self, attempts: list[Attempt]) -> None:
        """The other folds. The best learner always gets them; the others if there is time."""
        going = [each for each in attempts if each.parts and not each.why]
        going.sort(key=self._rank)
        n_more, left = self.fitter.n_folds - 1, self.budget.left_for_learning
        chosen: list[Attempt] = []
        for each in going:
            needed = n_more * each.parts[0].seconds
            if chosen and (self.budget.hurried or needed > left):
                each.why = f"stopped after one of {n_more + 1} folds: no time left"
                self._skip(n_more, each.name)
                continue
            chosen.append(each)
            left -= needed
        for k in range(n_more):
            for at, each in enumerate(chosen):
                if self.budget.hurried:
                    self._finish(chosen)
                if each.why:
                    self._skip(1, each.name)
                    continue
                ahead = sum(one.parts[0].seconds for one in chosen) * (n_more - k - 1)
                ahead += sum(one.parts[0].seconds for one in chosen[at:])
                share = each.parts[0].seconds / max(ahead, 1e-9)
                self._fit_next(each, max(share * self.budget.left_for_learning, 0.0))

    def _finish(self, chosen: list[Attempt]) -> None:
        """Keep only what is done, or the learner that is done first."""
        n, going = self.fitter.n_folds, [each for each in chosen if not each.why]
        kept = [each for each in going if len(each.parts) == n]
        kept = kept or [min(going, key=lambda one: (n - len(one.parts)) * one.parts[0].seconds)]
        for each in going:
            if each not in kept:
                each.why = f"stopped after {len(each.parts)} of {n} folds: asked to finish"

    def _baseline(self, each: Attempt, attempts: list[Attempt]) -> None:
        usual = self._speed(attempts) * each.cost
        if self.budget.hurried or self.budget.left_for_learning < usual:
            each.why = self._no_time(usual)
            self._skip(self.fitter.n_folds, each.name)
            return
        for _ in range(self.fitter.n_folds):
            share = self.budget.left_for_learning / (self.fitter.n_folds - len(each.parts))
            self._fit_next(each, share)

    def _replay(self, each: Attempt, plan: FitPlan) -> None:
        if each.name not in plan.learners:
            each.why = "not run: not part of the plan"
            self._skip(self.fitter.n_folds, each.name)
            return
        options = plan.options.get(each.name, {})
        if options:
            each.options = options
            each.learner = replace(each.learner, options={**each.learner.options, **options})
        for k in range(self.fitter.n_folds):
            self._fit_next(each, np.inf, plan.steps.get(f"{each.name} {k}", []))

    # -- one fit ---------------------------------------------------------------------------------
    def _fit_next(self, each: Attempt, seconds: float, recorded: Any = None) -> None:
        """Fit the next fold of a learner. A learner of the user that fails is reported."""
        if each.why:
            return
        k, learner = len(each.parts), each.learner

        made: list[Part] = []
        self._tell(each.name, k + 1)

        def make() -> Part:
            begin = self.clock()
            with allowing(self.budget.part(seconds, recorded)) as allowance:
                member = self.fitter.fit_member(learner, k)
            steps = allowance.steps if allowance.cut else []
            made.append(Part(member, self.clock() - begin, steps))
            return made[0]

        try:
            part = self.journal.get(f"{each.name} {k}", make) if learner.storable else make()
        except Exception as error:
            if is_built_in(learner):
                raise
            fail(each, error)
        else:
            if not made:
                self.budget.count_before(part.seconds)
            each.parts.append(part)
        self.bar.advance(note=self._note)

    def _tell(self, name: str, fold: int) -> None:
        looks = {each.name: each.look for each in self._attempts if each.look is not None}
        left = self.budget.left if self.plan is None else np.inf
        state = state_of(name, fold, looks, self.look, left)
        self._note = in_words(state)
        self.bar.advance(0, self._note, state)

    def _look_at(self, each: Attempt) -> None:
        try:
            each.look = self.look.calibrated(self.fitter.look(each.fitted, self.look.nodes))
        except Exception as error:
            if is_built_in(each.learner):
                raise
            fail(each, error)

    def _rank(self, each: Attempt) -> float:
        assert each.look is not None
        return float(self.look.losses(each.look).mean())

    def _skip(self, n_parts: int, name: str) -> None:
        self.bar.advance(n_parts, note=name)

    def _no_time(self, seconds: float) -> str:
        if self.budget.hurried:
            return "not run: the fit was asked to finish"
        return f"not run: about {seconds:.0f} s would exceed the budget"


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
