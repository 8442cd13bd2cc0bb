"""What workers of a cluster read to fit members: the data of a fit in files, without pickles.

Large arrays are memory-mapped. Label columns that a worker has computed are files too, so that the
others read them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._utils.allowance import Allowance, allowing
from ..._utils.freed_memory import keep_freed_memory
from ...graph.graph import Graph
from ...io.model_files import load_parts, save_parts
from ...propagation.engine.cluster.tasks import Place, on_this_worker
from ..base.node_inputs import NodeInputs
from ..base.tables import Column, Table
from .crew import Job, Trained
from .crossfit import CrossFitter

_PARTS, _LABELS, _SPREAD, _ONLY = "parts", "labels", "spread", "only.npy"
_DENSE, _SPARSE = ("values",), ("data", "indices", "indptr")
_SECONDS_BETWEEN_LOOKS = 0.5
_open: dict[FitPlace, CrossFitter] = {}  # on a worker: the last fit


class FitPlace(NamedTuple):
    """The folder of a fit, and its graph: in memory as an array, or read from its folder."""

    folder: str
    graph: Place
    in_memory: bool

    def open(self) -> CrossFitter:
        """The fit, which is kept for further members."""
        if self not in _open:
            _open.clear()
            graph = self._graph()
            _open[self] = read_fit(Path(self.folder), graph)
        return _open[self]

    def _graph(self) -> Graph:
        stored = self.graph.open()
        if not self.in_memory:
            return stored
        arrays = (stored.indptr, stored.indices, stored.weights)
        plain = [None if array is None else np.asarray(array) for array in arrays]
        indptr, indices, weights = plain
        assert indptr is not None
        assert indices is not None
        return Graph(indptr, indices, weights, stored.directed).with_compute(self.graph.compute)


class Failed(NamedTuple):
    """The error of a learner. Not the object, which may be of a class that only a worker knows."""

    kind: str
    text: str

    def error(self) -> Exception:
        """An error with the same name and text."""
        plain = {each.__name__: each for each in (ValueError, TypeError, MemoryError, ImportError)}
        return plain.get(self.kind, type(self.kind, (RuntimeError,), {}))(self.text)


def train_member(
    place: FitPlace, job: Job, seconds: float, recorded: Sequence[int | None]
) -> Trained | Failed:
    """On a worker: fit a member within ``seconds``, or in the recorded steps."""

    def work() -> Trained | Failed:
        keep_freed_memory()
        fitter = place.open()
        allowance = Allowance(_late(Path(place.folder), seconds), recorded)
        begin = time.perf_counter()
        try:
            with allowing(allowance):
                member = job.fit(fitter)
        except Exception as error:
            return Failed(type(error).__name__, str(error))
        return Trained(member, time.perf_counter() - begin, allowance.steps)

    return on_this_worker(work)


def _late(folder: Path, seconds: float) -> Callable[[], bool]:
    """Whether so many seconds are over. Ends a fit that nobody waits for: its folder is gone."""
    begin = looked = time.monotonic()

    def late() -> bool:
        nonlocal looked
        now = time.monotonic()
        if now - looked > _SECONDS_BETWEEN_LOOKS:
            looked = now
            if not folder.exists():
                raise RuntimeError("the fit was called off")
        return now - begin >= seconds

    return late


# -- files -------------------------------------------------------------------------------------
def write_fit(fitter: CrossFitter, folder: Path) -> None:
    """Write all that members are fitted from, except for the graph, into a new folder."""
    (folder / _LABELS).mkdir(parents=True)
    maker, inputs = fitter.maker, fitter.inputs
    table = None if inputs.X is None else _without_values(inputs.X)
    if inputs.X is not None:
        _write_values(inputs.X.values, folder)
    spread = maker.columns.spread_of(inputs.X, inputs.graph)
    if spread is not None:
        np.save(folder / f"{_SPREAD}-{spread[0]}.npy", spread[1])
    only = maker.columns.only(inputs.graph)
    if only is not None:
        np.save(folder / _ONLY, only)
    weights = maker.self_weights(inputs.graph)
    labels = (inputs.targets, fitter.validation, fitter.fold)
    save_parts((maker, table, *labels, fitter.seed, fitter.dropout, weights), folder / _PARTS)


def read_fit(folder: Path, graph: Graph) -> CrossFitter:
    """The fit that `write_fit` wrote."""
    maker, table, targets, validation, fold, seed, dropout, weights = load_parts(folder / _PARTS)
    if table is not None:
        table = replace(table, values=_read_values(folder, len(table.columns)))
    if (folder / _ONLY).exists():
        maker.columns.keep_only(table, graph, _mapped(folder / _ONLY))
    for file in folder.glob(f"{_SPREAD}-*.npy"):
        n_hops = int(file.stem.partition("-")[2])
        maker.columns.keep_spread(table, graph, n_hops, _mapped(file))
    maker.take(graph, weights, folder / _LABELS)
    inputs = NodeInputs(targets, graph, table)
    return CrossFitter(maker, inputs, validation, fold, seed, dropout)


def _without_values(table: Table) -> Table:
    """The columns of a table as far as learners know them: not the levels of categories, which may
    be anything."""
    columns = tuple(Column(each.name, () if each.is_categorical else None)
                    for each in table.columns)  # fmt: skip
    return Table(np.zeros((0, len(columns))), columns, table.named)


def _write_values(values: Any, folder: Path) -> None:
    if not sp.issparse(values):
        np.save(folder / f"{_DENSE[0]}.npy", values)
        return
    for name in _SPARSE:
        np.save(folder / f"{name}.npy", getattr(values, name))


def _read_values(folder: Path, n_columns: int) -> Any:
    dense = folder / f"{_DENSE[0]}.npy"
    if dense.exists():
        return _mapped(dense)
    data, indices, indptr = (_mapped(folder / f"{name}.npy") for name in _SPARSE)
    return sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, n_columns))


def _mapped(file: Path) -> np.ndarray:
    return np.asarray(np.load(file, mmap_mode="r"))
