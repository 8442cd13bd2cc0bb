"""Self-weights on a cluster: neighborhoods spread over nodes, whole columns for what is left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._utils.progress import Progress
from ...diagonal.self_weight import SelfWeight
from ..placing import scratch_folder
from . import tasks
from .columns import workers_graph
from .connection import connect
from .running import Tasks
from .sharing import task_place

if TYPE_CHECKING:
    from ...base import Propagation

_TASKS_PER_WORKER = 4  # neighborhoods differ: others fill the gap that a hub leaves
_COLUMNS = 16


def self_weight(
    P: Propagation,
    nodes: np.ndarray,
    tol: float,
    method: str,
    in_rows: np.ndarray | None,
    progress: Progress,
) -> SelfWeight:
    """As `Propagation._self_weight`, by workers."""
    graph = workers_graph(P)
    rows = None if in_rows is None else np.flatnonzero(in_rows)
    with scratch_folder(graph.compute) as place:
        cluster = connect(graph.compute, place, graph.folder)
        here, recipe = task_place(graph, cluster), P.recipe()

        def spread(nodes: np.ndarray, method: str, n_parts: int) -> SelfWeight:
            running = Tasks(cluster, "self-weights", progress)
            # Every so-manieth node: hubs, which stand together in many graphs, are shared out.
            parts = [np.arange(k, len(nodes), n_parts) for k in range(n_parts)]
            calls: dict[str, tuple[Any, ...]] = {}
            for k, part in enumerate(parts):
                task = f"part {k + 1} of the self-weights"
                calls[task] = (here, recipe, nodes[part], tol, method, rows, running.topic, task,
                               str(place))  # fmt: skip
            return _joined(running.run(tasks.weigh_nodes, calls), parts, len(nodes))

        n_workers = len(cluster.workers)
        if method == "exact":
            return spread(nodes, method, _n_parts(len(nodes), n_workers, _COLUMNS))
        local = {"auto": "local"}.get(method, method)
        n_parts = _n_parts(len(nodes), n_workers * _TASKS_PER_WORKER, 64)
        found = spread(nodes, local, n_parts)
        left = np.flatnonzero(found.method == "")
        if not len(left):
            return found
        rest = spread(nodes[left], "columns", _n_parts(len(left), n_workers, _COLUMNS))
        return _filled(found, left, rest)


def _n_parts(n_nodes: int, most: int, least_nodes: int) -> int:
    return max(1, min(most, n_nodes // least_nodes))


_FIELDS = ("value", "error_bound", "method", "column_energy", "energy_bound")


def _joined(found: list[SelfWeight], parts: list[np.ndarray], n: int) -> SelfWeight:
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


def _filled(found: SelfWeight, places: np.ndarray, rest: SelfWeight) -> SelfWeight:
    changes = {}
    for field in _FIELDS:
        ours, theirs = getattr(found, field), getattr(rest, field)
        if ours is not None:
            filled = ours.astype(np.result_type(ours, theirs))
            filled[places] = theirs
            changes[field] = filled
    return replace(found, **changes)
