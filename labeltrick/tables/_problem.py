"""Edges and nodes put together: graph, columns, labels and split of one prediction problem."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .._check import check_choice
from ..graph import Graph
from ._frames import is_table, read_frame, require_path
from ._graph_files import GraphFile, from_pyg_data, is_graph_file, read_graph_file
from ._ids import NodeIds, canonical_integers, number_edges, require_known
from ._kinds import CONSTANT, EMPTY, ColumnKind, as_days, find_column, infer_column, require_unique
from ._labels import Labels, read_labels, read_split

_ID_NAMES = ("id", "node", "node_id", "nodeid", "name", "key")
_SOURCE_NAMES = ("src", "source", "from", "u", "id1", "node1", "head", "start")
_TARGET_NAMES = ("dst", "target", "to", "v", "id2", "node2", "tail", "end", "destination")
UNKNOWN = ("error", "add", "drop")


@dataclass(frozen=True)
class Roles:
    """Which column is what; None: found by its name or place."""

    target: str | None = None
    id: str | None = None
    src: str | None = None
    dst: str | None = None
    weight: str | None = None
    time: str | None = None
    split: str | None = None
    ignore: tuple[str, ...] = ()


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
    left_out : columns that are no features here, by name; a fit on another table may want them.
    """

    graph: Graph
    ids: pl.Series
    X: Any
    labels: Labels | None
    split: dict[str, np.ndarray]
    kinds: list[ColumnKind] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, pl.Series] = field(default_factory=dict)

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
        parts), or a file that holds graph and nodes in one: ``.npz``, ``.graphml``, the folder of
        an OGB dataset, ``ind.NAME.graph`` of Planetoid.
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
        ids, graph = _graph_alone(path, roles, directed, notes)
        return Problem(graph, ids.ids, None, None, {}, [], notes)
    frame = read_frame(table, text=True)
    id_name = _pick(table, frame, roles.id, "--id", _ID_NAMES, 0)
    require_unique(table, frame[id_name])
    graph, frame, ids = _join(path, table, frame, id_name, roles, unknown_nodes, directed, notes)
    return _with_columns(graph, ids, table, frame, id_name, roles, task, notes)


# -- edges -------------------------------------------------------------------------------------
def _pick(
    file: Path,
    frame: pl.DataFrame,
    given: str | None,
    option: str,
    names: Sequence[str],
    place: int,
) -> str:
    """A column by option, else by a usual name, else by its place."""
    if given is not None:
        return find_column(file, frame, given, option)
    lower = {name.lower(): name for name in reversed(frame.columns)}
    for name in names:
        if name in lower:
            return lower[name]
    if place >= frame.width:
        raise ValueError(
            f"`{file}` must have a column for {option}; it has {frame.width} column(s): "
            f"{', '.join(frame.columns)}."
        )
    return frame.columns[place]


@dataclass(frozen=True)
class _Edges:
    names: tuple[str, str]
    source: pl.Series
    target: pl.Series
    weight: np.ndarray | None


def _read_edges(path: Path, roles: Roles, notes: list[str]) -> _Edges:
    head = read_frame(path, text=True)  # as text, or "007" would be 7
    if all(name.lstrip("-").isdigit() for name in head.columns):
        raise ValueError(
            f"`{path}` must begin with the names of its columns; its first row is "
            f"{', '.join(head.columns)}. Add a row such as src,dst."
        )
    source = _pick(path, head, roles.src, "--src", _SOURCE_NAMES, 0)
    target = _pick(path, head, roles.dst, "--dst", _TARGET_NAMES, 1)
    if source == target:
        raise ValueError(f"`--src` and `--dst` must be two columns of '{path}'; got {source!r}.")
    weight = None
    name = roles.weight
    if name is None and "weight" in head.columns:
        name = "weight"
        notes.append("edges are weighted by their column 'weight'")
    if name is not None:
        weight = _weights(path, head[find_column(path, head, name, "--weight")])
    for end in (source, target):
        if head[end].null_count():
            row = int(head[end].is_null().arg_max() or 0)
            raise ValueError(
                f"`{path}`, row {row + 1}, column {end!r} must be a node; it is missing. Fill "
                "it in or drop the row."
            )
    return _Edges((source, target), head[source], head[target], weight)


def _weights(path: Path, series: pl.Series) -> np.ndarray:
    numbers = series.cast(pl.Float64, strict=False)
    bad = numbers.is_null() | numbers.is_nan() | numbers.is_infinite() | (numbers < 0)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise ValueError(
            f"`{path}`, row {row + 1}, column {series.name!r} must be a weight ≥ 0; got "
            f"{series[row]!r}. Correct it, or drop the row."
        )
    return numbers.to_numpy()


