"""What a worker gets of the graph, and of its own memory to work with."""

from __future__ import annotations

from ....graph.compute import Compute
from ....graph.stored.graph import StoredGraph
from . import tasks
from .connection import Cluster


def worker_memory(graph: StoredGraph, cluster: Cluster) -> int | None:
    """Bytes that the worker with the least may take; None if nothing limits it."""
    limits = [cluster.least_memory]
    if graph.compute.max_memory is not None:
        limits.append(graph.compute.memory_bytes)
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def task_place(graph: StoredGraph, cluster: Cluster) -> tasks.Place:
    """The graph as workers see it: they compute in their own memory, of which the graph takes its
    part. Half of the rest is for iterates; the other half a copy of the graph in a better order
    may take."""
    ours = graph.compute
    room = worker_memory(graph, cluster)
    iterates = ours.memory_bytes
    if room is not None:
        iterates = min(iterates, max(1, (room - graph.nbytes) // 2))
    compute = Compute("memory", None, iterates, ours.checkpoint_dir)
    return tasks.Place(str(graph.folder.resolve()), graph.fingerprint, compute)
