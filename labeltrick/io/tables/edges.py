"""The table of edges, and the graph that it defines with or without a table of nodes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl

from ..._utils.checks import check_edge_weights
from ...graph.graph import Graph
from ...graph.node_ids import NodeIds, canonical_integers, number_edges
from .content import Sample, shares_of_ids
from .edge_columns import EdgeColumns, choose_edge_columns
from .frames import without_words_for_missing
from .kinds import Roles
from .several_files import AnyTable, read_tables
from .sources import TableName, refuse_cells, row_name
from .spreadsheets import MISSING
from .written_numbers import numbers_as_written

_ODD_NUMBER = r"^\d+\.0+$|^0+\d+$"  # a whole number, but not as it is usually written


def require_ends(path: TableName, ends: pl.Series, first_row: int = 0) -> None:
    """Raise an error for an edge without a start or an end."""
    must = "be a node; it is missing. Fill it in or drop the row."
    refuse_cells(path, ends, ends.is_null(), must, None, first_row)


def find_edge_columns(
    path: TableName, frame: pl.DataFrame, roles: Roles, ids: pl.Series | None
) -> EdgeColumns:
    """The columns of a table of edges; the ids of the nodes help to find them."""
    sample = Sample.of(frame)

    def shares(names: list[str]) -> dict[str, float]:
        assert ids is not None
        return shares_of_ids({name: sample.frame[name] for name in names}, ids)

    if ids is None:
        return choose_edge_columns(path, sample, roles, None)
    return choose_edge_columns(path, sample, roles, shares, ids.name)


def _columns_of(
    path: TableName, frame: pl.DataFrame, roles: Roles, ids: pl.Series | None, notes: list[str]
) -> tuple[pl.Series, pl.Series, np.ndarray | None]:
    """The starts, ends and weights of the edges; the ids of the nodes help to find them."""
    found = find_edge_columns(path, frame, roles, ids)
    notes += found.notes(roles)
    weight = None
    if found.weight is not None:
        column, note = numbers_as_written(path, frame[found.weight], required=True)
        notes += [note] if note else []
        weight = weights_of(path, column)
    for end in (found.source, found.target):
        require_ends(path, frame[end])
    return frame[found.source], frame[found.target], weight


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
    files: AnyTable, roles: Roles, directed: bool, notes: list[str]
) -> tuple[NodeIds, Graph]:
    """The graph of a table of edges that comes without a table of nodes."""
    # As text, or "007" would be 7.
    path, frame = read_tables(files, notes, leave_words=True)
    numbered = None
    if path.parts[0].words_left:
        numbered, frame = _number_names(frame)
    *ends, weight = _columns_of(path, frame, roles, None, notes)
    if numbered is None or [end.name for end in ends] != frame.columns:
        numbered = number_edges(*same_kind(*ends))
    ids, *at = numbered
    return ids, _graph_of(at, weight, len(ids), directed, notes)


def _number_names(
    frame: pl.DataFrame,
) -> tuple[tuple[NodeIds, np.ndarray, np.ndarray] | None, pl.DataFrame]:
    """The numbers of two columns of texts, and the table without words for missing values: None if
    it has any.

    They are looked for among the different names, since in all cells it takes as long as numbering.
    """
    if not any(column.null_count() for column in frame.get_columns()):
        numbered = number_edges(*same_kind(*frame.get_columns()))
        names = numbered[0].ids
        if names.dtype != pl.String or not names.is_in(MISSING).any():
            return numbered, frame
    return None, without_words_for_missing(frame)[1]


def _graph_of(
    at: list[np.ndarray], weight: np.ndarray | None, n: int, directed: bool, notes: list[str]
) -> Graph:
    graph = Graph.from_edges(*at, weight=weight, n_nodes=n, directed=directed)
    n_given = len(at[0]) if weight is None else int(np.count_nonzero(weight))
    notes += notes_on_edges(n_given, len(at[0]), graph)
    return graph


def notes_on_edges(n_real: int, n_rows: int, graph: Any) -> list[str]:
    """Sentences about rows that are not edges of their own: ``n_real`` of the ``n_rows`` rows have
    a weight above 0."""
    notes = []
    if n_real < n_rows:
        n_zero = n_rows - n_real
        what = "1 edge with weight 0 was" if n_zero == 1 else f"{n_zero:,} edges with weight 0 were"
        notes.append(f"{what} left out")
    if graph.n_edges < n_real:
        how = "repeated" if graph.directed else "repeated or reversed"
        added = ", and their weights were added" if graph.weighted else ""
        n_merged = n_real - graph.n_edges
        what = f"1 {how} edge was" if n_merged == 1 else f"{n_merged:,} {how} edges were"
        notes.append(f"{what} merged with others{added}")
    return notes


def same_kind(*columns: pl.Series) -> list[pl.Series]:
    """Columns of ids as integers if all of them are integers, else as strings."""
    whole = [canonical_integers(column) for column in columns]
    if any(column is None for column in whole):
        return [column.cast(pl.String) for column in columns]
    return [column for column in whole if column is not None]


def with_blank_rows(frame: pl.DataFrame, id_name: str, ids: pl.Series) -> pl.DataFrame:
    """The table of nodes with a row for each id, in which all other columns are missing."""
    blank = pl.DataFrame({id_name: ids.cast(frame[id_name].dtype)})
    return pl.concat([frame, blank], how="diagonal")


def _bare(texts: pl.Series) -> pl.Series:
    """Ids without what people write differently: 7.0, 007, "C7 ", c7."""
    texts = texts.cast(pl.String).str.strip_chars().str.to_lowercase()
    return texts.str.replace(r"^(\d+)\.0+$", "${1}").str.replace(r"^0+(\d)", "${1}")


def _written_differently(names: pl.Series, end: pl.Series, strange: np.ndarray) -> str:
    """A sentence if the first strange id is an id in other spelling."""
    if not strange.any():
        return ""
    value = end.slice(int(strange.argmax()), 1)
    same = names.filter(_bare(names) == _bare(value)[0])
    return f" The node table lists {str(same[0])!r}: write ids alike in both." if len(same) else ""


def _refuse_unknown(
    path: TableName, names: pl.Series, ends: list[pl.Series], at: list[np.ndarray], id_name: str
) -> None:
    """Raise an error for the first end that is not an id of the node table."""
    column = ""
    if all((numbers < 0).all() for numbers in at):
        column = (
            f" No edge names any of its ids, which are taken from its column {id_name!r}: name "
            "another with --id if they are elsewhere."
        )
    for end, numbers in zip(ends, at, strict=True):
        n_strange = int((numbers < 0).sum())
        cells = "the only such cell" if n_strange == 1 else f"{n_strange:,} such cells"
        spelling = _written_differently(names, end, numbers < 0)
        rest = (
            f", which it does not list ({cells} in this column).{spelling or column} Add the node "
            "there, or pass --unknown-nodes add (to add nodes without columns) or drop (to leave "
            "such edges out)."
        )
        refuse_cells(path, end, numbers < 0, "be a node of the node table", rest)


def _warnings_on_spelling(names: pl.Series, unknown: pl.Series) -> list[str]:
    """A sentence if unknown nodes are nodes of the table in other spelling."""
    listed = pl.DataFrame({"bare": _bare(names), "there": names.cast(pl.String)})
    asked = pl.DataFrame({"bare": _bare(unknown), "here": unknown.cast(pl.String)})
    same = asked.join(listed.unique("bare", keep="first"), on="bare", maintain_order="left")
    if not same.height:
        return []
    some = same.head(3).select("here", "there").rows()
    shown = ", ".join(f"{here!r} (there {there!r})" for here, there in some)
    are = "is" if same.height == 1 else "are"
    return [
        f"{same.height:,} of the {len(unknown):,} unknown nodes {are} in the node table in another "
        f"spelling: {shown}{' …' if same.height > len(some) else ''}. Write ids alike in both"
    ]


def warnings_on_numbers(ids: pl.Series) -> list[str]:
    """A sentence if ids are the same number in two spellings, as pandas writes them: 7 and 7.0."""
    if ids.dtype != pl.String:
        return []
    odd = ids.filter(ids.str.contains(_ODD_NUMBER))
    plain = _bare(odd)
    twice = plain.is_in(ids.implode()).fill_null(False)
    if not twice.any():
        return []
    n, other, same = int(twice.sum()), odd.filter(twice)[0], plain.filter(twice)[0]
    what = "1 id is" if n == 1 else f"{n:,} ids are"
    return [
        f"{what} in the edges in two spellings, which are different nodes: {other!r} and {same!r}"
        f"{', …' if n > 1 else ''}. Write ids alike if they mean the same"
    ]


def _note_on_unknown(unknown: str, n_nodes: int, n_edges: int) -> str:
    if unknown == "drop":
        one = n_edges == 1
        what = (
            "1 edge to an unknown node was" if one else f"{n_edges:,} edges to unknown nodes were"
        )
        return f"{what} left out"
    one = n_nodes == 1
    what = "1 node that appears" if one else f"{n_nodes:,} nodes that appear"
    return f"{what} only in edges {'was' if one else 'were'} added"


def note_on_no_unknown(unknown: str, why: str) -> str:
    """A sentence about the option for unknown nodes where there are none."""
    return f"not used: --unknown-nodes {unknown}, because {why}"


def join_nodes(
    path: TableName,
    edges: pl.DataFrame,
    frame: pl.DataFrame,
    id_name: str,
    roles: Roles,
    unknown: str,
    directed: bool,
    notes: list[str],
    warnings: list[str],
) -> tuple[Graph, pl.DataFrame, NodeIds, tuple[str, str]]:
    """The graph on the nodes of a table, the table, the ids, and the names of the columns of the
    ends. With "add", blank rows are appended to the table."""
    source, target, weight = _columns_of(path, edges, roles, frame[id_name], notes)
    names, *ends = same_kind(frame[id_name], source, target)
    ids = NodeIds(names)
    at = [ids.find(end) for end in ends]
    strange = (at[0] < 0) | (at[1] < 0)
    if unknown == "error":
        _refuse_unknown(path, names, ends, at, id_name)
    elif strange.any():
        new = pl.concat(
            end.alias("id").filter(pl.Series(numbers < 0))
            for end, numbers in zip(ends, at, strict=True)
        ).unique(maintain_order=True)
        warnings += _warnings_on_spelling(names, new)
        notes.append(_note_on_unknown(unknown, len(new), int(strange.sum())))
        if unknown == "drop":
            at = [numbers[~strange] for numbers in at]
            weight = None if weight is None else weight[~strange]
        else:
            ids = NodeIds(pl.concat([names, new.alias(names.name)]))
            frame = with_blank_rows(frame, id_name, new)
            at = [ids.find(end) for end in ends]
    else:
        notes.append(note_on_no_unknown(unknown, "all ends of edges are in the node table"))
    graph = _graph_of(at, weight, len(ids), directed, notes)
    return graph, frame, ids, (source.name, target.name)
