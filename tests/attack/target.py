"""What a format has to offer to be attacked, and answers that two readings can be compared by."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

ANY, SAME, SEALED = "any", "same", "sealed"
"""What an input may do after a change: ANY: be read or refused. SAME: only its form was changed,
and it must give the answer of the seed. SEALED: it was damaged under a checksum, and must be
refused unless the answer is the seed's."""


@dataclass(frozen=True)
class Change:
    what: str
    allowed: str = ANY


@dataclass(frozen=True)
class Target:
    """``change`` edits the files of a seed in place; ``load`` reads them, and its errors must name
    a file; ``use`` does something with what was read and gives an answer; ``command`` is the
    same by the command line, where there is a command for it."""

    change: Callable[[random.Random, Path], Change]
    load: Callable[[Path], Any]
    use: Callable[[Any], Any]
    command: Callable[[random.Random, Path], list[Any]] | None = None


# -- answers -----------------------------------------------------------------------------------
def problem_answer(problem: Any) -> Any:
    """A problem by the names of its nodes and columns: their order does not matter."""
    names = problem.ids.cast(pl.String).to_list()
    labels = None
    if problem.labels is not None:
        values = problem.labels.values.tolist()
        labels = sorted(zip(names, map(_shown, values), strict=True))
    split = {part: sorted(names[k] for k in nodes) for part, nodes in problem.split.items()}
    return [sorted(names), edges_answer(problem.graph, names), labels, split, _columns(problem)]


def _columns(problem: Any) -> Any:
    X, names = problem.X, problem.ids.cast(pl.String).to_list()
    if X is None or sp.issparse(X) or isinstance(X, np.ndarray):
        return None if X is None else [X.shape, rounded(X.toarray() if sp.issparse(X) else X)]
    order = sorted(range(len(names)), key=names.__getitem__)
    columns = {name: X[name].cast(pl.String).to_list() for name in sorted(X.columns)}
    return {name: [values[k] for k in order] for name, values in columns.items()}


def edges_answer(graph: Any, names: list[Any] | None = None) -> Any:
    names = list(range(graph.n_nodes)) if names is None else names
    indptr, indices = np.asarray(graph.indptr), np.asarray(graph.indices)
    source = np.repeat(np.arange(graph.n_nodes), np.diff(indptr))
    weights = [1.0] * len(indices) if graph.weights is None else rounded(graph.weights)
    ends = zip(source.tolist(), indices.tolist(), weights, strict=True)
    return [graph.directed, sorted((names[a], names[b], w) for a, b, w in ends)]


def rounded(values: Any) -> list[Any]:
    """To nine digits: sums in another order are the same answer."""
    flat = np.asarray(values).ravel()
    if flat.dtype.kind != "f":
        return [str(value) for value in flat.tolist()]
    return [f"{value:.9g}" for value in flat.tolist()]


def _shown(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
