"""Who fits the members of learners: this process, one after the other.

`on_dask.OnDask` is the same for the workers of a cluster, side by side. Whoever starts fits asks
for their results in a fixed order, so that both give the same plan, scores and model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from ..._utils.allowance import allowing

if TYPE_CHECKING:
    from .budget import Budget
    from .crossfit import CrossFitter
    from .learners.protocol import Learner, Member

T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """A member to fit: the learner, the fold that it is fitted without, and another fold of which
    nothing is known (None: there is none). Folds after that one are counted from one less."""

    learner: Learner
    fold: int
    unknown: int | None = None

    def fit(self, fitter: CrossFitter) -> Member:
        """Fit the member in this process."""
        known = fitter if self.unknown is None else fitter.without(self.unknown)
        return known.fit_member(self.learner, self.fold)


class Trained(NamedTuple):
    """A member, the time of its fit, and the steps of its loops, None for those not cut short."""

    member: Member
    seconds: float
    steps: list[int | None]


class Crew(Protocol):
    """What a search asks of those who fit."""

    n_workers: int

    def start(self, make: Callable[[], T]) -> Callable[[], T]:
        """Call ``make`` when it is its turn. Returns a function that waits for the result."""
        ...

    def fit(
        self,
        fitter: CrossFitter,
        job: Job,
        budget: Budget,
        seconds: float,
        recorded: Sequence[int | None] | None = None,
    ) -> Trained:
        """Fit a member within ``seconds``, or in the recorded steps."""
        ...

    def fit_inside(self, fitter: CrossFitter, job: Job, seconds: float) -> Trained:
        """Fit a member that is part of a larger step. Returns only those steps of loops that the
        allowance of the caller does not hold yet."""
        ...


class Here:
    """Fits in this process, when the result is asked for.

    >>> wait = Here().start(lambda: print("fitting"))
    >>> wait()
    fitting
    """

    n_workers = 1

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock

    def start(self, make: Callable[[], T]) -> Callable[[], T]:
        return make

    def fit(
        self,
        fitter: CrossFitter,
        job: Job,
        budget: Budget,
        seconds: float,
        recorded: Sequence[int | None] | None = None,
    ) -> Trained:
        begin = self._clock()
        with allowing(budget.part(seconds, recorded)) as allowance:
            member = job.fit(fitter)
        return Trained(member, self._clock() - begin, allowance.steps)

    def fit_inside(self, fitter: CrossFitter, job: Job, seconds: float) -> Trained:
        begin = self._clock()
        return Trained(job.fit(fitter), self._clock() - begin, [])
