"""Reading and writing a sheet of an Excel workbook (.xlsx)."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from ..._utils import memory
from ..._utils.extras import require
from ..._utils.memory import shown_bytes
from ..._utils.table_errors import refusing_table, require_distinct
from .kinds import listed
from .title_lines import n_above_header, note_on_titles, title_of

_CELL = re.compile(rb'\sr="([A-Z]{1,3})([0-9]{1,7})"')
_FAILED = re.compile(r"""got '(?:String\("(#.*)"\)|Error\((\w+)\))'""")
_ERRORS = {"NA": "#N/A", "Div0": "#DIV/0!", "Name": "#NAME?", "Null": "#NULL!", "Num": "#NUM!",
           "Ref": "#REF!", "Value": "#VALUE!"}  # fmt: skip
_BLOCK = 1 << 20
_OVERLAP = 40  # bytes of a reference that a block may cut
_BYTES_PER_CELL = 100  # while a sheet is read
_MOST_MEMBERS = 10_000
_HEADER_WITHIN = 1000  # rows
_MOST_ROWS = 1 << 20  # of a sheet
_LARGEST = 999_999_999_999_999  # Excel shows 15 digits


@dataclass(frozen=True)
class Sheet:
    """The table of a sheet, the row of the sheet that each of its rows has, the name of the sheet,
    a note if there are other sheets or lines above the header, and column, error and number of the
    cells whose formula failed."""

    frame: pl.DataFrame
    rows: tuple[int, ...]
    name: str
    note: str
    failed: tuple[tuple[str, str, int], ...]


def read_sheet(file: Path, wanted: str) -> Sheet:
    """Read a sheet. The first row that is not blank or a title names the columns."""
    fastexcel = require("fastexcel", f"reading '{file.name}'")
    with refusing_table(file, "an Excel workbook that can be read", "Save it again."):
        _check_sizes(file)
        try:
            book = fastexcel.read_excel(str(file))
            name = _choose(file, book.sheet_names, wanted)
            frame, rows, title, failed = _table(file, book, name)
        except fastexcel.FastExcelError as error:
            raise ValueError(str(error).splitlines()[0]) from None
    note = f"{file.name}: {title}" if title else ""
    if len(book.sheet_names) > 1 and not wanted:
        note = f"{note}; " if note else f"{file.name}: "
        note += (
            f"the first of {len(book.sheet_names)} sheets is read, {name!r}; name "
            f"another as {_others(file, book, name)}"
        )
    return Sheet(frame, rows, name, note, failed)


def write_sheet(frame: pl.DataFrame, file: Path, shown: Path) -> None:
    """Write a table as the only sheet of a workbook. Texts stay texts: nothing becomes a formula or
    a link. Messages call the file ``shown``."""
    xlsxwriter = require("xlsxwriter", f"writing '{shown.name}'")
    if frame.height > _MOST_ROWS - 1:
        raise ValueError(
            f"`{shown}` must have at most {_MOST_ROWS - 1:,} rows to be a workbook; the table has "
            f"{frame.height:,}. Write a .parquet or .csv file."
        )
    # A workbook has only floating-point numbers.
    integers = [name for name, dtype in frame.schema.items() if dtype.is_integer()]
    large = [name for name in integers if not _is_exact(frame[name])]
    frame = frame.with_columns(pl.col(large).cast(pl.String))
    texts = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(str(file), texts) as book:
        frame.write_excel(book, "predictions", autofit=True, float_precision=4)


def _others(file: Path, book: Any, name: str) -> str:
    return listed([f"{file.name}#{sheet}" for sheet in book.sheet_names if sheet != name], "or")


def _is_exact(column: pl.Series) -> bool:
    ends: list[Any] = [column.min(), column.max()]
    return all(end is None or abs(end) <= _LARGEST for end in ends)


def _choose(file: Path, names: list[str], wanted: str) -> str:
    if not names:
        raise ValueError(f"`{file}` must have a sheet; it has none.")
    if not wanted or wanted in names:
        return wanted or names[0]
    near = get_close_matches(wanted, names, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"`{file}` must have a sheet {wanted!r}; it has {listed(names)}.{hint}")


Table = tuple[pl.DataFrame, tuple[int, ...], str, tuple[tuple[str, str, int], ...]]


def _table(file: Path, book: Any, name: str) -> Table:
    others = f" Name another as {_others(file, book, name)}." if len(book.sheet_names) > 1 else ""
    whole: dict[str, Any] = {"header_row": None, "schema_sample_rows": None}
    head = book.load_sheet(name, skip_rows=0, n_rows=_HEADER_WITHIN, dtypes="string", **whole)
    top = head.to_polars()
    first = next(
        (k for k, row in enumerate(top.iter_rows()) if any(_is_filled(c) for c in row)), -1
    )
    if first < 0:
        raise ValueError(f"`{file}` must have rows; the sheet {name!r} has none.{others}")
    n_above, title = _above(top, first)
    first += n_above
    names = [cell.strip() if cell else "" for cell in top.row(first)]
    sheet = book.load_sheet(name, skip_rows=first + 1, **whole)
    frame = sheet.to_polars()
    if frame.height == 0 or frame.width != len(names):
        raise ValueError(
            f"`{file}` must have rows; the sheet {name!r} has none below row {first + 1}.{others}"
        )
    used = [k for k, cell in enumerate(names) if cell or frame.to_series(k).count()]
    for k in used:
        if not names[k]:
            raise ValueError(
                f"`{file}`, row {first + 1} must name every column; column {k + 1} has values and "
                "no name. Fill it in."
            )
    names = [names[k] for k in used]
    require_distinct(file, names)
    columns = [
        _whole_numbers(frame.to_series(k).alias(n)) for k, n in zip(used, names, strict=True)
    ]
    frame = pl.DataFrame(columns)
    filled = ~frame.select(pl.all_horizontal(pl.nth(range(frame.width)).is_null())).to_series()
    rows = (filled.arg_true() + first + 2).to_list()
    failed = _failed(sheet, dict(zip(used, names, strict=True)))
    title = note_on_titles(first, title) if n_above else ""
    return frame.filter(filled), tuple(rows), title, failed


def _failed(sheet: Any, names: dict[int, str]) -> tuple[tuple[str, str, int], ...]:
    """Column, error and number of the cells that hold an error instead of a value."""
    try:
        errors = sheet.to_arrow_with_errors()[1]
    except (ImportError, AttributeError):  # it needs pyarrow
        return ()
    counts: Counter[tuple[str, str]] = Counter()
    for cell in () if errors is None else errors.errors:
        found = _FAILED.search(cell.detail)
        name = names.get(cell.offset_position[1])
        if found is not None and name is not None:
            counts[name, found[1] or _ERRORS.get(found[2], "#N/A")] += 1
    return tuple((name, word, n) for (name, word), n in counts.items())


def _above(top: pl.DataFrame, first: int) -> tuple[int, str]:
    """How many rows from the first filled one on are above the header, and the title."""
    rows = [["" if cell is None else str(cell) for cell in row] for row in top[first:].iter_rows()]
    used = [any(cell.strip() for cell in column) for column in zip(*rows, strict=True)]
    rows = [[cell for cell, is_used in zip(row, used, strict=True) if is_used] for row in rows]
    return n_above_header(rows), title_of(rows)


def _is_filled(cell: Any) -> bool:
    return cell is not None and bool(str(cell).strip())


def _whole_numbers(series: pl.Series) -> pl.Series:
    """Excel has no integers: an id is 7.0."""
    if not series.dtype.is_float():
        return series
    whole = series.cast(pl.Int64, strict=False)
    same = whole.null_count() == series.null_count() and bool((whole == series).all())
    return whole if same and bool((whole.abs() < 2**53).all()) else series


def _check_sizes(file: Path) -> None:
    """Compare what the archive declares with its content, and refuse sheets that are too large.
    One cell in the last row takes a few bytes in the file, and memory for all rows before it."""
    room = memory.room()
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        if total > room or len(members) > _MOST_MEMBERS:
            raise ValueError(
                f"{total:,} bytes in {len(members):,} parts, more than fits into memory"
            )
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two parts of the same name")
        for member in members:
            is_sheet = "worksheets/" in member.filename and member.filename.endswith(".xml")
            n_rows = n_columns = 1
            rest = b""
            with archive.open(member) as stream:
                while block := stream.read(_BLOCK):
                    if is_sheet:
                        found = _CELL.findall(rest + block)
                        n_rows = max([n_rows, *(int(row) for _, row in found)])
                        n_columns = max([n_columns, *{_column(letters) for letters, _ in found}])
                        rest = block[-_OVERLAP:]
            if n_rows * n_columns * _BYTES_PER_CELL > room:
                raise ValueError(
                    f"a sheet of {n_rows:,} rows and {n_columns:,} columns, which does not fit "
                    f"into {shown_bytes(room)}"
                )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
