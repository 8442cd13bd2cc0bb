"""P·F with the columns of F spread over workers."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...._utils.memory import shown_bytes
from ...._utils.progress import Progress, notice
from ....graph.stored.graph import StoredGraph
from ..checkpoints import CheckpointFolder
from ..layout import CACHE_LINE
from ..placing import estimated_bytes, in_folder, scratch_folder
from . import tasks
from .connection import Cluster, connect
from .rows import run_by_rows
from .running import Tasks

if TYPE_CHECKING:
    from ...base import Propagation

_BYTES_AT_ONCE = 1 << 24
_WIDEST = 64  # columns of a slice: what one pass over the graph takes


def apply(P: Propagation, F: Any, out: np.ndarray, progress: Progress) -> None:
    """``out = P·F`` on the cluster of P's setting; see `Propagation.apply`."""
    if not out.size:
        return
    graph = workers_graph(P)
    if graph.compute.checkpoint_dir is not None:
        CheckpointFolder(graph.compute.checkpoint_dir, graph.identity)  # fails early if unusable
    with scratch_folder(graph.compute) as scratch:
        cluster = connect(graph.compute, scratch, graph.folder)
        if not graph_fits_workers(graph, cluster):
            notice("the graph does not fit in a worker: its rows are split", progress)
            run_by_rows(P, graph, F, out, cluster, scratch, progress)
            return
        n_groups = min(F.shape[1], out.shape[1])
        place, recipe = tasks.Place.of(graph, cluster), P.recipe()
        running = Tasks(cluster, type(P).__name__, progress)
        calls, targets = {}, []
        for first, end in column_slices(n_groups, F.dtype.itemsize, len(cluster.workers)):
            columns, into = P._slice(first, end, n_groups)
            source = _write_columns(F, columns, scratch / f"in-{first}")
            target = str(scratch / f"out-{first}.npy")
            calls[target] = (place, recipe, source, target, running.topic)
            targets.append((target, into))
        solves = running.run(tasks.spread_columns, calls)
        for target, into in targets:
            out[:, _as_slice(into)] = np.load(target, mmap_mode="r")
        P._note_solves(solves)


def workers_graph(P: Propagation) -> StoredGraph:
    """The graph in a folder, with the settings of P."""
    stored = in_folder(P.graph, P.compute).with_compute(P.compute)
    assert isinstance(stored, StoredGraph)
    return stored


def graph_fits_workers(graph: StoredGraph, cluster: Cluster) -> bool:
    """Whether each worker can hold the graph and the iterates of a few columns."""
    room = cluster.memory_for(graph.compute)
    return room is None or estimated_bytes(graph) <= room


def column_slices(n_columns: int, itemsize: int, n_workers: int) -> list[tuple[int, int]]:
    """Slices of columns for workers: whole cache lines (two workers would both read a shared one),
    as even as possible, no wider than one pass over the graph takes, no narrower than a line."""
    line = CACHE_LINE // itemsize
    n_lines = max(1, -(-n_columns // line))
    fewest = -(-n_columns // _WIDEST)
    wanted = max(fewest, min(n_workers, n_lines), 1)
    wanted = -(-wanted // n_workers) * n_workers if wanted > n_workers else wanted
    lines = np.unique(np.linspace(0, n_lines, min(wanted, n_lines) + 1).astype(int))
    cuts = [*(lines[:-1] * line).tolist(), n_columns]
    if len(cuts) > 2 and cuts[-1] - cuts[-2] < line:
        del cuts[-2]
    return list(itertools.pairwise(cuts))


def _write_columns(F: Any, columns: np.ndarray, stem: Path) -> str:
    """Write columns of the input to a file; return its name."""
    needed = shown_bytes(F.shape[0] * len(columns) * F.dtype.itemsize)
    with tasks.told_if_exchange_is_full(f"{needed} of columns", stem.parent):
        if sp.issparse(F):
            sp.save_npz(f"{stem}.npz", F.tocsc()[:, columns], compressed=False)
            return f"{stem}.npz"
        _write_dense(F, columns, f"{stem}.npy")
    return f"{stem}.npy"


def _write_dense(F: np.ndarray, columns: np.ndarray, name: str) -> None:
    """`numpy.save` is several times slower for some columns of a wider matrix."""
    chosen = _as_slice(columns)
    step = max(1, _BYTES_AT_ONCE // (len(columns) * F.dtype.itemsize))
    described = {"descr": F.dtype.str, "fortran_order": False, "shape": (len(F), len(columns))}
    with open(name, "wb") as file:
        np.lib.format.write_array_header_1_0(file, described)
        for first in range(0, len(F), step):
            # The errors of `tofile` do not say that a disk is full.
            file.write(np.ascontiguousarray(F[first : first + step, chosen]).data)


def _as_slice(columns: np.ndarray) -> Any:
    """Consecutive columns as a slice, which is faster; others unchanged."""
    if len(columns) and columns[-1] - columns[0] + 1 == len(columns):
        return slice(columns[0], columns[-1] + 1)
    return columns
