"""A prediction problem read from files: graph, columns, labels and split."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.checks import check_choice
from ...graph.graph import Graph
from ...graph.names import NodeNames, as_names
from ...graph.node_ids import NodeIds
from .content import Sample
from .edges import graph_of_edges, join_nodes, with_blank_rows
from .frames import require_path, require_table
from .graph_files import GraphFile, from_pyg_data, is_graph_file, read_graph_file
from .id_column import choose_id
from .kinds import (
    CATEGORICAL,
    CODE,
    CONSTANT,
    EMPTY,
    ColumnKind,
    Roles,
    as_days,
    as_end,
    as_feature,
    find_column,
    how_to_leave_out,
    infer_column,
    note_on_columns,
    notes_on_dates,
    notes_on_kinds,
    require_unique,
)  # fmt: skip
from .labels import Labels, read_split
from .placeholders import blank_placeholders, refuse_words_among_numbers
from .several_files import AnyTable, ReadTable, TableFiles, read_tables, table_of
from .sources import Files, Source, TableName, refuse_cells
from .spreadsheets import SHEET_ERRORS
from .targets import read_targets, stored_labels, target_columns
from .text_formats import TextFormat
from .written_numbers import numbers_as_written

UNKNOWN = ("error", "add", "drop")


@dataclass(frozen=True)
class Problem:
    """A graph with the columns and labels of its nodes, as estimators take them.

    Attributes
    ----------
    graph : Graph
    ids : polars.Series
        The ids of the nodes, in the order of the nodes, under the name of their column.
    X : polars.DataFrame, array or sparse matrix, or None
        The features; None if there are none.
    labels : Labels or None
        The labels; None without a target.
    split : dict of str to array
        The nodes of "train", "val" and "test"; empty without a split.
    kinds : list of ColumnKind
        What each column of the node table holds.
    notes : list of str
        What was decided while reading.
    left_out : dict of str to polars.Series
        Columns with at most one value, and codes. They are not features here, but may have been in
        a fit.
    unlisted : ndarray of int
        Nodes that the node table does not list, whose columns are therefore missing.
    warnings : list of str
        What is likely to be a mistake in the files.
    """

    graph: Graph
    ids: pl.Series
    X: Any
    labels: Labels | None
    split: dict[str, np.ndarray]
    kinds: list[ColumnKind] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, pl.Series] = field(default_factory=dict)
    unlisted: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    warnings: list[str] = field(default_factory=list)

    @property
    def n_nodes(self) -> int:
        return self.graph.n_nodes

    @property
    def named_graph(self) -> Graph:
        """The graph with the ids as names of its nodes, so that a saved model knows them."""
        names = NodeNames(as_names("ids", self.ids))
        return self.graph if names.are_numbers else self.graph.named(names)

    def known(self, *parts: str) -> Any:
        """The labels of the given parts of the split, with all others missing. Without a split,
        all labels."""
        assert self.labels is not None
        if not self.split:
            return self.labels.values
        nodes = np.concatenate([self.split[part] for part in parts])
        return self.labels.only(nodes)


def read_problem(
    edges: Files | ReadTable,
    nodes: Files | ReadTable | None = None,
    roles: Roles | None = None,
    *,
    task: str = "auto",
    unknown_nodes: str = "error",
    directed: bool = False,
    text_format: TextFormat | None = None,
) -> Problem:
    """Read a prediction problem from files.

    Parameters
    ----------
    edges : path or sequence of paths
        A table of edges (see `read_frame`), a graph folder (``labeltrick graph build``), or a file
        that holds both graph and nodes: ``.npz``, ``.graphml``, the folder of an OGB dataset, or
        ``ind.NAME.graph`` of Planetoid. Several tables with the same columns are read as one.
    nodes : path or sequence of paths, default=None
        A table of nodes, or several with the same columns.
    roles : Roles, default=None
        The roles of the columns. None finds ids, edges and weights by name and content.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        Whether the target holds classes, several labels per node, or numbers. "auto"
        decides by its values.
    unknown_nodes : {"error", "add", "drop"}, default="error"
        What to do with edges to nodes that the node table does not list: raise an error, add the
        nodes without columns and labels, or drop the edges.
    directed : bool, default=False
        Whether edges have a direction. A node then uses the nodes that it points to.
    text_format : TextFormat, default=None
        Delimiter, encoding and decimal sign of text files. None finds them from the content.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        If a file cannot be read without guessing. The message names file, row and column.
    """
    check_choice("unknown_nodes", unknown_nodes, UNKNOWN)
    roles = Roles() if roles is None else roles
    files = table_of(edges, "--edges", text_format)
    table = None if nodes is None else table_of(nodes, "--nodes", text_format)
    path = None if isinstance(files, ReadTable) else graph_file_of(files)
    if path is not None:
        _require_no_edge_options(path, roles, directed)
        return _from_graph_file(path, table, roles, task, unknown_nodes)
    notes: list[str] = []
    if table is None:
        if roles.target is not None:
            raise ValueError(
                f"`--target` must come with --nodes, the table that has the column; got "
                f"{roles.target!r} without --nodes."
            )
        ids, graph = graph_of_edges(files, roles, directed, notes)
        return Problem(graph, ids.ids, None, None, {}, [], notes)
    named, frame = read_tables(table, notes)
    source, rows = read_tables(files, notes)  # as text, or "007" would be 7
    id_name = _id_of(named, frame, roles, rows)
    n_listed = frame.height
    graph, frame, ids, ends = join_nodes(
        source, rows, frame, id_name, roles, unknown_nodes, directed, notes
    )
    problem = _with_columns(graph, ids.ids, named, frame, id_name, roles, task, notes, ends)
    return replace(problem, unlisted=np.arange(n_listed, frame.height))


# -- nodes -------------------------------------------------------------------------------------
def _id_of(table: TableName, frame: pl.DataFrame, roles: Roles, referring: pl.DataFrame) -> str:
    """The column of the ids to which another table refers. It must hold each id once."""
    given = [name for name in (roles.src, roles.dst) if name in referring.columns]
    if len(given) == 2:
        referring = referring[given]
    targets = () if roles.target is None else target_columns(table, frame, roles.target)
    taken = (*targets, roles.split, roles.time, *roles.ignore)
    name = choose_id(table, frame, roles.id, taken, referring)
    require_unique(table, frame[name])
    return name


def _with_columns(
    graph: Graph,
    ids: pl.Series,
    table: TableName,
    frame: pl.DataFrame,
    id_name: str,
    roles: Roles,
    task: str,
    notes: list[str],
    ends: tuple[str, ...] = (),
) -> Problem:
    targets = () if roles.target is None else target_columns(table, frame, roles.target)
    special = _special_columns(table, frame, id_name, targets, roles)
    ignored = {find_column(table, frame, name, "--ignore") for name in roles.ignore}
    frame, said = blank_placeholders(frame, but=(id_name, roles.split, *ignored))
    notes += said
    numbers = Sample.of(frame).row_numbers()
    kinds, features, left_out = [], [], {}
    for series in frame.get_columns():
        role = special.get(series.name, "feature")
        if role == "id" and series.name in numbers:
            notes.append(f"ids are the row numbers in column {series.name!r}: edges refer to them")
        numbered = role == "feature" and series.name in numbers
        if role in ("id", "target", "split") or series.name in ignored or numbered:
            used = ("ignored", "left out", "by --ignore") if role == "feature" else (role, role, "")
            if numbered and series.name not in ignored:
                used = ("row number", "left out", "row numbers")
            counts = series.null_count(), series.drop_nulls().n_unique()
            kinds.append(ColumnKind(series.name, used[0], *counts, *used[1:]))
            continue
        refuse_words_among_numbers(table, series, how_to_leave_out(series.name))
        series, note = numbers_as_written(table, series)
        notes += [note] if note else []
        values, kind = infer_column(table, series)
        notes += notes_on_dates(series, kind)
        if series.name in ends and role == "feature":
            kind = as_end(values, kind, ids)
        if role == "time":
            values, kind = as_days(table, values), replace(kind, role="time", note="as days")
        if kind.role in ("feature", "time"):
            features.append(as_feature(values, kind))
        elif kind.kind in (CODE, CONSTANT, EMPTY):
            left_out[kind.name] = values if kind.kind == EMPTY else as_feature(values, kind)
        kinds.append(kind)
    notes += notes_on_kinds(kinds)
    labels = None
    if targets:
        labels = read_targets(table, frame, targets, task)
        notes += labels.notes
    split = {} if roles.split is None else read_split(table, frame[roles.split], labels)
    notes += [*_notes_on_missing(table, kinds), note_on_columns(kinds)]
    X = pl.DataFrame(features) if features else None
    return Problem(graph, ids, X, labels, split, kinds, notes, left_out)


def _special_columns(
    table: TableName, frame: pl.DataFrame, id_name: str, targets: tuple[str, ...], roles: Roles
) -> dict[str, str]:
    """The roles of columns that are not just features."""
    special = {id_name: "id"} | dict.fromkeys(targets, "target")
    for role, name in (("split", roles.split), ("time", roles.time)):
        if name is not None:
            option = "--split-column" if role == "split" else f"--{role}"
            special[find_column(table, frame, name, option)] = role
    return special


def _notes_on_missing(table: TableName, kinds: list[ColumnKind]) -> list[str]:
    """Words that are read as missing: all in targets and categories, where they could be names, and
    errors of spreadsheets in numbers."""
    if not isinstance(table, Source):
        return []
    notes = []
    for kind in kinds:
        named = kind.role == "target" or kind.kind == CATEGORICAL
        if named or kind.role in ("feature", "time"):
            notes += table.note_on_missing(kind.name, None if named else SHEET_ERRORS)
    return notes


# -- files that hold everything ----------------------------------------------------------------
def _from_graph_file(
    path: Path,
    nodes: AnyTable | None,
    roles: Roles,
    task: str,
    unknown: str,
) -> Problem:
    found = read_graph_file(path)
    graph, ids, notes = found.graph, found.ids, list(found.notes)
    if nodes is None and found.nodes is not None:
        return _with_columns(graph, ids, path, found.nodes, "id", roles, task, notes)
    if nodes is None:
        return _contents_problem(found, path, task)
    table, frame = read_tables(nodes, notes)
    id_name = _id_of(table, frame, roles, ids.alias("id").to_frame())
    n_listed = frame.height
    frame = _with_unlisted(frame, id_name, ids, table, unknown, notes)
    ids = ids.alias(id_name)
    # Columns are read in the order of the table: messages name its rows.
    problem = _with_columns(graph, ids, table, frame, id_name, roles, task, notes)
    problem = replace(problem, unlisted=np.arange(n_listed, frame.height))
    rows = NodeIds(ids.cast(pl.String)).find(frame[id_name])
    rest = f", which it does not have ({int((rows < 0).sum()):,} such rows). Drop those rows."
    refuse_cells(table, frame[id_name], rows < 0, "be a node of the graph", rest)
    return _reordered(problem, rows)


def graph_file_of(files: TableFiles) -> Path | None:
    """The file or folder that holds a whole graph; None if the files are tables."""
    paths = [require_path(path) for path in files.paths]
    path = next((path for path in paths if is_graph_file(path)), None)
    if path is None:
        for each in paths:
            require_table(each)
    elif len(files.names) > 1:
        raise ValueError(
            f"`--edges` must be one file if it holds a graph, as '{path}' does; got "
            f"{len(files.names)} files. Pass it alone, or pass tables of edges."
        )
    return path


def _require_no_edge_options(path: Path, roles: Roles, directed: bool) -> None:
    """Raise an error for options that describe a table of edges where a graph is read."""
    given = {"src": roles.src, "dst": roles.dst, "weight": roles.weight, "directed": directed}
    for option, value in given.items():
        if value is not None and value is not False:
            raise ValueError(
                f"`--{option}` must be left out for '{path}', which holds a graph and not a table "
                "of edges. Pass it when the graph is built: labeltrick graph build"
            )


def _with_unlisted(
    frame: pl.DataFrame,
    id_name: str,
    ids: pl.Series,
    table: TableName,
    unknown: str,
    notes: list[str],
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
    return with_blank_rows(frame, id_name, unlisted)


def _reordered(problem: Problem, nodes: np.ndarray) -> Problem:
    """A problem with its rows in the order of the graph; ``nodes`` is the number of each row."""
    order = np.argsort(nodes)
    labels = problem.labels
    return replace(
        problem,
        X=None if problem.X is None else problem.X[order],
        labels=None if labels is None else replace(labels, values=labels.values[order]),
        split={part: np.sort(nodes[rows]) for part, rows in problem.split.items()},
        left_out={name: column[order] for name, column in problem.left_out.items()},
        unlisted=np.sort(nodes[problem.unlisted]),
    )


def _contents_problem(found: GraphFile, path: Path, task: str) -> Problem:
    labels = None
    if found.y is not None:
        labels = stored_labels(path, found.y, task)
    return Problem(found.graph, found.ids, found.X, labels, found.split, [], found.notes)


def from_pyg(data: Any, task: str = "auto") -> Problem:
    """Convert a PyTorch Geometric ``Data`` object to a problem.

    Parameters
    ----------
    data : torch_geometric.data.Data
        The graph, with ``x``, ``y`` and masks if it has them.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        Whether ``y`` holds classes, several labels per node, or numbers. "auto"
        decides by its values.

    Returns
    -------
    Problem
    """
    return _contents_problem(from_pyg_data(data), Path("Data"), task)
