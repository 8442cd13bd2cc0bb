"""Files of edges that are read in chunks: text is converted to Parquet first, without being read
at once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ..._utils.archives import OPENERS, UNREADABLE
from ..._utils.disk_full import no_space
from ..._utils.memory import free_memory
from ..._utils.table_errors import refusing_table, require_distinct_columns
from .delimited import UTF8, blocks_of, detect, sample_of, without_lines
from .frames import (
    blank_rows_below,
    literal_path,
    note_on_text,
    parquet_parts,
    require_table,
)
from .missing_values import blanked, counted
from .parquet_pages import check_pages
from .places import Place
from .several_files import TableFiles, require_same_columns, require_same_decimals
from .sources import TEXT_ENDINGS, Part, Source, endings
from .spreadsheets import MISSING, undo_escapes
from .text_formats import FoundFormat, TextFormat, transcoded

_MOST_BLANK = 10_000  # rows at the end that may be blank
_READABLE = ("a table that can be read", "Export it again.")


def edge_files(files: TableFiles) -> list[Path]:
    """The files, if each is a table that can be read in chunks."""
    for name in files.names:
        place = Place.of(name)
        if place.kind == "database" or place.inside:
            raise ValueError(
                f"`{place.shown}` must be a file of edges; it is a {place.kind}, which is not read "
                "in pieces. Export it as CSV or Parquet, or pass it to fit with --edges instead."
            )
    return [require_table(Path(name).expanduser(), in_chunks=True) for name in files.names]


@dataclass(frozen=True)
class EdgeTable:
    """The rows of one or several files, which are not in memory, and how messages name them."""

    source: Source
    scans: tuple[pl.LazyFrame, ...]

    @classmethod
    def of(cls, files: list[Path], scratch: Path, given: TextFormat) -> EdgeTable:
        """Open files with the same columns, in any order. ``scratch`` is a folder for copies."""
        parts, scans = [], []
        for k, file in enumerate(files):
            place = scratch / f"{k}"
            place.mkdir()
            part, scan = _opened(file, place, given)
            parts.append(part)
            scans.append(scan)
        schemas = [scan.collect_schema() for scan in scans]
        for part, schema in zip(parts[1:], schemas[1:], strict=True):
            require_same_columns(part.name, schema.names(), parts[0].name, schemas[0].names())
            _require_same_types(part.name, schema, parts[0].name, schemas[0])
        require_same_decimals(tuple(parts))
        return cls(Source(tuple(parts)), tuple(scans))

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.source.parts)

    def select(self, columns: list[str]) -> pl.LazyFrame:
        """Some columns of all rows."""
        found = []
        for scan in self.scans:
            names = scan.collect_schema().names()
            # By position: polars reads "*" as a pattern of names.
            found.append(scan.select(pl.nth([names.index(name) for name in columns])))
        return found[0] if len(found) == 1 else pl.concat(found)

    def head(self, n_rows: int) -> pl.DataFrame:
        """The first rows of each file."""
        names = self.scans[0].collect_schema().names()
        each = max(n_rows // len(self.scans), 1)
        frames = []
        for part, scan in zip(self.source.parts, self.scans, strict=True):
            with refusing_table(Path(part.name), *_READABLE):
                frames.append(scan.head(each).collect()[names])
        return pl.concat(frames)


def _require_same_types(name: str, schema: pl.Schema, first: str, wanted: pl.Schema) -> None:
    for column, dtype in wanted.items():
        if schema[column] != dtype:
            raise ValueError(
                f"`{name}`, column {column!r} must hold the type of the column in '{first}', "
                f"{dtype}; it holds {schema[column]}. Convert one of the files."
            )


def _opened(file: Path, scratch: Path, given: TextFormat) -> tuple[Part, pl.LazyFrame]:
    part, found, n_blank = Part(str(file), 0), None, 0
    stored = parquet_parts(file)
    if not stored:
        made, found = _as_parquet(file, scratch, given)
        stored = [made]
    with refusing_table(file, *_READABLE):
        for each in stored:
            check_pages(each, free_memory())
        scan = pl.scan_parquet(stored, glob=False)
        part = replace(part, given_missing=counted(scan, given.missing))
        n_rows = int(scan.select(pl.len()).collect().item())
        if found is not None:
            n_blank = blank_rows_below(scan.tail(_MOST_BLANK).collect())
            scan = scan.head(n_rows - n_blank)
        scan = undo_escapes(blanked(scan, given.missing))
    if n_rows == n_blank:
        raise ValueError(f"`{file}` must have rows; it has none. Export it again.")
    if found is not None:
        note = note_on_text(file, found, n_blank)
        part = replace(part, note=note, decimal=found.decimal, n_above=found.n_above)
    return replace(part, n_rows=n_rows - n_blank), scan


def _as_parquet(file: Path, scratch: Path, given: TextFormat) -> tuple[Path, FoundFormat | None]:
    """Convert a text file to Parquet in chunks. Ids stay text, or "007" would become 7."""
    source, made, unlike = file, scratch / "edges.parquet", _READABLE
    found = None
    try:
        if file.suffix.lower() in OPENERS:
            source, unlike = scratch / "edges.txt", ("a valid compressed file", "Copy it again.")
            with OPENERS[file.suffix.lower()](file, "rb") as packed, source.open("wb") as plain:
                shutil.copyfileobj(packed, plain, 1 << 20)
            unlike = _READABLE
        if endings(file)[0] not in TEXT_ENDINGS:
            scan = pl.scan_ndjson(literal_path(source))
        else:
            found, _ = detect(file, sample_of(source), given)
            source = _plain_text(file, source, scratch, found)
            separator = found.delimiter or ","
            require_distinct_columns(file, source, separator)
            options: dict[str, Any] = {"infer_schema": False, "null_values": MISSING, "glob": False}
            scan = pl.scan_csv(source, separator=separator, **options)
        scan.sink_parquet(made)
    except UNREADABLE + (pl.exceptions.PolarsError,) as error:  # noqa: RUF005
        full = no_space(error, scratch.parent, f"'{file.name}' while reading it")
        if full is not error:
            raise full from None
        with refusing_table(file, *unlike):
            raise
    return made, found


def _plain_text(file: Path, source: Path, scratch: Path, found: FoundFormat) -> Path:
    """The unpacked text in UTF-8, from its header on. It is converted in blocks where it is not."""
    blocks: Iterator[bytes] | None = None
    assert found.encoding is not None
    if found.encoding not in UTF8:
        blocks = transcoded(file, blocks_of(source), found.encoding)
    if found.n_above:
        blocks = without_lines(file, blocks or blocks_of(source), found)
    if blocks is None:
        return source
    made = scratch / "utf-8.txt"
    with made.open("wb") as opened:
        opened.writelines(blocks)
    return made
