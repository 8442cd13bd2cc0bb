"""What runs on the workers. A task reads its data from files: lost ones can be done again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...._utils.disk_full import reserve, told_if_full
from ...._utils.threads import set_num_threads
from ...._utils.whole_files import replacing
from ....graph.compute import Compute
from ....graph.stored.graph import StoredGraph
from .recipe import Recipe

_SECONDS_BETWEEN_NEWS = 0.5
_one_at_a_time = threading.Lock()  # a task uses all threads of its worker
_graphs: dict[Any, StoredGraph] = {}


class Place(NamedTuple):
    """The graph a task works on, and how."""

    folder: str
    fingerprint: str
    compute: Compute

    def open(self) -> StoredGraph:
        """The graph; kept for further tasks, with what was made of it."""
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
    remedy = "set TMPDIR or `checkpoint_dir` to a folder with more"
    return told_if_full(what, folder, remedy)


def new_array(file: Path, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A mapped array in a file whose room on the disk is certain."""
    with told_if_exchange_is_full("a result", file.parent):
        made = np.lib.format.open_memmap(file, "w+", dtype, shape)
        reserve(file)
    return made


class News:
    """Tells the client of steps done, now and then; ends the task once nobody waits for it: the
    client takes the folder ``exchange`` away when it is done, or is stopped."""

    def __init__(self, topic: str, task: str, exchange: Path) -> None:
        from distributed import get_worker

        self.topic, self.task, self.exchange, self._last = topic, task, exchange, 0.0
        self._worker = get_worker()  # asked for here: threads of kernels do not know theirs

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last > _SECONDS_BETWEEN_NEWS:
            self._last = now
            if not self.exchange.exists():
                raise RuntimeError("the work was called off")
            share = done / max(1, total)
            self._worker.log_event(self.topic, {"task": self.task, "share": share})


def on_this_worker(function: Callable[[], Any]) -> Any:
    """Run with as many threads as the worker has, one task at a time."""
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
    """P·F of the columns in one file to another; how the solve went, where there was one."""

    def work() -> dict[str, Any]:
        P = recipe.make(place.open())
        F = read_columns(source)
        shape = P._out_shape(F.shape)
        with replacing(Path(target), durable=False) as temporary:
            out = new_array(temporary, shape, F.dtype)
            P.apply(F, out=out, progress=News(topic, target, Path(target).parent))
            del out
        solve = getattr(P, "last_solve", None)
        return {} if solve is None else vars(solve)

    return on_this_worker(work)


def weigh_nodes(
    place: Place,
    recipe: Recipe,
    nodes: np.ndarray,
    tol: float,
    method: str,
    rows: np.ndarray | None,
    topic: str,
    task: str,
    exchange: str,
) -> Any:
    """Self-weights of some nodes; ``rows`` are those of the column energies."""

    def work() -> Any:
        P = recipe.make(place.open())
        in_rows = None
        if rows is not None:
            in_rows = np.zeros(P.n_nodes, bool)
            in_rows[rows] = True
        return P._self_weight(nodes, tol, method, in_rows, News(topic, task, Path(exchange)))

    return on_this_worker(work)
