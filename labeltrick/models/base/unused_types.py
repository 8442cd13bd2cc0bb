"""Types of edges and nodes that a fit would ignore are reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..._utils.checks import warn_caller
from ...graph.graph import Graph

_fitting: ContextVar[bool] = ContextVar("fitting", default=False)


def report_unused_types(estimator: Any, graph: Graph | None) -> None:
    """Warn if the graph has types that the estimator ignores, but not inside of another fit, which
    has warned.

    ``estimator.uses_types`` says whether it uses them.
    """
    if graph is not None and not estimator.uses_types and not inside_another():
        warn_of_unused_types(type(estimator).__name__, graph)


def inside_another() -> bool:
    """Whether one estimator uses another, which then must not warn of what the caller did not
    give it."""
    return _fitting.get()


@contextmanager
def fitting() -> Iterator[None]:
    """While an estimator fits or asks another one."""
    token = _fitting.set(True)
    try:
        yield
    finally:
        _fitting.reset(token)


def warn_of_unused_types(name: str, graph: Graph) -> None:
    """Warn once of all types; a single type says nothing that could be used."""
    n_edge_types, found, ways = len(graph.relations), [], []
    n_node_types = 0 if graph.node_types is None else len(np.unique(graph.node_types))
    if n_edge_types > 1:
        found.append(f"{n_edge_types} edge types")
        ways.append(f"choose one by graph=graph.relations[{next(iter(graph.relations))!r}]")
    if n_node_types > 1:
        found.append(f"{n_node_types} node types")
        ways.append("put graph.node_types into X, for a model with features")
    if found:
        warn_caller(
            f"{name} does not use the {' and '.join(found)} of the graph. Use "
            f"TrainableLabelPropagation, which learns weights by type, or {', and '.join(ways)}."
        )
