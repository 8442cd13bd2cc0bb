"""Fits learners within a budget: a first fold of each, then the other folds of those with hope.

Cheap learners come first. Decisions by the clock are recorded in a plan; with a plan the same parts
are fitted again, and no clock is asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..._utils.progress import ProgressBar
from ...propagation.engine.cluster.connection import ClusterError
from .attempts import Attempt, Part, fail
from .budget import Budget
from .crew import Crew, Here, Job
from .crossfit import CrossFitter
from .journal import Journal
from .learners.protocol import Learner, Sizes
from .learners.registry import is_built_in
from .looks import Look, helps, is_best, without_hope
from .plan import FitPlan
from .reporting import in_words, state_of

_FIRST_LOOKS = 1.5  # folds' worth of the time for learning, as some learners end after them
_CHOICES = 2.0  # choices take about as long as preparing so many times
_TOO_SHORT = 0.25  # a learner needs this share of its estimated time, or is not tried

Share = float | None  # seconds that a fit may take; None: it is not run
Waiting = Callable[[], "tuple[Part, bool] | None"]  # gives a part and whether it is a new one


@dataclass
class Search:
    """Runs the attempts. ``look`` are the nodes by which learners are compared early.

    Fits are started in the order of their results. By `Here`, each runs when its result is asked
    for; workers of a cluster run several at once. How long a fit may take is decided when it runs.
    """

    fitter: CrossFitter
    journal: Journal
    budget: Budget
    look: Look
    bar: ProgressBar
    plan: FitPlan | None = None
    crew: Crew = field(default_factory=Here)
    _attempts: list[Attempt] = field(default_factory=list)
    _early: dict[tuple[str, int], Waiting] = field(default_factory=dict)
    _gained: float = 0.0  # when a first look last lowered the loss
    _vain: float = 0.0  # seconds of first folds that did not
    _note: str = ""
    _deciding: threading.Lock = field(default_factory=threading.Lock)

    def run(self, learners: list[Learner], sizes: Sizes) -> list[Attempt]:
        """All attempts in the given order; those with ``why`` have no use for the blend."""
        attempts = [Attempt(each, each.cost(sizes, self.fitter.n_folds)) for each in learners]
        self._attempts = attempts
        if self.plan is not None:
            self.fitter.prepare(learners)
            self._replay(attempts, self.plan)
            return attempts
        taking_part = [each for each in attempts if not each.learner.baseline]
        begin = self.budget.spent
        self.fitter.prepare(learners)
        self.budget.keep(_CHOICES * (self.budget.spent - begin))
        order = sorted(taking_part, key=lambda each: (each.learner.follows is not None, each.cost))
        self._first_looks(order)
        self._drop(taking_part)
        waiting = self._rest(taking_part)
        waiting += [one for each in attempts if each.learner.baseline
                    for one in self._baseline(each, taking_part)]  # fmt: skip
        for each, wait in waiting:
            self._take(each, wait)
        return attempts

    # -- the parts of a search -----------------------------------------------------------------
    def _first_looks(self, attempts: list[Attempt]) -> None:
        """The first fold of each. Whether one that follows another is tried depends on all looks
        before it, so it is started after them."""
        time_left = self.budget.left_for_learning
        end = self.budget.spent + time_left * min(0.5, _FIRST_LOOKS / self.fitter.n_folds)
        share = partial(self._first_share, attempts, end, time_left)
        follow = [each.learner.follows is not None for each in attempts]
        n_first = follow.index(True) if any(follow) else len(attempts)
        self._look_at_all(attempts[:n_first], share)
        for each in attempts[n_first:]:
            self._look_at_all([each], share)

    def _first_share(
        self, attempts: list[Attempt], end: float, time_left: float, each: Attempt
    ) -> Share:
        k, n_folds = attempts.index(each), self.fitter.n_folds
        n_ahead = len(attempts) - k
        if not self._is_worth(each, attempts[:k]):
            return None
        n_at_once = min(self.crew.n_workers, n_ahead)
        tried = any(other.parts for other in attempts)
        if tried:
            end = min(end, self._gained + self.budget.without_gain)
        share = n_at_once * (end - self.budget.spent) / n_ahead
        # If it turns out to be the best one, there must be time for its other folds.
        share = min(share, time_left / -(-n_folds // self.crew.n_workers))
        usual = self._speed(attempts) * each.cost / n_folds
        if tried and (self.budget.hurried or share < _TOO_SHORT * usual):
            each.why = self._no_time(usual)
            return None
        if share < usual:
            each.shorten(share / usual)
        return share

    def _look_at_all(self, attempts: list[Attempt], share: Callable[[Attempt], Share]) -> None:
        jobs = [(each, 0) for each in attempts]
        if self._in_any_order:
            jobs = jobs[::-1]  # the longest first, so that workers end together
        waiting = {each.name: self._start(each, k, partial(share, each)) for each, k in jobs}
        for each in attempts:
            self._start_early(each.learner.follows)
            self._take(each, waiting[each.name])
            if each.parts:
                self._look_at(each)
            elif not each.n_started:
                self._skip_rest(each)

    def _is_worth(self, each: Attempt, before: list[Attempt]) -> bool:
        """Whether the learner that it follows, if any, was the best one."""
        named = each.learner.follows
        if named is None or all(other.name != named for other in before):
            return True
        if not self._is_best(named, before):
            each.why = f"not run: {named} was not the best"
        return not each.why

    def _is_best(self, name: str, attempts: list[Attempt]) -> bool:
        looks = {each.name: each.look for each in attempts if each.look is not None}
        return is_best(self.look, looks, name)

    def _start_early(self, followed: str | None) -> None:
        """While a learner that follows the best one is tried, workers that have nothing else to do
        fit other folds of the best one."""
        if followed is None or not self._in_any_order:
            return
        if self._is_best(followed, self._attempts):
            each = next(one for one in self._attempts if one.name == followed)
            for k in range(1, self.fitter.n_folds):
                self._early[each.name, k] = self._start(each, k, lambda: np.inf)

    def _gains(self, each: Attempt, others: list[Attempt]) -> bool:
        """Whether its first look lowers the loss of the best one of the others."""
        seen = [one for one in others if one is not each and one.look is not None]
        if each.look is None or not seen:
            return True
        best = min(seen, key=self._rank).look
        assert best is not None
        return helps(self.look, each.look, best)

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
            self._skip_rest(each)

    def _rest(self, attempts: list[Attempt]) -> list[tuple[Attempt, Waiting]]:
        """The other folds of the learners that go on."""
        going = [each for each in attempts if each.parts and not each.why]
        n_folds, most = self.fitter.n_folds, self._going_on(sorted(going, key=self._rank))
        chosen = list(most)
        jobs = [(each, k) for k in range(1, n_folds + 1)
                for each in chosen if k < each.n_fits(n_folds)]  # fmt: skip
        waiting = dict(self._early)
        order = [(each, k) for each, k in jobs if (each.name, k) not in waiting]
        if self._in_any_order:
            order.sort(key=lambda job: -job[0].usual(job[1], n_folds))
        ahead = np.cumsum([each.usual(k, n_folds) for each, k in order][::-1])[::-1]
        for (each, k), after in zip(order, ahead.tolist(), strict=True):
            share = partial(self._rest_share, each, k, chosen, after, most[each])
            waiting[each.name, k] = self._start(each, k, share)
        return [(each, waiting[each.name, k]) for each, k in jobs]

    def _going_on(self, going: list[Attempt]) -> dict[Attempt, float]:
        """The learners that go on, of ``going`` from the best one, and the most seconds of a fit.
        The best one always goes on, the others if there is time, and those that gain nothing if a
        fifth of the budget, of which their first folds are part, is enough for them."""
        n_folds, left = self.fitter.n_folds, self._left_in_all
        spare = max(self.crew.n_workers * self.budget.without_gain - self._vain, 0.0)
        most: dict[Attempt, float] = {}
        without, needed_without = [], 0.0
        for each in going:
            needed = sum(each.usual(k, n_folds) for k in range(1, each.n_fits(n_folds)))
            gains = self._gains(each, going[:1])
            enough = left if gains else min(left, spare - needed_without)
            if most and (self.budget.hurried or needed > enough):
                why = "no gain was seen" if needed <= left else "no time left"
                each.why = f"stopped after one of {n_folds} folds: {why}"
                self._skip_rest(each)
                continue
            most[each] = np.inf
            left -= needed
            if not gains:
                without.append(each)
                needed_without += needed
        for each in without:
            most[each] = each.parts[0].seconds * spare / max(needed_without, 1e-9)
        return most

    def _rest_share(
        self, each: Attempt, k: int, chosen: list[Attempt], ahead: float, most: float
    ) -> Share:
        """Its share of the time left, if the fits from this one on take ``ahead`` seconds."""
        if self.budget.hurried:
            self._finish(chosen)
        share = each.usual(k, self.fitter.n_folds) / max(ahead, 1e-9)
        return None if each.why else min(self._share(share), most)

    def _finish(self, chosen: list[Attempt]) -> None:
        """Keep only what is done, or the learner that is done first."""
        n, going = self.fitter.n_folds, [each for each in chosen if not each.why]
        if not going:
            return
        kept = [each for each in going if each.n_started == each.n_fits(n)]
        kept = kept or [min(going, key=self._seconds_missing)]
        for each in going:
            if each not in kept:
                each.why = f"stopped after {each.n_started} of {n} folds: asked to finish"

    def _seconds_missing(self, each: Attempt) -> float:
        n_folds = self.fitter.n_folds
        return sum(each.usual(k, n_folds) for k in range(each.n_started, each.n_fits(n_folds)))

    def _baseline(self, each: Attempt, attempts: list[Attempt]) -> list[tuple[Attempt, Waiting]]:
        n_folds = self.fitter.n_folds

        def share(k: int) -> Share:
            usual = self._speed(attempts) * each.cost
            if not k and (self.budget.hurried or self._left_in_all < usual):
                each.why = self._no_time(usual)
            return None if each.why else self._share(1 / (n_folds - k))

        return [(each, self._start(each, k, partial(share, k))) for k in range(n_folds)]

    def _replay(self, attempts: list[Attempt], plan: FitPlan) -> None:
        waiting = []
        for each in attempts:
            if each.name not in plan.learners:
                each.why = "not run: not part of the plan"
                self._skip(each.n_fits(self.fitter.n_folds), each.name)
                continue
            if options := plan.options.get(each.name, {}):
                each.options = options
                each.learner = replace(each.learner, options={**each.learner.options, **options})
            for k in range(each.n_fits(self.fitter.n_folds)):
                recorded = plan.steps.get(f"{each.name} {k}", [])
                waiting.append((each, self._start(each, k, lambda: np.inf, recorded)))
        for each, wait in waiting:
            self._take(each, wait)

    # -- one fit ---------------------------------------------------------------------------------
    @property
    def _in_any_order(self) -> bool:
        """Whether fits may begin in another order than that of their results: side by side, if no
        clock decides which are run."""
        return self.crew.n_workers > 1 and not self.budget.by_clock

    @property
    def _left_in_all(self) -> float:
        """The time left for learning of all workers together."""
        return self.crew.n_workers * self.budget.left_for_learning

    def _share(self, share: float) -> float:
        """A share of the time left of all workers, of which one can have no more than its own."""
        return max(min(share * self.crew.n_workers, 1.0) * self.budget.left_for_learning, 0.0)

    def _start(
        self, each: Attempt, k: int, share: Callable[[], Share], recorded: Any = None
    ) -> Waiting:
        """Start the fit of a fold of a learner. ``share`` is asked for its seconds when it begins;
        None means that it is not run."""

        def make() -> tuple[Part, bool] | None:
            with self._deciding:
                seconds = None if each.why else share()
                if seconds is None:
                    return None
                each.n_started += 1
            self._tell(each.name, k + 1)
            job, made = Job(each.learner, k), []

            def fit() -> Part:
                found = self.crew.fit(self.fitter, job, self.budget, seconds, recorded)
                steps = found.steps if any(count is not None for count in found.steps) else []
                made.append(Part(found.member, found.seconds, steps))
                return made[0]

            storable = job.learner.storable
            part = self.journal.get(f"{each.name} {k}", fit) if storable else fit()
            return part, bool(made)

        return self.crew.start(make)

    def _take(self, each: Attempt, wait: Waiting) -> None:
        """Wait for a fit. A learner of the user that fails is reported."""
        if not each.why:
            try:
                found = wait()
            except Exception as error:
                if is_built_in(each.learner) or isinstance(error, ClusterError):
                    raise
                fail(each, error)
            else:
                if found is not None and not each.why:
                    part, is_new = found
                    if not is_new:
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
            if self._gains(each, self._attempts):
                self._gained = self.budget.spent
            else:
                self._vain += each.parts[0].seconds
        except Exception as error:
            if is_built_in(each.learner):
                raise
            fail(each, error)

    def _rank(self, each: Attempt) -> float:
        assert each.look is not None
        return float(self.look.losses(each.look).mean())

    def _skip_rest(self, each: Attempt) -> None:
        """The bar does not wait for the fits after the first one."""
        self._skip(each.n_fits(self.fitter.n_folds) - 1, each.name)

    def _skip(self, n_parts: int, name: str) -> None:
        self.bar.advance(n_parts, note=name)

    def _no_time(self, seconds: float) -> str:
        if self.budget.hurried:
            return "not run: the fit was asked to finish"
        return f"not run: about {seconds:.0f} s would exceed the budget"
