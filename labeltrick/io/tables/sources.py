"""Where the rows of a table come from, as messages name it: a file, and a row within it."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ..._utils.archives import OPENERS

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One file, or several that hold the rows of one table."""


def as_texts(given: Files) -> tuple[str, ...]:
    """The files, each as text."""
    several = [given] if isinstance(given, str | os.PathLike) else given
    return tuple(os.fspath(file) for file in several)


TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt")
JSON_ENDINGS = (".jsonl", ".ndjson")
COMPRESSED = (*OPENERS, ".zst")


def endings(path: Path) -> tuple[str, str]:
    """The file endings of the format and of the compression ("" if there is none)."""
    parts = [part.lower() for part in path.suffixes]
    packed = parts.pop() if parts and parts[-1] in COMPRESSED else ""
    return (parts[-1] if parts else ""), packed


@dataclass(frozen=True)
class Part:
    """A file, how many rows of the table it holds, and how it was read: a note if there is
    something to say, the decimal sign if it is known, and the number of each row in a sheet."""

    name: str
    n_rows: int
    note: str = ""
    decimal: str | None = None
    rows: tuple[int, ...] | None = None
    missing: tuple[tuple[str, str, int], ...] = ()  # column, word and number of missing cells
    n_above: int = 0  # lines above the header
    words_left: bool = False  # whether words for missing values are still in it
    given_missing: tuple[tuple[str, int], ...] = ()  # values that --missing lists, and their cells

    @property
    def note_on_given(self) -> str:
        """A sentence about the cells that --missing blanks."""
        cells = ", ".join(f"{value!r} ({n:,})" for value, n in self.given_missing)
        return f"{Path(self.name).name}: read as missing: {cells}" if cells else ""

    def row(self, row: int) -> str:
        """How messages name a row of the file, given its place from 0. In CSV and TSV files it is
        the number that a spreadsheet shows: the header is row 1."""
        if self.rows is not None:
            return f"row {self.rows[row]}" if row < len(self.rows) else f"row {row + 1}"
        kind, _ = endings(Path(self.name))
        if kind in JSON_ENDINGS:
            return f"line {row + 1}"
        if kind == ".graphml":
            return f"node {row + 1}"
        return f"row {self.n_above + row + (2 if kind in TEXT_ENDINGS else 1)}"


@dataclass(frozen=True)
class Source:
    """The files of a table, in the order of its rows."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        more = len(self.parts) - 1
        return self.parts[0].name + (f" (and {more} more)" if more else "")

    @property
    def decimal(self) -> str | None:
        """The decimal sign of all files, if one is known."""
        return next((part.decimal for part in self.parts if part.decimal is not None), None)

    @property
    def given_missing(self) -> list[tuple[str, int]]:
        """The values that --missing lists and the files held, and in how many cells."""
        return [held for part in self.parts for held in part.given_missing]

    @property
    def notes(self) -> list[str]:
        """How the files were read, where it is not the plain case."""
        return [note for part in self.parts for note in (part.note, part.note_on_given) if note]

    def note_on_missing(self, column: str, words: Collection[str] | None = None) -> list[str]:
        """A sentence about words such as "NA" in a column, which are read as missing; only about
        the given ``words``, if there are any."""
        found: dict[str, int] = {}
        for part in self.parts:
            for name, word, n in part.missing:
                if name == column and word and (words is None or word in words):
                    found[word] = found.get(word, 0) + n
        cells = ", ".join(f"{word!r} ({n:,})" for word, n in found.items())
        return [f"cells of column {column!r} are read as missing: {cells}"] if cells else []

    def at(self, row: int) -> tuple[Part, int]:
        """The file of a row of the table, and the place of the row in the file."""
        for part in self.parts[:-1]:
            if row < part.n_rows:
                return part, row
            row -= part.n_rows
        return self.parts[-1], row


TableName = Path | Source
"""A table as messages name it."""


def _at(table: TableName, row: int) -> tuple[Part, int]:
    return table.at(row) if isinstance(table, Source) else (Part(str(table), 0), row)


def row_name(table: TableName, row: int) -> str:
    """How messages that have named the table name one of its rows, given its place from 0."""
    part, inside = _at(table, row)
    several = isinstance(table, Source) and len(table.parts) > 1
    return part.row(inside) + (f" of '{part.name}'" if several else "")


def refuse_cells(
    table: TableName, cells: pl.Series, bad: Any, must: str, rest: str | None, first_row: int = 0
) -> None:
    """Raise `ValueError` for the first cell that the mask ``bad`` marks, if there is one. ``must``
    says what it must be, and ``rest`` follows its value, which is not shown if ``rest`` is None.
    The cells begin at ``first_row``."""
    mask = pl.Series(bad).fill_null(False)
    if mask.any():
        row = int(mask.arg_max() or 0)
        part, inside = _at(table, first_row + row)
        where = f"`{part.name}`, {part.row(inside)}, column {cells.name!r}"
        got = "" if rest is None else f"; got {cells[row]!r}{rest}"
        raise ValueError(f"{where} must {must}{got}")
