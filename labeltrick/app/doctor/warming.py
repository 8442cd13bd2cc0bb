"""Compiles the kernels that commands use, by running what the commands do on small tables: types
and layouts of arrays are then those of real work."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils import extras
from ..._utils.jit import note_announced
from ..._utils.progress import Progress, ProgressBar

_N_NODES = 60
# Consecutive numbers are node numbers already, and are used as polars has read them.
_IDS = {
    "numbers": lambda k: 3 * k + 7,
    "consecutive": lambda k: k,
    "names": lambda k: f"node {k}",
}
_MODELS = ("label-propagation", "trainable-label-propagation", "boosting", "auto")
_WIDTHS = {np.float64: (1, 2, *range(4, 33, 4)), np.float32: (1, 2, 4, *range(8, 65, 8))}
"""Numbers of columns for which the fused step is compiled; see `propagation.engine.blocks`."""


def warm_kernels(progress: Progress = None) -> float:
    """Compile the kernels into numba's cache; the seconds that it took."""
    begin = time.perf_counter()
    note_announced()
    kinds = [(ids, w, d) for ids in _IDS for w in (0, 1) for d in (0, 1)]
    with (
        tempfile.TemporaryDirectory(prefix="labeltrick-") as place,
        ProgressBar(len(kinds), "compiling kernels", progress) as bar,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of models on so few nodes
        for ids, weighted, directed in kinds:
            folder = Path(place) / f"{ids}{weighted}{directed}"
            folder.mkdir()
            _write_tables(folder, ids, bool(weighted))
            _use_tables(folder, bool(directed), models=ids == "numbers")
            bar.advance()
        _large_tables()
    return time.perf_counter() - begin


def _write_tables(folder: Path, ids: str, weighted: bool) -> None:
    import polars as pl

    rng = np.random.default_rng(0)
    names = [_IDS[ids](k) for k in range(_N_NODES)]
    source, target = rng.integers(0, _N_NODES, (2, 4 * _N_NODES))
    edges = {"source": [names[k] for k in source], "target": [names[k] for k in target]}
    more = {"weight": rng.uniform(0.5, 2, len(source))} if weighted else {}
    pl.DataFrame(edges | more).write_csv(folder / "edges.csv")
    group = np.arange(_N_NODES) % 3
    columns = {
        "id": names,
        "x": rng.normal(size=_N_NODES) + group,
        "label": ["abc"[k] if i % 4 else None for i, k in enumerate(group)],
    }
    pl.DataFrame(columns).write_csv(folder / "nodes.csv")


def _use_tables(folder: Path, directed: bool, *, models: bool) -> None:
    """Inspect the tables, store the graph, propagate, and fit."""
    from ...graph.stored import open_graph
    from ...io.tables import build_graph_folder
    from ..runs.fitting import fit_problem
    from ..runs.inspecting import inspect_problem
    from ..runs.settings import FitSettings

    edges, nodes = str(folder / "edges.csv"), str(folder / "nodes.csv")
    given: dict[str, Any] = {"nodes": nodes, "target": "label", "directed": directed}
    settings = FitSettings(edges=edges, **given)
    problem = settings.read(False)
    inspect_problem(problem)
    stored = folder / "graph.lt"
    build_graph_folder(edges, stored, directed=directed, progress=False)
    FitSettings(edges=edges).read(False)  # nodes are those that edges name
    if not models:
        return
    _propagate(problem.graph)
    _propagate(open_graph(stored).on(engine="disk"))
    for model, options in _fits():
        own = FitSettings(edges=edges, model=model, set=options, **given)
        fit_problem(own, problem, progress=False)


def _fits() -> Iterator[tuple[str, dict[str, Any]]]:
    for model in _MODELS:
        yield model, {}
    if extras.is_installed("torch"):
        yield "trainable-label-propagation", {"edge_weights": "learned"}


def _propagate(graph: Any) -> None:
    """Every width and precision, both orders of the nodes, and all ways to diag(P)."""
    from ...propagation import Hops, Power, Resolvent
    from ...propagation.nearby import Nearby, Spread

    n = graph.n_nodes
    for dtype, widths in _WIDTHS.items():
        for width in widths:
            Power(graph, 1).apply(np.ones((n, width), dtype), progress=False)
        if not hasattr(graph, "folder"):  # a graph in memory
            Power(graph, 1, reorder=True).apply(np.ones((n, 2), dtype), progress=False)
    if not hasattr(graph, "folder"):
        around, zeros = (
            Nearby(graph, graph.degrees[:-1], np.zeros(0, np.int64)),
            np.zeros((n - 1, 2)),
        )
        around.hop_rows(n - 1, 2)
        around.resolvent_at(np.array([n - 1]), Spread(0.5, zeros, zeros))
    P = Resolvent(graph, 0.5)
    P.T.apply(np.ones((n, 1)), progress=False)
    for method in ("auto", "exact"):
        P.self_weight(method=method, progress=False)
        Hops(graph, 2).self_weight(method=method, progress=False)
    P.column_energy(np.arange(n), progress=False)


def _large_tables() -> None:
    """Kernels for millions of edges, and for thousands of names, on few."""
    import polars as pl

    from ...graph.build import large_csr
    from ...graph.node_ids import number_edges

    names = pl.Series([f"node {k}" for k in range(3000)])  # the table of names grows at 2,048
    number_edges(names, names)

    for dtype in (np.int32, np.int64):
        ends = np.arange(_N_NODES, dtype=dtype)
        for both in (False, True):
            large_csr(ends, ends[::-1].copy(), _N_NODES, both)
