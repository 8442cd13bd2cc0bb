"""Members fitted by the workers of a Dask cluster, side by side.

Each worker reads the data of the fit from files and fits one member at a time. The member of a
worker that dies is fitted again by another one. A thread of this process waits for each worker:
when it is free, the thread decides what it does next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...graph.compute import Compute
from ...graph.graph import Graph
from ...graph.stored.graph import StoredGraph
from ...propagation.engine.cluster.connection import ClusterError, connect
from ...propagation.engine.cluster.running import Tasks
from ...propagation.engine.cluster.tasks import Place, told_if_exchange_is_full
from ...propagation.engine.placing import in_folder, scratch_folder
from .crew import Crew, Here, Job, Trained
from .fit_folder import Failed, FitPlace, train_member, write_fit

if TYPE_CHECKING:
    from .budget import Budget
    from .crossfit import CrossFitter

T = TypeVar("T")
_GOES_ON = "with `resume_from` the fit continues where it stopped."


def is_on_dask(compute: Compute) -> bool:
    """Whether a graph with this setting has its work done by a cluster."""
    return compute.engine == "dask" or compute.address is not None


def on_this_machine(graph: Graph | None) -> Graph | None:
    """The graph, with propagation computed by this process."""
    if graph is None or not is_on_dask(graph.compute):
        return graph
    return graph.with_compute(replace(graph.compute, engine="auto", address=None))


def crew_for(graph: Graph, compute: Compute | None) -> AbstractContextManager[Crew]:
    """Those who fit members on a graph: the workers of a cluster if the setting says so."""
    if compute is None or not is_on_dask(compute):
        return nullcontext(Here())
    return OnDask(graph, compute)


class OnDask:
    """The workers of a cluster, as a context manager.

    Parameters
    ----------
    graph : Graph
        The graph of the fit, as this process computes on it.
    compute : Compute
        The setting of the cluster.
    """

    def __init__(self, graph: Graph, compute: Compute) -> None:
        self._graph, self._compute = graph, compute
        self._writing, self._is_over = threading.Lock(), threading.Event()
        self._place: FitPlace | None = None

    def __enter__(self) -> OnDask:
        self._scratch = scratch_folder(self._compute)
        try:
            stored = in_folder(self._graph, self._compute)
            self._cluster = connect(self._compute, self._scratch.path, stored.folder)
        except BaseException:
            self._scratch.close()
            raise
        in_memory = not isinstance(self._graph, StoredGraph)
        place = Place.of(stored.with_compute(self._compute), self._cluster)  # type: ignore[arg-type]
        if not in_memory:
            place = place._replace(compute=self._graph.compute)
        self._where = (place, in_memory)
        self.n_workers = len(self._cluster.workers)
        self._pool = ThreadPoolExecutor(self.n_workers, thread_name_prefix="labeltrick-crew")
        return self

    def __exit__(self, *_: Any) -> None:
        self._is_over.set()
        self._scratch.close()  # ends fits that nobody waits for
        self._pool.shutdown(cancel_futures=True)

    def start(self, make: Callable[[], T]) -> Callable[[], T]:
        return self._pool.submit(make).result

    def fit(
        self,
        fitter: CrossFitter,
        job: Job,
        budget: Budget,
        seconds: float,
        recorded: Sequence[int | None] | None = None,
    ) -> Trained:
        if recorded is not None:
            return self._sent(fitter, job, np.inf, recorded)
        return self._sent(fitter, job, seconds, ())

    def fit_inside(self, fitter: CrossFitter, job: Job, seconds: float) -> Trained:
        return self._sent(fitter, job, seconds, ())

    def _sent(
        self, fitter: CrossFitter, job: Job, seconds: float, recorded: Sequence[int | None]
    ) -> Trained:
        name = f"{job.learner.name}, fold {job.fold + 1}"
        tasks = Tasks(self._cluster, name, False, goes_on=_GOES_ON, is_over=self._is_over.is_set)
        call = (self._written(fitter), job, seconds, list(recorded))
        try:
            (found,) = tasks.run(train_member, {name: call})
        except Exception as error:  # not the learner's: those are results
            raise ClusterError(str(error)) from None
        if isinstance(found, Failed):
            raise found.error()
        return found

    def _written(self, fitter: CrossFitter) -> FitPlace:
        """The folder of the fit, written when the first member is fitted."""
        with self._writing:
            if self._place is None:
                folder = Path(self._scratch.path) / "fit"
                with told_if_exchange_is_full("the data of the fit", folder.parent):
                    write_fit(fitter, folder)
                self._place = FitPlace(str(folder), *self._where)
            return self._place