def _graph_alone(
    path: Path, roles: Roles, directed: bool, notes: list[str]
) -> tuple[NodeIds, Graph]:
    edges = _read_edges(path, roles, notes)
    source, target = _same_kind(edges)
    ids, *at = number_edges(source, target)
    return ids, Graph.from_edges(*at, weight=edges.weight, n_nodes=len(ids), directed=directed)


def _same_kind(edges: _Edges) -> tuple[pl.Series, pl.Series]:
    whole = canonical_integers(edges.source), canonical_integers(edges.target)
    if whole[0] is not None and whole[1] is not None:
        return whole[0], whole[1]
    return edges.source.cast(pl.String), edges.target.cast(pl.String)


def _join(
    path: Path,
    table: Path,
    frame: pl.DataFrame,
    id_name: str,
    roles: Roles,
    unknown: str,
    directed: bool,
    notes: list[str],
) -> tuple[Graph, pl.DataFrame, NodeIds]:
    """The graph on the nodes of the table; "add" appends rows without values to it."""
    edges = _read_edges(path, roles, notes)
    mine = canonical_integers(frame[id_name])
    ends = canonical_integers(edges.source), canonical_integers(edges.target)
    if mine is not None and ends[0] is not None and ends[1] is not None:
        ids, source, target = NodeIds(mine), ends[0], ends[1]
    else:
        ids = NodeIds(frame[id_name].cast(pl.String))
        source, target = edges.source.cast(pl.String), edges.target.cast(pl.String)
    at = ids.find(source), ids.find(target)
    weight = edges.weight
    strange = (at[0] < 0) | (at[1] < 0)
    if strange.any():
        if unknown == "error":
            require_known(path, edges.names, at, (source, target))
        if unknown == "drop":
            notes.append(f"{int(strange.sum()):,} edges to unknown nodes were left out")
            at = at[0][~strange], at[1][~strange]
            weight = None if weight is None else weight[~strange]
        else:
            ends = (source.alias("id"), target.alias("id"))
            new = pl.concat([end.filter(pl.Series(number < 0))
                             for end, number in zip(ends, at, strict=True)])  # fmt: skip
            new = new.unique(maintain_order=True)
            notes.append(f"{len(new):,} nodes that only edges name were added")
            ids = NodeIds(pl.concat([ids.ids.alias("id"), new.cast(ids.ids.dtype)]))
            blank = pl.DataFrame({id_name: new.cast(frame[id_name].dtype)})
            frame = pl.concat([frame, blank], how="diagonal")
            at = ids.find(source), ids.find(target)
    graph = Graph.from_edges(*at, weight=weight, n_nodes=len(ids), directed=directed)
    return graph, frame, ids


# -- nodes -------------------------------------------------------------------------------------
def _with_columns(
    graph: Graph,
    ids: NodeIds,
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
    kinds, features, left_out = [], [], {}
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
            left_out[kind.name] = values if kind.kind == EMPTY else _ready(values)
        kinds.append(kind)
    labels = None
    if roles.target is not None:
        labels = read_labels(table, frame[roles.target], task)
        notes += labels.notes
    split = {}
    if roles.split is not None:
        split = read_split(table, frame[roles.split], labels)
    X = pl.DataFrame(features) if features else None
    return Problem(graph, ids.ids, X, labels, split, kinds, notes, left_out)


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
    if nodes is not None:
        id_name = _pick(table, frame, roles.id, "--id", _ID_NAMES, 0)
        require_unique(table, frame[id_name])
        frame = _in_order(frame, id_name, found.ids, table)
    else:
        id_name = "id"
    ids = NodeIds(found.ids)
    return _with_columns(found.graph, ids, table, frame, id_name, roles, task, notes)


def _in_order(frame: pl.DataFrame, id_name: str, ids: pl.Series, table: Path) -> pl.DataFrame:
    """Rows of a nodes' table in the order of a graph's nodes."""
    key = ids.cast(pl.String).alias("_key").to_frame()
    mine = frame.with_columns(pl.col(id_name).cast(pl.String).alias("_key"))
    strange = mine.join(key, on="_key", how="anti")
    if strange.height:
        raise ValueError(
            f"`{table}`, column {id_name!r} must hold nodes of the graph; got "
            f"{strange[id_name][0]!r}, which is none ({strange.height:,} such). Drop those rows."
        )
    return key.join(mine, on="_key", how="left", maintain_order="left").drop("_key")


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
    name = _pick(file, frame, id_name, "--id", _ID_NAMES, 0)
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
            f"`{path}`, row {row + 1} must be a node of the nodes' table; got {ids[row]!r}, which "
            "is none. Drop the row, or add the node there."
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
