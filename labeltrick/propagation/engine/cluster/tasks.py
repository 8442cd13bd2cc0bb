"""Functions that run on workers. Tasks read their data from files, so lost ones can be repeated."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...._utils.disk_full import reserve, told_if_full
from ...._utils.threads import set_num_threads
from ...._utils.whole_files import replacing
from ....graph.compute import Compute
from ....graph.graph import Graph
from ....graph.stored.graph import StoredGraph
from .connection import Cluster

if TYPE_CHECKING:
    from ...diagonal.request import SelfWeightRequest

_SECONDS_BETWEEN_NEWS = 0.5
_one_at_a_time = threading.Lock()  # a task uses all threads of its worker
_graphs: dict[Any, StoredGraph] = {}


class Recipe(NamedTuple):
    """A kind of propagation and its parameters, without the graph."""

    kind: type
    parameters: dict[str, Any]
    transposed: bool = False

    def mark(self) -> str:
        """Text that identifies the recipe; arrays are compared bit by bit."""
        parts = [f"{self.kind.__module__}.{self.kind.__qualname__}", str(self.transposed)]
        for name, value in self.parameters.items():
            if isinstance(value, np.ndarray):
                value = f"{value.dtype} {value.shape} {value.tobytes().hex()}"
            parts.append(f"{name}={value!r}")
        return "; ".join(parts)

    def make(self, graph: Graph) -> Any:
        """The propagation on a graph."""
        made = self.kind(graph, **self.parameters)
        if self.transposed:
            made._transposed = True
        return made


class Place(NamedTuple):
    """The graph that a task works on, and its settings."""

    folder: str
    fingerprint: str
    compute: Compute

    @classmethod
    def of(cls, graph: StoredGraph, cluster: Cluster) -> Place:
        """The graph as workers see it: in their own memory. Iterates get half of what the graph
        leaves; the other half is for a copy of the graph in a better order."""
        iterates = graph.compute.memory_bytes
        room = cluster.memory_for(graph.compute)
        if room is not None:
            iterates = min(iterates, max(1, (room - graph.nbytes) // 2))
        compute = Compute("memory", None, iterates, graph.compute.checkpoint_dir)
        return cls(str(graph.folder.resolve()), graph.fingerprint, compute)

    def open(self) -> StoredGraph:
        """The graph, which is kept for further tasks."""
        if self not in _graphs:
            _graphs.clear()  # one graph at a time: workers have little room
            graph = StoredGraph(Path(self.folder), self.compute)
            if graph.fingerprint != self.fingerprint:
                raise ValueError(
                    f"the graph in '{self.folder}' has changed since the work began. Start again."
                )
            _graphs[self] = graph
        return _graphs[self]


def told_if_exchange_is_full(what: str, folder: Path) -> AbstractContextManager[None]:
    """`told_if_full` for the folder where files are exchanged."""
    return told_if_full(what, folder, "set TMPDIR or `checkpoint_dir` to a folder with more")


def new_array(file: Path, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A mapped array in a file whose disk space is reserved."""
    with told_if_exchange_is_full("a result", file.parent):
        made = np.lib.format.open_memmap(file, "w+", dtype, shape)
        reserve(file)
    return made


class News:
    """Reports the progress of a task to the client, and ends a task that nobody waits for: the
    client removes the folder ``exchange`` when it is done or stopped."""

    def __init__(self, topic: str, task: str, exchange: Path) -> None:
        from distributed import get_worker

        self.topic, self.task, self.exchange, self._last = topic, task, exchange, 0.0
        self._worker = get_worker()  # here, because the threads of kernels do not know it

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last > _SECONDS_BETWEEN_NEWS:
            self._last = now
            if not self.exchange.exists():
                raise RuntimeError("the work was called off")
            share = done / max(1, total)
            self._worker.log_event(self.topic, {"task": self.task, "share": share})


def on_this_worker(function: Callable[[], Any]) -> Any:
    """Call a function with all threads of the worker, one task at a time."""
    from distributed import get_worker

    with _one_at_a_time:
        set_num_threads(get_worker().state.nthreads)
        return function()


def read_columns(file: str) -> Any:
    """Columns of an input: a mapped array, or a sparse matrix."""
    return sp.load_npz(file).tocsc() if file.endswith(".npz") else np.load(file, mmap_mode="r")


def spread_columns(
    place: Place, recipe: Recipe, source: str, target: str, topic: str
) -> dict[str, Any]:
    """Write P·F of the columns in one file to another; return the `SolveInfo`, if there is one."""

    def work() -> dict[str, Any]:
        P = recipe.make(place.open())
        F = read_columns(source)
        with replacing(Path(target), durable=False) as temporary:
            out = new_array(temporary, P._out_shape(F.shape), F.dtype)
            P.apply(F, out=out, progress=News(topic, target, Path(target).parent))
            del out
        solve = getattr(P, "last_solve", None)
        return {} if solve is None else vars(solve)

    return on_this_worker(work)


def weigh_nodes(
    place: Place, recipe: Recipe, request: SelfWeightRequest, topic: str, task: str, exchange: str
) -> Any:
    """Self-weights of some nodes."""

    def work() -> Any:
        P = recipe.make(place.open())
        news = News(topic, task, Path(exchange))
        return P._self_weight(replace(request, max_memory=P.max_memory, progress=news))

    return on_this_worker(work)
