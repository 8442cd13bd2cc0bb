"""P·F when no worker can hold the graph: each worker has some of its rows.

A step reads all rows of the last iterate and computes some rows of the next one. Iterates are
files, one per part of the rows. No step overwrites what it reads, so a lost task can be repeated.
"""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...._utils.checks import not_finite
from ...._utils.progress import Progress, ProgressBar
from ...._utils.threads import row_cuts, run_chunks
from ...._utils.whole_files import replacing
from ....graph.compute import Compute
from ....graph.stored.graph import StoredGraph
from .. import block_kernels, fused_step
from ..blocks import Block, run_blocks
from ..checkpoints import NO_TRAIL
from ..layout import CACHE_LINE, aligned
from . import tasks
from .connection import Cluster
from .running import Tasks

if TYPE_CHECKING:
    from ....graph.normalized import NormalizedAdjacency
    from ...base import Propagation

_SHARE = 2  # a worker's part of the graph takes at most half of its memory
_FACTOR_BYTES = 3 * 8  # of a row: left, right, added loop
_rows: dict[Any, PartRows] = {}  # on a worker: its parts of the graph, last used at the end
_iterates: dict[str, np.ndarray] = {}  # on a worker: the iterate that all its parts read


class PartRows(NamedTuple):
    """Some rows of the graph, and their factors (left, right, added loops)."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None
    factors: tuple[np.ndarray, np.ndarray, np.ndarray]

    @property
    def nbytes(self) -> int:
        arrays = (self.indptr, self.indices, self.weights, *self.factors)
        return sum(array.nbytes for array in arrays if array is not None)


class RowStep(NamedTuple):
    """One step on one part of the rows."""

    first: int
    end: int
    part: int
    n_parts: int
    source: str  # folders of iterates
    base: str
    previous: str
    target: str
    coefficients: np.ndarray
    shape: tuple[int, int]  # lanes and vectors
    check: bool
    clamp: bool
    room: int  # bytes of the graph that a worker may keep


def _part_file(folder: str | Path, part: int) -> Path:
    return Path(folder) / f"{part}.npy"


def _whole(folder: str, n_parts: int, n_nodes: int) -> np.ndarray:
    if folder not in _iterates:
        _iterates.clear()
        parts = [np.load(_part_file(folder, k), mmap_mode="r") for k in range(n_parts)]
        whole = aligned(n_nodes, parts[0].shape[1], parts[0].dtype)
        np.concatenate(parts, out=whole)
        _iterates[folder] = whole
    return _iterates[folder]


def step_rows(place: tasks.Place, recipe: tasks.Recipe, step: RowStep) -> np.ndarray:
    """Compute some rows of the next iterate; return the largest residual of each column."""

    def work() -> np.ndarray:
        indptr, indices, weights, (left, right, loop) = _part_rows(place, recipe, step)
        source = _whole(step.source, step.n_parts, place.open().n_nodes)
        dtype = source.dtype
        base = np.load(_part_file(step.base, step.part))
        out = np.empty_like(base)
        if step.coefficients[3]:
            out[:] = np.load(_part_file(step.previous, step.part))
        lanes, vectors = (0,) * step.shape[0], (0,) * step.shape[1]
        values = None if weights is None else weights.astype(dtype, copy=False)
        M = (indptr, indices, values, (left * right).astype(dtype), loop.astype(dtype))
        right = right.astype(dtype)
        offsets = (step.first, int(indptr[0]), step.first)

        def chunk(first: int, end: int) -> np.ndarray:
            worst = np.zeros(source.shape[1], dtype)
            what = (source, base, out, step.coefficients, worst, step.check, step.clamp, right)
            fused_step.fused_step(lanes, vectors, *M, *what, *offsets, first, end)
            return worst

        cuts = row_cuts(indptr - indptr[0], source.shape[1]) + step.first
        worst = np.max(run_chunks(chunk, cuts), axis=0)
        _write(step.target, step.part, out)
        return worst

    return tasks.on_this_worker(work)


def _part_rows(place: tasks.Place, recipe: tasks.Recipe, step: RowStep) -> PartRows:
    """The rows of a part, kept from the last step or read; older parts make room for them."""
    mark = recipe.mark()
    if any(other[:2] != (place, mark) for other in _rows):
        _rows.clear()
    key = (place, mark, step.first, step.end)
    found = _rows.pop(key, None)
    if found is None:
        graph = place.open()
        read = graph.rows(step.first, step.end)
        weights = None if read.weights is None else np.array(read.weights)
        factors = recipe.make(graph).S.factors(step.first, step.end)
        found = PartRows(np.array(read.indptr), np.array(read.indices), weights, factors)
        while _rows and found.nbytes + sum(part.nbytes for part in _rows.values()) > step.room:
            del _rows[next(iter(_rows))]
    _rows[key] = found
    return found


def forget() -> None:
    """On a worker: drop what is kept between steps."""
    _rows.clear()
    _iterates.clear()


def _write(folder: str, part: int, rows: np.ndarray) -> None:
    with replacing(_part_file(folder, part), durable=False) as temporary:
        out = tasks.new_array(temporary, rows.shape, rows.dtype)
        out[:] = rows
        del out


class _Iterate:
    """An iterate in files; each version has its own folder."""

    folder = ""

    def replace(self, folder: str) -> None:
        """Use the files of another folder; remove the old ones."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = folder


