"""Adding rows to the tables of a run: new nodes and edges, and rows that replace old ones."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from ...graph.node_ids import NodeIds
from ...io.tables.content import is_blank
from ...io.tables.edges import same_kind, with_blank_rows
from ...io.tables.kinds import find_column, require_unique
from ...io.tables.placeholders import without_placeholders
from ...io.tables.several_files import ReadTable, join_column, require_same_decimals
from ...io.tables.sources import Part, Source
from .settings import FitSettings
from .written_alike import written_alike


@dataclass(frozen=True)
class _Reordered(Source):
    """Files whose rows are in another order: ``order`` is the place of each row."""

    order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def at(self, row: int) -> tuple[Part, int]:
        return super().at(int(self.order[row])) if row < len(self.order) else super().at(row)


@dataclass(frozen=True)
class Extended:
    """The tables of a run with further rows.

    Attributes
    ----------
    tables : dict of str to ReadTable
    replaced : polars.Series
        The ids of the nodes of the run whose rows were replaced, as text.
    notes : list of str
    """

    tables: dict[str, ReadTable]
    replaced: pl.Series = field(default_factory=lambda: pl.Series([], dtype=pl.String))
    notes: list[str] = field(default_factory=list)


def some_of(names: Sequence[str]) -> str:
    """The first names of a list.

    >>> some_of(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d, e, …'
    """
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


Names = dict[str, tuple[str | None, str | None]]
"""For each option, the column that was given and the one of the run."""


def with_columns_named(new: ReadTable, names: Names) -> ReadTable:
    """A new table with the column names of the run."""
    frame = new.frame
    for option, (given, known) in names.items():
        if known is None:
            continue
        found = find_column(new.source, frame, given or known, f"--{option}")
        if found != known:
            frame = frame.drop(known, strict=False).rename({found: known})
    return replace(new, frame=frame)


def extend_nodes(
    found: Extended, new: ReadTable, id_name: str, known: pl.Series, settings: FitSettings
) -> Extended:
    """Add rows to the table of nodes. A row whose id is known replaces the row of that node, with
    its label and part of the split, if the new table has these columns; else they are kept.

    Parameters
    ----------
    found : Extended
    new : ReadTable
        Rows to add, with the column names of the run.
    id_name : str
        The column of the ids.
    known : polars.Series
        The ids of the nodes of the run, which may have more than its table.
    settings : FitSettings
    """
    old = found.tables["nodes"]
    frame = old.frame
    if len(known) > frame.height:  # nodes that only the edges of the run have
        frame = with_blank_rows(frame, id_name, known[frame.height :])
    require_unique(new.source, new.frame[id_name])
    parts = (replace(old.source.parts[0], n_rows=frame.height), *new.source.parts)
    require_same_decimals(parts, "the fit")
    both = Source(parts)
    n = frame.height
    ids = same_kind(join_column(both, [frame[id_name], new.frame[id_name]]))[0]
    at = NodeIds(ids[:n]).find(ids[n:])
    order = np.arange(n)
    order[at[at >= 0]] = n + np.flatnonzero(at >= 0)
    order = np.concatenate([order, n + np.flatnonzero(at < 0)])
    columns = _joined_columns(both, old.source, frame, new, id_name, order, settings)
    replaced = ids[np.sort(at[at >= 0])].cast(pl.String)
    tables = dict(found.tables)
    tables["nodes"] = ReadTable(_Reordered(parts, order), pl.DataFrame(columns))
    notes = [*found.notes, *_notes_on_nodes(new, frame, replaced, settings),
             *_notes_on_dates(new, columns)]  # fmt: skip
    if "labels" in tables and len(replaced) and has_labels(new.frame, settings):
        tables["labels"] = _without(tables["labels"], id_name, replaced)
    return Extended(tables, replaced, notes)


def _joined_columns(
    both: Source,
    source: Source,
    old: pl.DataFrame,
    new: ReadTable,
    id_name: str,
    order: np.ndarray,
    settings: FitSettings,
) -> dict[str, pl.Series]:
    """The columns of the run with the new rows; ``order`` is the place of each row in the two
    tables one after the other."""
    n, m = old.height, new.frame.height
    own = np.concatenate([np.arange(n), order[n:]])
    targets, split = target_names(settings), settings.split_column
    unread = {id_name, *targets, split, *settings.ignore}
    labeled = has_labels(new.frame, settings)
    columns = {}
    for name in old.columns:
        there = name in new.frame.columns and (name not in targets or labeled)
        more = new.frame[name] if there else old[name].clear(m)
        used = there and name not in unread
        pieces = written_alike(source, old[name], new.source, more, used=used)
        column = join_column(both, pieces)
        keeps = not there and name in (*targets, split)
        columns[name] = column[own if keeps else order]
    if labeled and split is not None and split not in new.frame.columns:
        # A label that is given without a part is an input, unless the node has a part already.
        known = pl.any_horizontal([columns[name].is_not_null() for name in targets])
        given = pl.Series(order >= n) & pl.select(known).to_series() & columns[split].is_null()
        part = pl.when(given).then(pl.lit("train")).otherwise(columns[split].cast(pl.String))
        columns[split] = pl.select(part.alias(split)).to_series()
    return columns


def target_names(settings: FitSettings) -> tuple[str, ...]:
    """The columns of the labels."""
    target = settings.target or ()
    return (target,) if isinstance(target, str) else target


def has_labels(frame: pl.DataFrame, settings: FitSettings) -> bool:
    """Whether a table has all columns of the labels, and values in each of them."""
    names = target_names(settings)
    return bool(names) and all(
        name in frame.columns and not is_blank(frame[name]) for name in names
    )


def _notes_on_nodes(
    new: ReadTable, old: pl.DataFrame, replaced: pl.Series, settings: FitSettings
) -> list[str]:
    notes = []
    if len(replaced):
        names = some_of(replaced.to_list())
        n = len(replaced)
        what = "1 row replaces a row" if n == 1 else f"{n:,} rows replace rows"
        notes.append(f"{what} of the run: {names}")
        if not has_labels(new.frame, settings):
            notes.append("the nodes of these rows keep their labels, as no others are given")
    return notes + unused_columns(new, old.columns)


def unused_columns(new: ReadTable, known: Container[str]) -> list[str]:
    """A sentence about the columns of a new table that are not among the ``known`` ones."""
    extra = [name for name in new.frame.columns if name not in known]
    if not extra:
        return []
    one = len(extra) == 1
    what = "a column" if one else f"{len(extra):,} columns"
    names = some_of([repr(name) for name in extra])
    which = "it is" if one else "they are"
    return [f"{new.source} has {what} that the run does not have; {which} not used: {names}"]


def _notes_on_dates(new: ReadTable, columns: Mapping[str, pl.Series]) -> list[str]:
    """Placeholders among dates, which are read before the rows are joined."""
    return [
        note
        for name in new.frame.columns
        if name in columns and columns[name].dtype.is_temporal()
        for note in without_placeholders(new.frame[name], known=True)[1]
    ]


def _without(labels: ReadTable, id_name: str, ids: pl.Series) -> ReadTable:
    """The labels of the run that new labels do not replace."""
    name = id_name if id_name in labels.frame.columns else labels.frame.columns[0]
    gone = labels.frame[name].cast(pl.String).is_in(ids.cast(pl.String).implode())
    return replace(labels, frame=labels.frame.filter(~gone))


def extend_edges(
    found: Extended, new: ReadTable, ends: Sequence[str], weight: str | None, directed: bool
) -> Extended:
    """Add rows to the table of edges. Weights of an edge that is listed again are added to those
    that it has, like weights of an edge that one file lists twice."""
    old = found.tables["edges"]
    source = Source((*old.source.parts, *new.source.parts))
    require_same_decimals(source.parts, "the fit")
    m = new.frame.height
    columns = {}
    for name in old.frame.columns:
        more = new.frame[name] if name in new.frame.columns else old.frame[name].clear(m)
        used = name == weight and name in new.frame.columns
        pieces = written_alike(old.source, old.frame[name], new.source, more, used=used)
        columns[name] = join_column(source, pieces)
    frame = pl.DataFrame(columns)
    notes = [*found.notes, *unused_columns(new, old.frame.columns)]
    again = _count_known(frame, ends, old.frame.height, directed)
    if again:
        effect = "their weights are added" if weight is not None else "which changes nothing"
        what = "1 edge is" if again == 1 else f"{again:,} edges are"
        notes.append(f"{what} already in the run: {effect}")
    return replace(found, tables={**found.tables, "edges": ReadTable(source, frame)}, notes=notes)


def _count_known(frame: pl.DataFrame, ends: Sequence[str], n_old: int, directed: bool) -> int:
    """How many of the edges after the first ``n_old`` rows are among those rows."""
    source, target = same_kind(*(frame[end] for end in ends))
    pairs = pl.DataFrame({"a": source, "b": target})
    old, new = pairs[:n_old], pairs[n_old:]
    wanted = [new] if directed else [new, new.select(a="b", b="a")]
    # Only edges of the old table that touch an end of a new one can be among the new ones.
    near = old.filter(pl.col("a").is_in(pl.concat([p["a"] for p in wanted]).unique().implode()))
    hits = [
        part.with_row_index().join(near.unique(), on=["a", "b"], how="semi")["index"]
        for part in wanted
    ]
    return pl.concat(hits).n_unique()
