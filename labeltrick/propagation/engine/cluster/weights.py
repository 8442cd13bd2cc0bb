"""Self-weights on a cluster: neighborhoods spread over workers, whole columns for the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagonal.self_weight import SelfWeight
from ..placing import scratch_folder
from . import tasks
from .columns import workers_graph
from .connection import connect
from .running import Tasks

if TYPE_CHECKING:
    from ...base import Propagation
    from ...diagonal.request import SelfWeightRequest

_TASKS_PER_WORKER = 4  # neighborhoods differ in size: other tasks fill the gap that a hub leaves
_NODES, _COLUMNS = 64, 16  # least number of nodes per task, by neighborhoods and by columns
_FIELDS = ("value", "error_bound", "method", "column_energy", "energy_bound")


def self_weight(P: Propagation, request: SelfWeightRequest) -> SelfWeight:
    """`Propagation._self_weight`, computed by workers."""
    graph = workers_graph(P)
    with scratch_folder(graph.compute) as scratch:
        cluster = connect(graph.compute, scratch, graph.folder)
        place, recipe = tasks.Place.of(graph, cluster), P.recipe()

        def spread(nodes: np.ndarray, method: str, most: int, least_nodes: int) -> SelfWeight:
            running = Tasks(cluster, "self-weights", request.progress)
            n_parts = max(1, min(most, len(nodes) // least_nodes))
            # Every n-th node: shares out hubs, which are next to each other in many graphs.
            parts = [np.arange(k, len(nodes), n_parts) for k in range(n_parts)]
            calls: dict[str, tuple[Any, ...]] = {}
            for k, part in enumerate(parts):
                task = f"part {k + 1} of the self-weights"
                mine = replace(request, nodes=nodes[part], method=method, progress=None)
                calls[task] = (place, recipe, mine, running.topic, task, str(scratch))
            return _joined(running.run(tasks.weigh_nodes, calls), parts, len(nodes))

        n_workers, nodes = len(cluster.workers), request.nodes
        if request.method == "exact":
            return spread(nodes, "exact", n_workers, _COLUMNS)
        local = "local" if request.method == "auto" else request.method
        found = spread(nodes, local, n_workers * _TASKS_PER_WORKER, _NODES)
        left = found.method == ""
        if not left.any():
            return found
        rest = spread(nodes[left], "columns", n_workers, _COLUMNS)
        return _joined([found, rest], [np.arange(len(nodes)), np.flatnonzero(left)], len(nodes))


def _joined(found: list[SelfWeight], parts: list[np.ndarray], n: int) -> SelfWeight:
    """One record from several; where parts overlap, the later one counts."""
    joined: dict[str, Any] = {}
    for field in _FIELDS:
        pieces = [getattr(piece, field) for piece in found]
        if pieces[0] is None:
            continue
        whole = np.empty((n, *pieces[0].shape[1:]), np.result_type(*pieces))
        for places, piece in zip(parts, pieces, strict=True):
            whole[places] = piece
        joined[field] = whole
    return SelfWeight(**joined)