class RowBlock(Block):
    """A column block whose steps are computed by workers, and whose iterates are files."""

    def __init__(self, spread: _Spread, lanes: int, vectors: int, bar: ProgressBar) -> None:
        self.layout: Any = spread
        self.width = lanes * vectors
        self.shape = (lanes, vectors)
        self.trail, self._bar = NO_TRAIL, bar
        self.base, self.first, self.second = (_Iterate() for _ in range(3))

    def _compute(
        self, source: Any, out: Any, coefficients: np.ndarray, check: bool, clamp: bool
    ) -> list[np.ndarray]:
        spread = self.layout
        target = spread.new_folder()
        calls = {}
        for part, (first, end) in enumerate(spread.parts):
            where = (first, end, part, len(spread.parts))
            files = (source.folder, self.base.folder, out.folder, target)
            how = (coefficients, self.shape, check, clamp)
            step = RowStep(*where, *files, *how, spread.part_bytes)
            calls[f"rows {first}–{end - 1}"] = (spread.place, spread.recipe, step)
        worst = Tasks(spread.cluster, "step", False).run(step_rows, calls, bound=True)
        out.replace(target)
        return worst

    def pack(
        self,
        matrix: Any,
        first_column: int,
        n_columns: int,
        target: Any,
        times: np.ndarray | None = None,
    ) -> None:
        spread = self.layout
        if sp.issparse(matrix):
            matrix = matrix[:, first_column : first_column + n_columns].toarray()
            first_column = 0
        folder, largest = spread.new_folder(), np.zeros(self.width)
        for part, (first, end) in enumerate(spread.parts):
            scale = spread.right(first, end)
            scale = scale if times is None else scale * times[first:end]
            rows = np.empty((end - first, self.width), spread.dtype)
            bad = block_kernels.pack(
                matrix[first:end], first_column, n_columns, scale, None, rows, largest, 0, len(rows)
            )
            if bad >= 0:
                raise not_finite("F", first + bad)
            _write(folder, part, rows)
        target.replace(folder)
        self.largest = largest

    def unpack(
        self, buffer: Any, factor: float, matrix: np.ndarray, first_column: int, n_columns: int
    ) -> None:
        spread = self.layout
        for part, (first, end) in enumerate(spread.parts):
            rows = np.load(_part_file(buffer.folder, part))
            scale = (1 / spread.right(first, end)).astype(spread.dtype)
            target = (spread.dtype.type(factor), matrix[first:end])
            block_kernels.unpack(rows, first_column, n_columns, scale, None, *target, 0, len(rows))


class _Spread:
    """A graph whose rows are divided among the workers: their layout."""

    def __init__(
        self, P: Propagation, graph: StoredGraph, dtype: np.dtype, cluster: Cluster, scratch: Path
    ) -> None:
        self.S: NormalizedAdjacency = P.S
        self.dtype, self.cluster, self.scratch = dtype, cluster, scratch
        self.n_nodes = graph.n_nodes
        self.place, self.recipe = tasks.Place.of(graph, cluster), P.recipe()
        self.part_bytes = self._part_bytes(graph)
        of_edges = graph.nbytes / (graph.nbytes + _FACTOR_BYTES * graph.n_nodes)
        cuts = graph.cuts(int(self.part_bytes * of_edges)).tolist()
        self.parts = list(itertools.pairwise(cuts))
        self._n_folders = 0

    def _part_bytes(self, graph: StoredGraph) -> int:
        share = -(-(graph.nbytes + _FACTOR_BYTES * graph.n_nodes) // len(self.cluster.workers))
        room = self.cluster.memory_for(graph.compute)
        return max(1 << 12, share if room is None else min(share, room // _SHARE))

    def widest(self, max_memory: int, column_bytes: int) -> int:
        return max(CACHE_LINE // self.dtype.itemsize, max_memory // max(1, column_bytes))

    def right(self, first: int, end: int) -> np.ndarray:
        return self.S.factors(first, end)[1].astype(self.dtype)

    def new_folder(self) -> str:
        self._n_folders += 1
        folder = self.scratch / f"iterate-{self._n_folders}"
        folder.mkdir()
        return str(folder)


def run_by_rows(
    P: Propagation,
    graph: StoredGraph,
    F: Any,
    out: np.ndarray,
    cluster: Cluster,
    scratch: Path,
    progress: Progress,
) -> None:
    """``out = P·F``, some rows on each worker, one block of columns after the other."""
    plain = Compute("memory", None, graph.compute.max_memory)  # the files serve as checkpoints
    here = P.recipe().make(graph.with_compute(plain))
    dtype = here.S.layout_dtype(F.dtype)
    spread = _Spread(here, graph, dtype, cluster, scratch)

    def run(process: Any, F: Any, n_columns: int, progress: Progress) -> None:
        limit = cluster.memory_for(graph.compute)
        room = graph.compute.memory_bytes if limit is None else limit

        def in_turn(block: Any, first: int, count: int) -> None:
            process(block, first, count)
            for iterate in (block.base, block.first, block.second):
                iterate.replace("")

        run_blocks(
            spread,
            n_columns,
            in_turn,
            max_memory=room // _SHARE,
            bar=lambda n_blocks: ProgressBar(
                here._n_products(dtype) * n_blocks, type(P).__name__, progress
            ),
            make=RowBlock,
        )

    here._run = run
    try:
        here._apply(F, out, progress)
    finally:
        cluster.client.run(forget)
    P._note_solves([vars(here.last_solve)] if hasattr(here, "last_solve") else [], warn=False)
