"""The table of edges, and the graph that it defines with or without a table of nodes."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from ..._utils.checks import check_edge_weights
from ...graph.graph import Graph
from ...graph.node_ids import NodeIds, canonical_integers, number_edges
from .kinds import Roles, find_column, pick_column
from .several_files import TableFiles, read_tables
from .sources import Source, TableName, refuse_cells, row_name
from .written_numbers import numbers_as_written

_SOURCE_NAMES = ("src", "source", "from", "u", "id1", "node1", "head", "start")
_TARGET_NAMES = ("dst", "target", "to", "v", "id2", "node2", "tail", "end", "destination")


def columns_of_edges(
    path: TableName, head: pl.DataFrame, roles: Roles, notes: list[str]
) -> tuple[tuple[str, str], str | None]:
    """The columns of the start, the end and the weight (None if there is none) of an edge."""
    if all(name.lstrip("-").isdigit() for name in head.columns):
        raise ValueError(
            f"`{path}` must begin with a row of column names; its first row is "
            f"{', '.join(head.columns)}. Add a row such as src,dst."
        )
    source = pick_column(path, head, roles.src, "--src", _SOURCE_NAMES, 0)
    target = pick_column(path, head, roles.dst, "--dst", _TARGET_NAMES, 1)
    if source == target:
        raise ValueError(
            f"`--src` and `--dst` must be different columns of '{path}'; got {source!r} twice."
        )
    name = roles.weight
    if name is None and "weight" in head.columns:
        name = "weight"
        notes.append("edges are weighted by the column 'weight'")
    if name is not None:
        name = find_column(path, head, name, "--weight")
    return (source, target), name


def require_ends(path: TableName, ends: pl.Series, first_row: int = 0) -> None:
    """Raise an error for an edge without a start or an end."""
    must = "be a node; it is missing. Fill it in or drop the row."
    refuse_cells(path, ends, ends.is_null(), must, None, first_row)


def _read_edges(
    files: TableFiles, roles: Roles, notes: list[str]
) -> tuple[Source, pl.Series, pl.Series, np.ndarray | None]:
    path, frame = read_tables(files, notes)  # as text, or "007" would be 7
    (source, target), name = columns_of_edges(path, frame, roles, notes)
    weight = None
    if name is not None:
        column, note = numbers_as_written(path, frame[name], required=True)
        notes += [note] if note else []
        weight = weights_of(path, column)
    for end in (source, target):
        require_ends(path, frame[end])
    return path, frame[source], frame[target], weight


def weights_of(path: TableName, series: pl.Series, first_row: int = 0) -> np.ndarray:
    """The weights of a column, checked; ``first_row`` is the row at which the series begins."""
    numbers = series.cast(pl.Float64, strict=False)
    bad = numbers.is_null() | numbers.is_nan() | numbers.is_infinite() | (numbers < 0)
    rest = ". Correct it, or drop the row."
    refuse_cells(path, series, bad, "be a weight ≥ 0", rest, first_row)
    weights = numbers.to_numpy()
    try:
        return check_edge_weights("weight", weights, len(weights))
    except ValueError as error:

        def in_file(found: re.Match[str]) -> str:
            return f"in {row_name(path, first_row + int(found[1]))}"

        said = re.sub(r"at row (\d+)", in_file, str(error))  # the check counts entries of an array
        raise ValueError(f"`{path}`, column {series.name!r}: {said}") from None


def graph_of_edges(
    files: TableFiles, roles: Roles, directed: bool, notes: list[str]
) -> tuple[NodeIds, Graph]:
    """The graph of a table of edges that comes without a table of nodes."""
    _, *ends, weight = _read_edges(files, roles, notes)
    ids, *at = number_edges(*_same_kind(*ends))
    return ids, Graph.from_edges(*at, weight=weight, n_nodes=len(ids), directed=directed)


def _same_kind(*columns: pl.Series) -> list[pl.Series]:
    """Columns of ids as integers if all of them are integers, else as strings."""
    whole = [canonical_integers(column) for column in columns]
    if any(column is None for column in whole):
        return [column.cast(pl.String) for column in columns]
    return [column for column in whole if column is not None]


def with_blank_rows(frame: pl.DataFrame, id_name: str, ids: pl.Series) -> pl.DataFrame:
    """The table of nodes with a row for each id, in which all other columns are missing."""
    blank = pl.DataFrame({id_name: ids.cast(frame[id_name].dtype)})
    return pl.concat([frame, blank], how="diagonal")


def join_nodes(
    files: TableFiles,
    frame: pl.DataFrame,
    id_name: str,
    roles: Roles,
    unknown: str,
    directed: bool,
    notes: list[str],
) -> tuple[Graph, pl.DataFrame, NodeIds]:
    """The graph on the nodes of a table. With "add", blank rows are appended to the table."""
    path, source, target, weight = _read_edges(files, roles, notes)
    names, *ends = _same_kind(frame[id_name], source, target)
    ids = NodeIds(names)
    at = [ids.find(end) for end in ends]
    strange = (at[0] < 0) | (at[1] < 0)
    if unknown == "error":
        for end, numbers in zip(ends, at, strict=True):
            rest = (
                f", which it does not list ({int((numbers < 0).sum()):,} such cells in this "
                "column). Add the node there, or pass --unknown-nodes add (to add nodes without "
                "columns) or drop (to leave such edges out)."
            )
            refuse_cells(path, end, numbers < 0, "be a node of the node table", rest)
    elif unknown == "drop" and strange.any():
        notes.append(f"{int(strange.sum()):,} edges to unknown nodes were left out")
        at = [numbers[~strange] for numbers in at]
        weight = None if weight is None else weight[~strange]
    elif strange.any():
        new = pl.concat(
            end.alias("id").filter(pl.Series(numbers < 0))
            for end, numbers in zip(ends, at, strict=True)
        ).unique(maintain_order=True)
        notes.append(f"{len(new):,} nodes that appear only in edges were added")
        ids = NodeIds(pl.concat([names, new.alias(names.name)]))
        frame = with_blank_rows(frame, id_name, new)
        at = [ids.find(end) for end in ends]
    graph = Graph.from_edges(*at, weight=weight, n_nodes=len(ids), directed=directed)
    return graph, frame, ids
