"""Sends tasks to a cluster, shows their progress, and reports failures in one line."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...._utils.progress import Progress, ProgressBar
from .connection import WORKER_SECONDS, Cluster, ClusterError, known_workers

_UNITS = 100  # of the bar, for each task
_PAUSE_SECONDS = 0.02
_LOOK_SECONDS = 2
_GOES_ON = "with `checkpoint_dir` the run continues where it stopped."
_PLAIN = (ValueError, TypeError, FileNotFoundError, MemoryError, OSError)


class Tasks:
    """Tasks that run at the same time.

    ``goes_on`` says how work that has failed continues. The tasks are given up when ``is_over()``.
    """

    def __init__(
        self,
        cluster: Cluster,
        description: str,
        progress: Progress,
        *,
        goes_on: str = _GOES_ON,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self.cluster = cluster
        self._goes_on, self._is_over = goes_on, is_over
        self.topic = f"labeltrick-{uuid.uuid4().hex}"
        self._description, self._progress = description, progress
        self._shares: dict[str, float] = {}

    def run(
        self,
        function: Callable[..., Any],
        calls: dict[str, tuple[Any, ...]],
        *,
        bound: bool = False,
    ) -> list[Any]:
        """Results of ``function(*arguments)`` for all named calls, in order. With ``bound``, each
        call prefers the same worker every time."""
        client = self.cluster.client
        bar = ProgressBar(_UNITS * len(calls), self._description, self._progress)
        with bar, self._news(bar):
            futures = {}
            for k, (name, arguments) in enumerate(calls.items()):
                where = self._worker_of(k, len(calls)) if bound else {}
                futures[client.submit(function, *arguments, pure=False, **where)] = name
            try:
                results = {}
                for future in self._as_they_come(list(futures)):
                    name = futures[future]
                    results[name] = self._result(future, name)
                    self._advance(bar, name, 1.0)
            except BaseException:
                client.cancel(list(futures), force=True)
                raise
        return [results[name] for name in calls]

    def _worker_of(self, call: int, n_calls: int) -> dict[str, Any]:
        workers = list(self.cluster.workers)
        mine = workers[call * len(workers) // n_calls]
        return {"workers": [mine], "allow_other_workers": True}

    def _as_they_come(self, futures: list[Any]) -> Iterator[Any]:
        """Tasks as they complete. Dask would wait forever for workers that never come back; a
        worker that restarts is back within seconds."""
        from distributed import as_completed

        client = self.cluster.client
        coming = as_completed(futures, loop=client.loop)
        looked = seen = time.monotonic()
        while not coming.is_empty():
            if coming.has_ready():
                yield from coming.next_batch(block=False)
                continue
            if self._is_over():
                raise ClusterError("the work was called off")
            time.sleep(_PAUSE_SECONDS)
            now = time.monotonic()
            if now - looked > _LOOK_SECONDS:
                looked = now
                seen = now if known_workers(client) else seen
                if now - seen > WORKER_SECONDS:
                    raise ClusterError(
                        "all workers are gone, and none came back. Start some; " + self._goes_on
                    )

    @contextmanager
    def _news(self, bar: ProgressBar) -> Iterator[None]:
        client = self.cluster.client

        def hear(event: Any) -> None:
            _, message = event
            self._advance(bar, message["task"], message["share"])

        client.subscribe_topic(self.topic, hear)
        try:
            yield
        finally:
            client.unsubscribe_topic(self.topic)

    def _advance(self, bar: ProgressBar, task: str, share: float) -> None:
        before = self._shares.get(task, 0.0)
        steps = int(_UNITS * min(1.0, share)) - int(_UNITS * before)
        if steps > 0:  # a repeated task starts from the beginning
            self._shares[task] = min(1.0, share)
            bar.advance(steps)

    def _result(self, future: Any, name: str) -> Any:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            return future.result()
        except KilledWorker:
            raise ClusterError(
                f"workers died repeatedly at {name}. Most often they ran out of memory: "
                "set `max_memory` lower, or start workers with more."
            ) from None
        except FutureCancelledError:
            raise ClusterError(
                f"the scheduler was closed and dropped the work. Start it again; {self._goes_on}"
            ) from None
        except _PLAIN as error:
            # As the plain class: subclasses may take other arguments.
            kind = next(kind for kind in _PLAIN if isinstance(error, kind))
            raise kind(*_plain_arguments(error)) from None
        except Exception as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise ClusterError(f"a worker failed at {name}: {reason[0]}") from None


def _plain_arguments(error: BaseException) -> tuple[Any, ...]:
    if isinstance(error, OSError) and error.errno is not None:
        named = () if error.filename is None else (error.filename,)
        return error.errno, error.strerror, *named
    return (str(error),)
