"""The time of a fit: how much is left, and what a part of it may take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ..._utils.allowance import Allowance

# Budgets of up to this many seconds limit what is tried by estimates alone: the clock would cut the
# first steps of the first learner at random.
LEAST = 10.0
_AFTER, _MOST_AFTER = 0.25, 0.5  # shares of the budget for what follows learning
_WITHOUT_GAIN = 0.2  # of the budget: learners that gain nothing get no more
_FOR_CHOOSING = 0.95  # of the budget: choices end there, and predictions by them follow

_running: list[Budget] = []


class Budget:
    """Counts the time since it was made.

    Parameters
    ----------
    seconds : float or None
        The budget; None has no limit.
    clock : callable, default=time.monotonic
        The time in seconds.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._begin = clock()
        self._before = 0.0
        self._after = _AFTER * (seconds or 0.0)
        self.hurried = False

    @property
    def by_clock(self) -> bool:
        """Whether the clock limits anything."""
        return self.seconds is not None and self.seconds > LEAST

    @property
    def spent(self) -> float:
        return self._clock() - self._begin + self._before

    @property
    def left(self) -> float:
        """Seconds until the budget is spent."""
        return math.inf if self.seconds is None else self.seconds - self.spent

    @property
    def left_for_learning(self) -> float:
        if self.seconds is None or not self.by_clock:
            return math.inf
        return self.seconds - self._after - self.spent

    @property
    def left_for_choosing(self) -> float:
        if self.seconds is None or not self.by_clock:
            return math.inf
        return self.seconds * _FOR_CHOOSING - self.spent

    @property
    def without_gain(self) -> float:
        """The most seconds for learners that gain nothing."""
        if self.seconds is None or not self.by_clock:
            return math.inf
        return _WITHOUT_GAIN * self.seconds

    def keep(self, seconds: float) -> None:
        """Leave as much time, if it is not too much, for what follows learning."""
        if self.seconds is not None:
            self._after = float(np.clip(seconds, _AFTER * self.seconds, _MOST_AFTER * self.seconds))

    def count_before(self, seconds: float) -> None:
        """Count time that an interrupted fit has spent."""
        self._before += seconds

    def part(self, seconds: float, recorded: Sequence[int | None] | None) -> Allowance:
        """The allowance of a part that may take ``seconds`` from now, or the recorded steps."""
        if recorded is not None:
            return Allowance(lambda: False, recorded)
        until = self.spent + seconds
        return Allowance(lambda: self.spent >= until)


@contextmanager
def running(budget: Budget) -> Iterator[None]:
    """While this is active, `finish_early` reaches the budget."""
    _running.append(budget)
    try:
        yield
    finally:
        _running.remove(budget)


def finish_early() -> bool:
    """Ask the running fit to finish with the learners that it has fitted. Returns whether there is
    such a fit, and it had not been asked before."""
    asked = [budget for budget in _running if not budget.hurried]
    for budget in asked:
        budget.hurried = True
    return bool(asked)
