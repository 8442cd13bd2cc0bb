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
from .edges import (
    graph_of_edges,
    join_nodes,
    note_on_no_unknown,
    warnings_on_numbers,
    with_blank_rows,
)
from .frames import require_path, require_table
from .graph_files import GraphFile, from_pyg_data, is_graph_file, read_graph_file
from .id_column import choose_id
from .kinds import ColumnKind, Roles, count_of, require_unique
from .labels import Labels
from .node_columns import NodeTable, read_columns
from .several_files import AnyTable, ReadTable, TableFiles, read_tables, table_of
from .sources import Files, TableName, refuse_cells
from .targets import stored_labels, target_columns
from .text_formats import TextFormat
from .total_rows import warnings_on_totals

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

    See Also
    --------
    io.tables.read_problem : Read a graph with columns and labels from files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltrick.io.tables import Roles, read_problem
    >>> place = tempfile.TemporaryDirectory()
    >>> edges, nodes = Path(place.name) / "edges.csv", Path(place.name) / "nodes.csv"
    >>> size = edges.write_text("source,target\\na,b\\nb,c\\n")
    >>> size = nodes.write_text("id,age,left\\na,31,yes\\nb,45,\\nc,52,no\\n")
    >>> problem = read_problem(edges, nodes, Roles(target="left"))
    >>> problem.graph.n_edges, problem.ids.to_list(), problem.X.columns
    (2, ['a', 'b', 'c'], ['age'])
    >>> problem.labels.values.tolist()
    ['yes', None, 'no']
    >>> place.cleanup()
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

    See Also
    --------
    io.tables.Problem : A graph with columns and labels.
    io.tables.read_frame : Read one table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltrick.io.tables import Roles, read_problem
    >>> place = tempfile.TemporaryDirectory()
    >>> edges, nodes = Path(place.name) / "edges.csv", Path(place.name) / "nodes.csv"
    >>> size = edges.write_text("source,target\\na,b\\nb,c\\n")
    >>> size = nodes.write_text("id,age,left\\na,31,yes\\nb,45,\\nc,52,no\\n")
    >>> problem = read_problem(edges, nodes, Roles(target="left"))
    >>> problem.notes
    ['edges: source → target', 'nodes: id id; target left; 1 feature']
    >>> problem.labels.task, problem.labels.known.tolist()
    ('classification', [True, False, True])
    >>> place.cleanup()
    """
    check_choice("unknown_nodes", unknown_nodes, UNKNOWN)
    roles = Roles() if roles is None else roles
    files = table_of(edges, "--edges", text_format)
    table = None if nodes is None else table_of(nodes, "--nodes", text_format)
    path = None if isinstance(files, ReadTable) else graph_file_of(files)
    if path is not None:
        _require_no_edge_options(path, roles, directed)
        return _from_graph_file(path, table, roles, task, unknown_nodes)
    if table is None:
        return _from_edges(files, roles, directed)
    return _from_tables(table, files, roles, task, unknown_nodes, directed)


def _from_edges(files: AnyTable, roles: Roles, directed: bool) -> Problem:
    """The problem of a table of edges without a table of nodes."""
    if roles.target is not None:
        raise ValueError(
            f"`--target` must come with --nodes, the table that has the column; got "
            f"{roles.target!r} without --nodes."
        )
    notes: list[str] = []
    ids, graph = graph_of_edges(files, roles, directed, notes)
    spelled = warnings_on_numbers(ids.ids)
    return Problem(graph, ids.ids, None, None, {}, [], notes, warnings=spelled)


def _from_tables(
    nodes: AnyTable, edges: AnyTable, roles: Roles, task: str, unknown: str, directed: bool
) -> Problem:
    """The problem of a table of nodes and a table of edges."""
    notes: list[str] = []
    warnings: list[str] = []
    table, frame = read_tables(nodes, notes)
    source, rows = read_tables(edges, notes)  # as text, or "007" would be 7
    id_name = _id_of(table, frame, roles, rows)
    n_listed = frame.height
    graph, frame, ids, ends = join_nodes(
        source, rows, frame, id_name, roles, unknown, directed, notes, warnings
    )
    found = NodeTable(table, frame, id_name, roles, task, notes)
    problem = _with_columns(graph, ids.ids, found, ends)
    unlisted = np.arange(n_listed, frame.height)
    warnings += warnings_on_totals(table, frame[id_name][:n_listed], graph)
    return replace(problem, unlisted=unlisted, warnings=warnings)


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
    graph: Graph, ids: pl.Series, nodes: NodeTable, ends: tuple[str, ...] = ()
) -> Problem:
    found = read_columns(nodes, ids, ends)
    return Problem(
        graph, ids, found.X, found.labels, found.split, found.kinds, nodes.notes, found.left_out
    )


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
        return _with_columns(graph, ids, NodeTable(path, found.nodes, "id", roles, task, notes))
    if nodes is None:
        return _contents_problem(found, path, task)
    notes += found.notes_on_unused(path)
    table, frame = read_tables(nodes, notes)
    id_name = _id_of(table, frame, roles, ids.alias("id").to_frame())
    n_listed = frame.height
    frame = _with_unlisted(frame, id_name, ids, table, unknown, notes)
    ids = ids.alias(id_name)
    # Columns are read in the order of the table: messages name its rows.
    named = NodeTable(table, frame, id_name, roles, task, notes)
    problem = _with_columns(graph, ids, named)
    problem = replace(problem, unlisted=np.arange(n_listed, frame.height))
    rows = NodeIds(ids.cast(pl.String)).find(frame[id_name])
    n_strange = int((rows < 0).sum())
    what = "the row" if n_strange == 1 else f"the {n_strange:,} rows of such ids"
    rest = f", which it does not have. Drop {what}."
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
        if unknown != "error":
            notes.append(note_on_no_unknown(unknown, "the node table lists all nodes of the graph"))
        return frame
    if unknown != "add":
        raise ValueError(
            f"`{table}`, column {id_name!r} must list the nodes of the graph; it lacks "
            f"{unlisted[0]!r} ({count_of(len(unlisted), 'node')} in all). Add them, or pass "
            "--unknown-nodes add to include them without columns and labels."
        )
    one = len(unlisted) == 1
    what = (
        "1 node that only the graph has was"
        if one
        else (f"{len(unlisted):,} nodes that only the graph has were")
    )
    notes.append(f"{what} added")
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

    See Also
    --------
    io.tables.read_problem : Read a graph with columns and labels from files.
    io.tables.Problem : A graph with columns and labels.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from torch_geometric.data import Data  # doctest: +SKIP
    >>> from labeltrick.io.tables import from_pyg  # doctest: +SKIP
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])  # doctest: +SKIP
    >>> data = Data(torch.ones(3, 2), edge_index, y=torch.tensor([0, 1, 1]))  # doctest: +SKIP
    >>> problem = from_pyg(data)  # doctest: +SKIP
    >>> problem.graph.n_edges, problem.X.shape  # doctest: +SKIP
    (2, (3, 2))
    """
    return _contents_problem(from_pyg_data(data), Path("Data"), task)
