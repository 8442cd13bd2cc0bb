"""How long a part of a fit may go on: until a moment, or for as many steps as were recorded.

Training loops ask `steps` for a function that says after each step whether there is time for
another one. Where the clock has ended a loop, its number of steps is recorded: a later fit that is
given the record stops at the same steps, on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[Allowance | None] = ContextVar("labeltrick_allowance", default=None)


class Allowance:
    """The time or the steps of one part.

    Parameters
    ----------
    late : callable without arguments
        Whether the time of the part is over.
    recorded : sequence of (int or None), default=()
        Steps of each loop as recorded, None for a loop that ended by itself. The clock is not
        asked for these loops.

    Attributes
    ----------
    steps : list of (int or None)
        The number of steps of each loop that was cut short, else None.
    """

    def __init__(self, late: Callable[[], bool], recorded: Sequence[int | None] = ()) -> None:
        self._late = late
        self._recorded = list(recorded)
        self.steps: list[int | None] = []

    @property
    def cut(self) -> bool:
        """Whether any loop was cut short."""
        return any(count is not None for count in self.steps)

    def loop(self) -> Callable[[], bool]:
        """A function to call after each step of a new loop: whether it may take another one."""
        at, count = len(self.steps), 0
        self.steps.append(None)

        def another() -> bool:
            nonlocal count
            count += 1
            if at < len(self._recorded):
                most = self._recorded[at]
                over = most is not None and count >= most
            else:
                over = self._late()
            if over:
                self.steps[at] = count
            return not over

        return another


def steps() -> Callable[[], bool]:
    """A function to call after each step of a training loop: whether it may take another one.
    Without an allowance it always may.

    >>> another = steps()
    >>> another()
    True
    """
    allowance = _current.get()
    return (lambda: True) if allowance is None else allowance.loop()


def add_steps(taken: Sequence[int | None]) -> None:
    """Add loops that ran elsewhere to the allowance, if there is one."""
    allowance = _current.get()
    if allowance is not None:
        allowance.steps.extend(taken)


@contextmanager
def allowing(allowance: Allowance) -> Iterator[Allowance]:
    """Let the loops inside take their steps from an allowance."""
    token = _current.set(allowance)
    try:
        yield allowance
    finally:
        _current.reset(token)
