"""A column that lists several labels per row: lists, JSON arrays, or texts with a separator."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import numpy as np
import polars as pl

from ..._utils import memory
from ..._utils.memory import shown_bytes
from .kinds import count_of
from .labels import Labels
from .sources import TableName, refuse_cells

SEPARATORS = ("|", ";", ",")  # in the order in which they are looked for
_MOST_SHOWN = 10
_QUOTED = r"""'(?:[^'\\]|\\['"\\])*'|"(?:[^"\\]|\\['"\\])*\""""
# Lists as pandas writes them. Without commas (as NumPy writes them), Python would join the texts.
_PYTHON_LIST = re.compile(rf"\[\s*(?:{_QUOTED})(?:\s*,\s*(?:{_QUOTED}))*\s*\]")
_BITS = {"0", "1", "true", "false"}

Rows = list[list[str] | None]


def holds_lists(series: pl.Series) -> bool:
    """Whether a column is of a list type, or a text in which every cell is an array."""
    if isinstance(series.dtype, pl.List | pl.Array):
        return True
    if series.dtype != pl.String:
        return False
    known = series.drop_nulls()
    return bool(len(known)) and all(_array(cell) is not None for cell in known)


def read_lists(file: TableName, series: pl.Series) -> Labels:
    """The labels of a column of lists: a matrix with one column of zeros and ones per label. A
    blank cell is unlabeled; an empty list is a node that has none of the labels."""
    name = series.name
    rows, how = _rows_of(file, series)
    known = [row for row in rows if row is not None]
    names = tuple(sorted({entry for row in known for entry in row}))
    if not names:
        what = "lists are empty" if known else "cells are blank"
        raise ValueError(f"`{file}`, column {name!r} must list labels; all {what}.")
    _refuse_indicators(file, name, known)
    if len(rows) * len(names) * 8 > memory.room() // 4:
        raise ValueError(
            f"`{file}`, column {name!r} must list few enough labels for memory "
            f"({shown_bytes(memory.room())}); it lists {len(names):,} in {len(rows):,} rows."
        )
    place = {entry: k for k, entry in enumerate(names)}
    values = np.full((len(rows), len(names)), np.nan)
    for k, row in enumerate(rows):
        if row is not None:
            values[k] = 0.0
            values[k, [place[entry] for entry in row]] = 1.0
    notes = _notes(name, names, how, sum(not row for row in known))
    return Labels(name, "multilabel", values, notes, names, listed=True)


def _notes(name: str, names: tuple[str, ...], how: str, n_empty: int) -> list[str]:
    shown = ", ".join(repr(entry) for entry in names[:_MOST_SHOWN])
    more = f" and {len(names) - _MOST_SHOWN:,} more" if len(names) > _MOST_SHOWN else ""
    have = "has" if n_empty == 1 else "have"
    empty = f"; {count_of(n_empty, 'row')} {have} none of them" if n_empty else ""
    notes = [f"{name!r} holds {count_of(len(names), 'label')} ({how}): {shown}{more}{empty}"]
    inside = [(sign, entry) for sign in SEPARATORS for entry in names if sign in entry]
    if inside and how.startswith("split"):
        sign, entry = inside[0]
        notes.append(f"labels of {name!r} were not split at {sign!r}, for example {entry!r}")
    return notes


def _rows_of(file: TableName, series: pl.Series) -> tuple[Rows, str]:
    """The labels of each row (None where blank), and how they were found, in words."""
    if isinstance(series.dtype, pl.List | pl.Array):
        return _from_type(file, series), "from lists"
    texts = series.cast(pl.String).str.strip_chars().replace("", None).alias(series.name)
    inside = texts.str.starts_with("[") & texts.str.ends_with("]") & (texts != "[]")
    if inside.any():
        rows = [None if cell is None else _array(cell) for cell in texts]
        bad = [cell is not None and row is None for cell, row in zip(texts, rows, strict=True)]
        refuse_cells(file, texts, bad, 'be an array such as ["a", "b"], or blank', ".")
        return rows, "from arrays"
    sign = next((s for s in SEPARATORS if texts.str.contains(s, literal=True).any()), None)
    rows = [_parts(cell, sign) for cell in texts]
    return rows, "one per cell: no separator was found" if sign is None else f"split at {sign!r}"


def _parts(cell: str | None, sign: str | None) -> list[str] | None:
    if cell is None:
        return None
    if cell == "[]":
        return []
    parts = [cell] if sign is None else cell.split(sign)
    return [part.strip() for part in parts if part.strip()]


def _from_type(file: TableName, series: pl.Series) -> Rows:
    inner: Any = series.dtype.inner  # type: ignore[attr-defined]
    plain = inner in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null)
    if not (plain or inner.is_integer()):
        raise ValueError(
            f"`{file}`, column {series.name!r} must hold lists of texts or whole numbers; it holds "
            f"{series.dtype}. For several numbers per node, write one column per number."
        )
    rows = series.cast(pl.List(pl.String)).to_list()
    bad = [row is not None and None in row for row in rows]
    refuse_cells(file, series, bad, "list labels without gaps; a label in it is missing", None)
    return [None if row is None else [t for e in row if (t := e.strip())] for row in rows]


def _array(cell: str) -> list[str] | None:
    """The texts and whole numbers of an array in JSON or Python; None for anything else."""
    cell = cell.strip()
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        found = ast.literal_eval(cell) if _PYTHON_LIST.fullmatch(cell) else None
    if not isinstance(found, list) or not all(isinstance(entry, str | int) for entry in found):
        return None
    texts = [str(entry).lower() if isinstance(entry, bool) else str(entry) for entry in found]
    return [text.strip() for text in texts if text.strip()]


def _refuse_indicators(file: TableName, name: str, known: list[list[str]]) -> None:
    """Rows of zeros and ones are not names of labels."""
    sizes = {len(row) for row in known}
    if len(sizes) == 1 and sizes.pop() > 1 and all(_BITS.issuperset(row) for row in known):
        raise ValueError(
            f"`{file}`, column {name!r} must list the names of labels; it lists zeros and ones. "
            "Write one 0/1 column per label, and name them all: --target a,b,c"
        )
