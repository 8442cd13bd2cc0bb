"""Sends tasks to a cluster, shows how far they are, and says in one line what went wrong."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._progress import Progress, ProgressBar
from .connection import Cluster, ClusterError

_UNITS = 100  # of the bar, for each task
_PLAIN = (ValueError, TypeError, FileNotFoundError, MemoryError, OSError)


class Tasks:
    """Tasks that run at the same time."""

    def __init__(self, cluster: Cluster, description: str, progress: Progress) -> None:
        self.cluster = cluster
        self.topic = f"labeltrick-{uuid.uuid4().hex}"
        self._description, self._progress = description, progress
        self._shares: dict[str, float] = {}

    def run(self, function: Callable[..., Any], calls: dict[str, tuple[Any, ...]]) -> list[Any]:
        """Results of ``function(*arguments)`` for all calls, by their names, in order."""
        from distributed import as_completed

        client = self.cluster.client
        bar = ProgressBar(_UNITS * len(calls), self._description, self._progress)
        with bar, self._news(bar):
            futures = {
                client.submit(function, *arguments, pure=False): name
                for name, arguments in calls.items()
            }
            try:
                results = {}
                for future in as_completed(list(futures), loop=client.loop):
                    name = futures[future]
                    results[name] = self._result(future, name)
                    self._told(bar, name, 1.0)
            except BaseException:
                client.cancel(list(futures), force=True)
                raise
        return [results[name] for name in calls]

    @contextmanager
    def _news(self, bar: ProgressBar) -> Iterator[None]:
        client = self.cluster.client

        def hear(event: Any) -> None:
            _, message = event
            self._told(bar, message["task"], message["share"])

        client.subscribe_topic(self.topic, hear)
        try:
            yield
        finally:
            client.unsubscribe_topic(self.topic)

    def _told(self, bar: ProgressBar, task: str, share: float) -> None:
        before = self._shares.get(task, 0.0)
        steps = int(_UNITS * min(1.0, share)) - int(_UNITS * before)
        if steps > 0:  # a task that is done again starts from the beginning
            self._shares[task] = min(1.0, share)
            bar.advance(steps)

    def _result(self, future: Any, name: str) -> Any:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            return future.result()
        except KilledWorker:
            raise ClusterError(
                f"workers died, again and again, at {name}. Most often they ran out of memory: "
                "set `max_memory` lower, or start workers with more."
            ) from None
        except FutureCancelledError:
            raise ClusterError(
                "the scheduler dropped the work: it was closed, or lost all its workers. Start it "
                "again; with `checkpoint_dir` the run goes on where it was."
            ) from None
        except _PLAIN as error:
            raise type(error)(*_plain_arguments(error)) from None
        except Exception as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise ClusterError(f"a worker failed at {name}: {reason[0]}") from None


def _plain_arguments(error: BaseException) -> tuple[Any, ...]:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno, error.strerror
    return (str(error),)
