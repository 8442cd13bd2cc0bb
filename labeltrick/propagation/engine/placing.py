"""Resolves the engine "auto", and writes to disk what the chosen engine reads from there."""

from __future__ import annotations

import tempfile
import weakref
from dataclasses import replace
from pathlib import Path

from ..._utils.disk_full import told_if_full
from ..._utils.memory import shown_bytes
from ..._utils.progress import notice
from ..._utils.temporary_folders import Temporary
from ...graph.compute import Compute
from ...graph.graph import Graph
from ...graph.stored.graph import StoredGraph
from ...graph.stored.writing import write_graph

_FLOATS_OF_A_NODE = 6 + 3 * 16  # factors of rows and columns, and three iterates of 16 columns
_twins: weakref.WeakValueDictionary[int, StoredGraph] = weakref.WeakValueDictionary()


def estimated_bytes(graph: Graph) -> int:
    """Memory that the propagation of a few columns takes, including the graph."""
    entries = graph.nnz * (4 if graph.n_nodes < 2**31 else 8)
    weights = graph.nnz * 8 if graph.weighted else 0
    return entries + weights + (8 + 8 * _FLOATS_OF_A_NODE) * graph.n_nodes


def choose_engine(graph: Graph, compute: Compute) -> tuple[str, str]:
    """(engine, reason) for the setting "auto"."""
    if compute.address is not None:
        return "dask", f"the scheduler at {compute.address} was given"
    if not isinstance(graph, StoredGraph):
        return "memory", "the graph is in memory"
    needed, room = estimated_bytes(graph), compute.room_for_a_graph()
    verb = "of" if needed <= room else "but only"
    why = f"about {shown_bytes(needed)} are needed, {verb} {shown_bytes(room)} may be used"
    return ("memory" if needed <= room else "disk"), why


def placed(graph: Graph) -> tuple[Graph, Compute]:
    """The graph, in a folder if the engine reads from one, and its settings without "auto"."""
    compute = graph.compute
    if compute.engine == "auto":
        engine, why = choose_engine(graph, compute)
        if engine != "memory" or isinstance(graph, StoredGraph):
            notice(f"engine '{engine}': {why}")
        compute = replace(compute, engine=engine)
    return (in_folder(graph, compute) if compute.engine == "disk" else graph), compute


def in_folder(graph: Graph, compute: Compute) -> StoredGraph:
    """The graph in a folder: itself, or a temporary copy that is removed after its last use."""
    if isinstance(graph, StoredGraph):
        return graph
    twin = _twins.get(id(graph.indices))
    if twin is None or not twin.folder.exists() or not _is_where_asked(twin, compute):
        twin = _twin_of(graph, compute)
        _twins[id(graph.indices)] = twin
    graph.__dict__["_twin"] = twin  # keeps it alive as long as the graph
    return twin


def _is_where_asked(twin: StoredGraph, compute: Compute) -> bool:
    """Workers of a cluster may see no other folder than that of the checkpoints."""
    base = compute.checkpoint_dir
    return base is None or twin.folder.resolve().is_relative_to(Path(base).resolve())


def _twin_of(graph: Graph, compute: Compute) -> StoredGraph:
    place = scratch_folder(compute)
    folder = place.path / "graph.lt"
    remedy = "set TMPDIR or `checkpoint_dir` to a folder with more"
    try:
        with told_if_full("a copy of the graph", place.path.parent, remedy):
            folder.mkdir()
            write_graph(graph, folder)
    except OSError:
        place.close()
        raise
    twin = StoredGraph(folder)
    twin.__dict__["_place"] = place
    twin.__dict__["_original"] = graph.indices  # while it lives, no other array has its id
    return twin


def scratch_folder(compute: Compute) -> Temporary:
    """A temporary folder for the work; next to the checkpoints, if any, which workers can see."""
    base = Path(compute.checkpoint_dir or tempfile.gettempdir()).expanduser()
    return Temporary(base / "scratch")
