"""Edges and nodes put together: graph, columns, labels and split of one prediction problem."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.checks import check_choice
from ...graph.graph import Graph
from .edges import graph_alone, join_nodes
from .frames import cell_name, is_table, read_frame, require_path
from .graph_files import GraphFile, from_pyg_data, is_graph_file, read_graph_file
from .ids import NodeIds
from .kinds import (
    CONSTANT,
    EMPTY,
    ColumnKind,
    as_days,
    find_column,
    infer_column,
    pick_column,
    require_unique,
)
from .labels import Labels, read_labels, read_split
from .roles import Roles

_ID_NAMES = ("id", "node", "node_id", "nodeid", "name", "key")
UNKNOWN = ("error", "add", "drop")


@dataclass(frozen=True)
class Problem:
    """A graph with its nodes' columns and labels, as estimators take them.

    Attributes
    ----------
    graph : Graph
    ids : the nodes' ids, in the order of the rows.
    X : data frame of the columns that are features (or a sparse matrix); None if there are none.
    labels : `Labels`, or None without a target.
    split : {"train", "val", "test"} → numbers of nodes; empty without a split.
    kinds : what each column of the nodes' table is. notes : what was decided on reading.
    oof : columns that are no features here, by name; a fit on another table may want them.
    """

    graph: Graph
    ids: pl.Series
    X: Any
    labels: Labels | None
    split: dict[str, np.ndarray]
    kinds: list[ColumnKind] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    oof: dict[str, pl.Series] = field(default_factory=dict)

    @property
    def n_nodes(self) -> int:
        return self.graph.n_nodes

    def known(self, *parts: str) -> Any:
        """Labels of some parts of the split ("train", "val", "test"), missing elsewhere; all
        labels where there is no split."""
        assert self.labels is not None
        if not self.split:
            return self.labels.values
        nodes = np.concatenate([self.split[part] for part in parts])
        return self.labels.only(nodes)


def read_problem(
    edges: str | os.PathLike[str],
    nodes: str | os.PathLike[str] | None = None,
    roles: Roles | None = None,
    *,
    task: str = "auto",
    unknown_nodes: str = "error",
    directed: bool = False,
) -> Problem:
    """Read one problem from people's files.

    Parameters
    ----------
    edges : table of edges (CSV, TSV, Parquet, JSON lines, compressed or not, or a folder of Parquet
        parts), a graph folder (``labeltrick graph build``), or a file that holds graph and nodes in
        one: ``.npz``, ``.graphml``, the folder of an OGB dataset, ``ind.NAME.graph`` of Planetoid.
    nodes : table of nodes; optional.
    roles : which column is what.
    task : "auto", "classification" or "regression".
    unknown_nodes : edges to nodes that the table does not have are an "error"; "add" makes nodes
        without columns of them; "drop" leaves the edges out.
    directed : whether edges have a direction: a node then sees those it points to.
    """
    check_choice("unknown_nodes", unknown_nodes, UNKNOWN)
    roles = Roles() if roles is None else roles
    path = require_path(Path(edges).expanduser())
    if is_graph_file(path):
        _require_no_edge_options(path, roles, directed)
        return _from_graph_file(path, nodes, roles, task, unknown_nodes)
    if not is_table(path):
        read_frame(path)  # says what is wrong with it
    notes: list[str] = []
    table = None if nodes is None else Path(nodes).expanduser()
    if table is None:
        if roles.target is not None:
            raise ValueError(
                f"`--target` must come with --nodes, the table that has it; got {roles.target!r} "
                "and edges alone."
            )
        ids, graph = graph_alone(path, roles, directed, notes)
        return Problem(graph, ids.ids, None, None, {}, [], notes)
    frame = read_frame(table, text=True)
    id_name = pick_column(table, frame, roles.id, "--id", _ID_NAMES, 0)
    require_unique(table, frame[id_name])
    graph, frame, ids = join_nodes(path, frame, id_name, roles, unknown_nodes, directed, notes)
    return _with_columns(graph, ids.ids, table, frame, id_name, roles, task, notes)


# -- nodes -------------------------------------------------------------------------------------
def _with_columns(
    graph: Graph,
    ids: pl.Series,
    table: Path,
    frame: pl.DataFrame,
    id_name: str,
    roles: Roles,
    task: str,
    notes: list[str],
) -> Problem:
    special = {id_name: "id"}
    for role, name in (("target", roles.target), ("split", roles.split), ("time", roles.time)):
        if name is not None:
            option = "--split-column" if role == "split" else f"--{role}"
            special[find_column(table, frame, name, option)] = role
    ignored = {find_column(table, frame, name, "--ignore") for name in roles.ignore}
    kinds, features, oof = [], [], {}
    for series in frame.get_columns():
        role = special.get(series.name, "feature")
        if role in ("id", "target", "split") or series.name in ignored:
            role = role if role != "feature" else "left out"
            note = "by --ignore" if series.name in ignored else ""
            n_distinct = series.drop_nulls().n_unique()
            kind = ColumnKind(series.name, role if role != "left out" else "ignored",
                              series.null_count(), n_distinct, role, note)  # fmt: skip
            kinds.append(kind)
            continue
        values, kind = infer_column(table, series)
        if role == "time":
            values, kind = as_days(table, values), replace(kind, role="time", note="as days")
        if kind.role in ("feature", "time"):
            features.append(_ready(values))
        elif kind.kind in (CONSTANT, EMPTY):
            oof[kind.name] = values if kind.kind == EMPTY else _ready(values)
        kinds.append(kind)
    labels = None
    if roles.target is not None:
        labels = read_labels(table, frame[roles.target], task)
        notes += labels.notes
    split = {}
    if roles.split is not None:
        split = read_split(table, frame[roles.split], labels)
    X = pl.DataFrame(features) if features else None
    return Problem(graph, ids, X, labels, split, kinds, notes, oof)


def _ready(series: pl.Series) -> pl.Series:
    if series.dtype == pl.String:
        return series.cast(pl.Categorical)
    return series if series.dtype == pl.Boolean else series.cast(pl.Float64)


# -- files that hold everything ----------------------------------------------------------------
def _from_graph_file(
    path: Path,
    nodes: str | os.PathLike[str] | None,
    roles: Roles,
    task: str,
    unknown: str,
) -> Problem:
    found = read_graph_file(path)
    if nodes is None and found.nodes is None:
        return _contents_problem(found, path, task)
    notes = list(found.notes)
    table = path if nodes is None else Path(nodes).expanduser()
    frame = found.nodes if nodes is None else read_frame(table, text=True)
    assert frame is not None
    if nodes is None:
        return _with_columns(found.graph, found.ids, table, frame, "id", roles, task, notes)
    id_name = pick_column(table, frame, roles.id, "--id", _ID_NAMES, 0)
    require_unique(table, frame[id_name])
    frame = _with_unlisted(frame, id_name, found.ids, table, unknown, notes)
    # Columns are read in the order of the table: messages name its rows.
    problem = _with_columns(found.graph, found.ids, table, frame, id_name, roles, task, notes)
    return _reordered(problem, _nodes_of(frame, id_name, found.ids, table))


def _require_no_edge_options(path: Path, roles: Roles, directed: bool) -> None:
    """Options that say how to read a table of edges have no say in a graph that is read whole."""
    given = {
        "--src": roles.src is not None,
        "--dst": roles.dst is not None,
        "--weight": roles.weight is not None,
        "--directed": directed,
    }
    for option, is_given in given.items():
        if is_given:
            raise ValueError(
                f"`{option}` must be left out for '{path}', which holds a graph and not a table of "
                "edges. Give it where the graph is built: labeltrick graph build"
            )


def _with_unlisted(
    frame: pl.DataFrame, id_name: str, ids: pl.Series, table: Path, unknown: str, notes: list[str]
) -> pl.DataFrame:
    """The table with a blank row for each node that only the graph has."""
    texts = ids.cast(pl.String)
    unlisted = ids.filter(~texts.is_in(frame[id_name].cast(pl.String).implode()))
    if not len(unlisted):
        return frame
    if unknown != "add":
        raise ValueError(
            f"`{table}`, column {id_name!r} must list the nodes of the graph; it lacks "
            f"{unlisted[0]!r} ({len(unlisted):,} nodes in all). Add them, or pass --unknown-nodes "
            "add to include them without columns and labels."
        )
    notes.append(f"{len(unlisted):,} nodes that only the graph has were added")
    blank = pl.DataFrame({id_name: unlisted.cast(frame[id_name].dtype)})
    return pl.concat([frame, blank], how="diagonal")


def _nodes_of(frame: pl.DataFrame, id_name: str, ids: pl.Series, table: Path) -> np.ndarray:
    """The number of the node in each row of the table."""
    nodes = NodeIds(ids.cast(pl.String)).find(frame[id_name])
    unknown = nodes < 0
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{cell_name(table, row, id_name)} must be a node of the graph; got "
            f"{frame[id_name][row]!r}, which it does not have ({int(unknown.sum()):,} such rows). "
            "Drop those rows."
        )
    return nodes


def _reordered(problem: Problem, nodes: np.ndarray) -> Problem:
    """A problem with its rows in the order of the graph; ``nodes`` is the number of each row."""
    order = np.argsort(nodes)
    labels = problem.labels
    return replace(
        problem,
        X=None if problem.X is None else problem.X[order],
        labels=None if labels is None else replace(labels, values=labels.values[order]),
        split={part: np.sort(nodes[rows]) for part, rows in problem.split.items()},
        oof={name: column[order] for name, column in problem.oof.items()},
    )


def _contents_problem(found: GraphFile, path: Path, task: str) -> Problem:
    labels = None
    if found.y is not None:
        if getattr(found.y, "ndim", 1) > 1:
            raise ValueError(f"`{path}` must hold one label a node; it holds several.")
        y = pl.Series("label", found.y)
        if y.dtype.is_integer():  # −1 is how such files say that a label is missing
            y = y.replace(-1, None)
        labels = read_labels(path, y, task)
    return Problem(found.graph, found.ids, found.X, labels, found.split, [], found.notes)


def from_pyg(data: Any, task: str = "auto") -> Problem:
    """A PyTorch Geometric ``Data`` object as a problem: ``x``, ``y`` and the masks, if it has
    them."""
    return _contents_problem(from_pyg_data(data), Path("Data"), task)


# -- labels in a file of their own -------------------------------------------------------------
def read_label_file(
    path: str | os.PathLike[str], id_name: str | None, target: str | None, task: str
) -> tuple[pl.Series, Labels]:
    """(ids as text, labels) of a table that has nothing else to say, such as one that was filled
    in."""
    file = Path(path).expanduser()
    frame = read_frame(file, text=True)
    if target is None:
        raise ValueError(f"`--target` must name the column of labels in '{file}'; none was given.")
    name = pick_column(file, frame, id_name, "--id", _ID_NAMES, 0)
    require_unique(file, frame[name])
    column = frame[find_column(file, frame, target, "--target")]
    return frame[name].cast(pl.String), read_labels(file, column, task)


def with_labels(
    problem: Problem,
    path: str | os.PathLike[str],
    id_name: str | None,
    target: str,
    task: str = "auto",
) -> Problem:
    """The problem with further labels from a file; they count as training labels."""
    task = task if problem.labels is None else problem.labels.task
    ids, more = read_label_file(path, id_name, target, task)
    labels = problem.labels
    if labels is None:  # a table of nodes without such a column
        blank: Any = np.nan if more.task == "regression" else None
        values = np.full(problem.n_nodes, blank, dtype=more.values.dtype)
        labels = Labels(target, more.task, values)
    at = NodeIds(problem.ids.cast(pl.String)).find(ids)
    known = more.known
    if (at[known] < 0).any():
        row = int(np.flatnonzero(known & (at < 0))[0])
        raise ValueError(
            f"{cell_name(Path(path), row, ids.name)} must be a node of the node table; got "
            f"{ids[row]!r}, which it does not list. Drop the row, or add the node there."
        )
    values = labels.values.copy()
    values[at[known]] = more.values[known]
    split = {part: np.setdiff1d(nodes, at[known]) for part, nodes in problem.split.items()}
    if split:
        split["train"] = np.union1d(split["train"], at[known])
    note = f"{int(known.sum()):,} labels came from {Path(path).name}"
    return replace(
        problem,
        labels=replace(labels, values=values),
        split=split,
        notes=[*problem.notes, note],
    )
