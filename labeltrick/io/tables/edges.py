"""The table of edges, and the graph that it defines with or without a table of nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ..._utils.checks import check_edge_weights
from ...graph.graph import Graph
from .frames import cell_name, read_frame, row_name
from .ids import NodeIds, canonical_integers, number_edges, require_known
from .kinds import Roles, find_column, pick_column

_SOURCE_NAMES = ("src", "source", "from", "u", "id1", "node1", "head", "start")
_TARGET_NAMES = ("dst", "target", "to", "v", "id2", "node2", "tail", "end", "destination")


@dataclass(frozen=True)
class _Edges:
    names: tuple[str, str]
    source: pl.Series
    target: pl.Series
    weight: np.ndarray | None


def columns_of_edges(
    path: Path, head: pl.DataFrame, roles: Roles, notes: list[str]
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


def missing_end(path: Path, series: pl.Series, first_row: int = 0) -> ValueError:
    """The error for an edge without a start or an end."""
    row = first_row + int(series.is_null().arg_max() or 0)
    return ValueError(
        f"{cell_name(path, row, series.name)} must be a node; it is missing. Fill it in or drop "
        "the row."
    )


def _read_edges(path: Path, roles: Roles, notes: list[str]) -> _Edges:
    head = read_frame(path, text=True)  # as text, or "007" would be 7
    (source, target), name = columns_of_edges(path, head, roles, notes)
    weight = None if name is None else weights_of(path, head[name])
    for end in (source, target):
        if head[end].null_count():
            raise missing_end(path, head[end])
    return _Edges((source, target), head[source], head[target], weight)


def weights_of(path: Path, series: pl.Series, first_row: int = 0) -> np.ndarray:
    """The weights of a column, checked; ``first_row`` is the row at which the series begins."""
    numbers = series.cast(pl.Float64, strict=False)
    bad = numbers.is_null() | numbers.is_nan() | numbers.is_infinite() | (numbers < 0)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise ValueError(
            f"{cell_name(path, first_row + row, series.name)} must be a weight ≥ 0; got "
            f"{series[row]!r}. Correct it, or drop the row."
        )
    weights = numbers.to_numpy()
    try:
        return check_edge_weights("weight", weights, len(weights))
    except ValueError as error:

        def in_file(found: re.Match[str]) -> str:
            return f"in {row_name(path, first_row + int(found[1]))}"

        said = re.sub(r"at row (\d+)", in_file, str(error))  # the check counts entries of an array
        raise ValueError(f"`{path}`, column {series.name!r}: {said}") from None


def graph_of_edges(
    path: Path, roles: Roles, directed: bool, notes: list[str]
) -> tuple[NodeIds, Graph]:
    """The graph of a table of edges that comes without a table of nodes."""
    edges = _read_edges(path, roles, notes)
    source, target = _same_kind(edges.source, edges.target)
    ids, *at = number_edges(source, target)
    return ids, Graph.from_edges(*at, weight=edges.weight, n_nodes=len(ids), directed=directed)


def _same_kind(*columns: pl.Series) -> list[pl.Series]:
    """Columns of ids as integers if all of them are integers, else as strings."""
    whole = [canonical_integers(column) for column in columns]
    if any(column is None for column in whole):
        return [column.cast(pl.String) for column in columns]
    return [column for column in whole if column is not None]


def join_nodes(
    path: Path,
    frame: pl.DataFrame,
    id_name: str,
    roles: Roles,
    unknown: str,
    directed: bool,
    notes: list[str],
) -> tuple[Graph, pl.DataFrame, NodeIds]:
    """The graph on the nodes of a table. With "add", blank rows are appended to the table."""
    edges = _read_edges(path, roles, notes)
    names, source, target = _same_kind(frame[id_name], edges.source, edges.target)
    ids = NodeIds(names)
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
            ends = [end.alias("id").filter(pl.Series(number < 0))
                    for end, number in zip((source, target), at, strict=True)]  # fmt: skip
            new = pl.concat(ends).unique(maintain_order=True)
            notes.append(f"{len(new):,} nodes that appear only in edges were added")
            ids = NodeIds(pl.concat([names.alias("id"), new]))
            blank = pl.DataFrame({id_name: new.cast(frame[id_name].dtype)})
            frame = pl.concat([frame, blank], how="diagonal")
            at = ids.find(source), ids.find(target)
    graph = Graph.from_edges(*at, weight=weight, n_nodes=len(ids), directed=directed)
    return graph, frame, ids
