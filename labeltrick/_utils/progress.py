"""Progress of long work: a bar that appears after a second, or a callback."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from .escaping import visible

Progress = bool | None | Callable[[int, int], object]
"""None: a bar on a terminal; True or False: always or never; or a function ``f(done, total)``."""

_DELAY = 1.0  # seconds before a bar appears: short work stays silent


class ProgressLines:
    """Progress as lines of JSON on standard error, for programs: at most one per second, and none
    in the first second.

    >>> lines = ProgressLines(sys.stdout, clock=iter([0.0, 5.0, 5.5]).__next__)
    >>> lines.tell("learning", 1, 4, {"trying": "trees"})
    {"progress": {"what": "learning", "done": 1, "total": 4, "trying": "trees"}}
    >>> lines.tell("learning", 2, 4, {"trying": "linear"})
    """

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._clock = stream, clock
        self._last = clock()
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: Any) -> ProgressLines:
        """Estimators are cloned with their parameters, but there is one stream."""
        return self

    def __call__(self, done: int, total: int) -> None:
        self.tell("", done, total, {})

    def tell(self, what: str, done: int, total: int, state: Mapping[str, Any]) -> None:
        """Print a line unless one was printed within a second."""
        with self._lock:
            now = self._clock()
            if now - self._last < _DELAY:
                return
            self._last = now
            line = {"what": what, "done": done, "total": total, **state}
            print(json.dumps({"progress": line}), file=self._stream or sys.stderr, flush=True)


class ProgressBar:
    """Context manager that counts ``total`` units of work.

    >>> seen = []
    >>> with ProgressBar(2, "steps", lambda done, total: seen.append((done, total))) as bar:
    ...     bar.advance()
    ...     bar.advance()
    >>> seen
    [(1, 2), (2, 2)]
    """

    def __init__(self, total: int, description: str, progress: Progress = None) -> None:
        self.total = total
        self.description = visible(description)
        self.done = 0
        self._callback = progress if callable(progress) else None
        self._forced = progress is True
        self._wanted = sys.stderr.isatty() if progress is None else self._forced
        self._started = time.monotonic()
        self._bar: Any = None
        self._lock = threading.Lock()  # worker threads advance the bar

    def __enter__(self) -> ProgressBar:
        return self

    def advance(
        self, amount: int = 1, note: str = "", state: Mapping[str, Any] | None = None
    ) -> None:
        """Count work as done; ``note`` is shown next to the bar until the next call, and ``state``
        is what programs get in its place."""
        with self._lock:
            self.done += amount
            if isinstance(self._callback, ProgressLines):
                self._callback.tell(self.description, self.done, self.total, state or {})
            elif self._callback is not None:
                if amount:
                    self._callback(self.done, self.total)
            elif self._bar is not None:
                self._bar.update(0, completed=self.done, note=visible(note))
            elif self._wanted and time.monotonic() - self._started > _DELAY:
                self._show(visible(note))

    def _show(self, note: str) -> None:
        # rich is imported only when a bar is shown: it would double the import time.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            # Notes may be names from data that look like markup.
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.fields[note]}", markup=False),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            # Without a terminal only the last state is printed, unless the bar is transient.
            transient=not self._forced,
        )
        self._bar.start()
        self._bar.add_task(self.description, total=self.total, completed=self.done, note=note)

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def waiting(text: str, progress: Progress = None) -> Iterator[None]:
    """A spinner on a terminal for work of unknown length; none if ``progress`` is False.

    >>> with waiting("reading", False):
    ...     pass
    """
    if progress is False or callable(progress) or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(visible(text))):
        yield


def notice(text: str, progress: Progress = None) -> None:
    """Print one line on a terminal and log it as "labeltrick"."""
    logging.getLogger("labeltrick").info(text)
    if progress is True or (progress is None and sys.stderr.isatty()):
        print(f"labeltrick: {visible(text)}", file=sys.stderr)
