"""The columns of a table of nodes: features, labels and split."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from .column_names import is_node_type_name
from .content import Sample
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
)
from .labels import Labels, read_split
from .placeholders import blank_placeholders, refuse_words_among_numbers
from .sources import Source, TableName
from .spreadsheets import SHEET_ERRORS
from .targets import read_targets, target_columns
from .written_numbers import numbers_as_written

NODE_TYPE = "node type"
_OPTIONS = {"id": "--id", "target": "--target", "split": "--split-column", "time": "--time"}


@dataclass(frozen=True)
class NodeTable:
    """A table of nodes, how messages name it, and what its columns are used for; ``notes`` collects
    what is decided while its columns are read."""

    name: TableName
    frame: pl.DataFrame
    id_name: str
    roles: Roles
    task: str
    notes: list[str]


@dataclass(frozen=True)
class NodeColumns:
    """What was read; the attributes are those of `Problem`."""

    X: pl.DataFrame | None
    labels: Labels | None
    split: dict[str, np.ndarray]
    kinds: list[ColumnKind]
    left_out: dict[str, pl.Series]


def read_columns(nodes: NodeTable, ids: pl.Series, ends: Collection[str] = ()) -> NodeColumns:
    """Read the columns of a table of nodes. ``ends`` are the names of the ends of edges, whose
    columns may hold ids of other nodes."""
    table, roles, notes = nodes.name, nodes.roles, nodes.notes
    targets = () if roles.target is None else target_columns(table, nodes.frame, roles.target)
    special = _special_columns(nodes, targets)
    ignored = _ignored(nodes, special)
    frame, said = blank_placeholders(nodes.frame, but=(nodes.id_name, roles.split, *ignored))
    notes += said
    numbers = Sample.of(frame).row_numbers()
    kinds, features, left_out = [], [], {}
    for series in frame.get_columns():
        role = special.get(series.name, "feature")
        kind = _unread(series, role, ignored, numbers, notes)
        if kind is None:
            values, kind = _read_column(table, series, role, notes)
            if series.name in ends and role == "feature":
                kind = as_end(values, kind, ids)
            if kind.role in ("feature", "time"):
                features.append(as_feature(values, kind))
            elif kind.kind in (CODE, CONSTANT, EMPTY):
                left_out[kind.name] = values if kind.kind == EMPTY else as_feature(values, kind)
        kinds.append(kind)
    notes += notes_on_kinds(kinds) + _notes_on_types(kinds)
    labels = read_targets(table, frame, targets, nodes.task) if targets else None
    notes += [] if labels is None else labels.notes
    split = {} if roles.split is None else read_split(table, frame[roles.split], labels)
    notes += [*_notes_on_missing(table, frame, kinds), note_on_columns(kinds)]
    X = pl.DataFrame(features) if features else None
    return NodeColumns(X, labels, split, kinds, left_out)


def _special_columns(nodes: NodeTable, targets: tuple[str, ...]) -> dict[str, str]:
    """The roles of columns that are not just features."""
    special = {nodes.id_name: "id"} | dict.fromkeys(targets, "target")
    for role, name in (("split", nodes.roles.split), ("time", nodes.roles.time)):
        if name is not None:
            special[find_column(nodes.name, nodes.frame, name, _OPTIONS[role])] = role
    return special


def _ignored(nodes: NodeTable, special: dict[str, str]) -> set[str]:
    found = {find_column(nodes.name, nodes.frame, n, "--ignore") for n in nodes.roles.ignore}
    for name in sorted(found & set(special)):
        raise ValueError(
            f"`--ignore` must name columns that are not used otherwise; {name!r} is the "
            f"{special[name]} column. Leave it out of --ignore, or choose another with "
            f"{_OPTIONS[special[name]]}."
        )
    return found


def _unread(
    series: pl.Series, role: str, ignored: Collection[str], numbers: list[str], notes: list[str]
) -> ColumnKind | None:
    """The kind of a column whose values are not features; None if they may be."""
    name = series.name
    if role == "id" and name in numbers:
        notes.append(f"ids are the row numbers in column {name!r}: edges refer to them")
    if name in ignored:
        used = ("ignored", "left out", "by --ignore")
    elif role in ("id", "target", "split"):
        used = (role, role, "")
    elif role == "feature" and name in numbers:
        used = ("row number", "left out", "row numbers")
    else:
        return None
    counts = series.null_count(), series.drop_nulls().n_unique()
    return ColumnKind(name, used[0], *counts, *used[1:])


def _read_column(
    table: TableName, series: pl.Series, role: str, notes: list[str]
) -> tuple[pl.Series, ColumnKind]:
    """The values of a column with their type, and what they are."""
    refuse_words_among_numbers(table, series, how_to_leave_out(series.name))
    series, note = numbers_as_written(table, series)
    notes += [note] if note else []
    values, kind = infer_column(table, series)
    notes += notes_on_dates(series, kind)
    if role == "time":
        return as_days(table, values), replace(kind, role="time", note="as days")
    if kind.kind == CATEGORICAL and not kind.note and is_node_type_name(series.name):
        kind = replace(kind, note=NODE_TYPE)
    return values, kind


def _notes_on_types(kinds: list[ColumnKind]) -> list[str]:
    names = [repr(kind.name) for kind in kinds if kind.note == NODE_TYPE]
    if not names:
        return []
    return [f"the type of a node, {', '.join(names)}, is used like any other category"]


def _notes_on_missing(table: TableName, frame: pl.DataFrame, kinds: list[ColumnKind]) -> list[str]:
    """Words that are read as missing: all in targets, categories and codes, where they could be
    names, and errors of spreadsheets in numbers."""
    if not isinstance(table, Source):
        return []
    notes = []
    for kind in kinds:
        named = kind.role == "target" or kind.kind in (CATEGORICAL, CODE)
        if named or kind.role in ("feature", "time"):
            said = table.note_on_missing(kind.name, None if named else SHEET_ERRORS)
            if said and "'NA'" in said[0] and _are_short_codes(frame[kind.name]):
                said = [f"{said[0]}. All other values are codes of two letters: if NA is one, too, "
                        "write it in another way, such as NAM"]  # fmt: skip
            notes += said
    return notes


def _are_short_codes(series: pl.Series) -> bool:
    """Whether values are codes like those of countries, of which NA is one (Namibia)."""
    if series.dtype != pl.String:
        return False
    known: Any = series.drop_nulls()
    return known.n_unique() > 2 and bool(known.str.contains("^[A-Z]{2}$").all())
