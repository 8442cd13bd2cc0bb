"""Values of new rows and those of the run, brought into one form before they are joined.

Each table is read by its own date format, but in the order of day and month that the fit had.
Numbers must be written as in the fit, because 18 % and 0.18, or $5 and €5, are different numbers.
What cannot be read is blamed on the new file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from ..._utils.texts import DATES_IN_FILES, MONTH_FIRST, formats_like, parse_dates
from ...io.tables.id_like import are_padded
from ...io.tables.placeholders import without_placeholders
from ...io.tables.several_files import ReadTable, join_column
from ...io.tables.sources import Source, TableName, refuse_cells
from ...io.tables.written_numbers import numbers_as_written, units_of


def written_alike(
    run: Source, old: pl.Series, given: Source, new: pl.Series, *, used: bool
) -> list[pl.Series]:
    """A column of the run and that of new rows, ready to be joined. An error names the new file
    and row if the column is ``used`` and its new values cannot be read like the old ones."""
    if run.decimal == "," and old.dtype == pl.String and new.dtype.is_float():
        new = new.cast(pl.String).str.replace(".", ",", literal=True)
    if not used or old.null_count() == len(old) or new.null_count() == len(new):
        return [old, new]
    dates = _dates(old)
    if dates is not None:
        return [dates, read_dates(given, new, old)]
    if old.dtype.is_numeric() and new.dtype == pl.String:
        new = _as_numbers(given, new)
    if old.dtype == pl.String and not are_padded(old) and _are_numbers(run, old):
        _require_numbers(run, old, given, new)
    return [old, new]


def _dates(column: pl.Series, formats: Sequence[str] = DATES_IN_FILES) -> pl.Series | None:
    if column.dtype == pl.String:
        return parse_dates(without_placeholders(column)[0], formats)
    if column.dtype not in (pl.Date, pl.Datetime):
        return None
    if getattr(column.dtype, "time_zone", None) is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return column.cast(pl.Datetime("us"))


def _formats_like(old: pl.Series) -> tuple[str, ...]:
    return formats_like(without_placeholders(old)[0])


def read_dates(given: TableName, new: pl.Series, old: pl.Series | None = None) -> pl.Series:
    """A column that held dates in the fit, as dates; an error names the file and row if some of
    them are not, or are written in different formats. Days and months are in the order of the
    ``old`` column, if it is given."""
    formats: tuple[str, ...] = DATES_IN_FILES
    if old is not None and old.dtype == pl.String:
        formats = _formats_like(old)
    found = _dates(new, formats)
    if found is not None:
        return found
    texts, _ = without_placeholders(new.cast(pl.String), known=True)
    if texts.null_count() == len(texts):
        return texts.cast(pl.Datetime("us"))
    # The first value that is not a date, or is one in another format than those before it.
    end = _first_failing(len(texts), lambda k: _readable(texts[:k], formats))
    must = "be a date, as in the fit, in the same format as the other rows of its file"
    refuse_cells(given, new, _only(len(new), end), must, ". Write dates as 2024-12-31.")
    raise AssertionError("a cell is marked")


def in_order_of_dates(old: ReadTable, new: ReadTable) -> ReadTable:
    """A table that replaces that of the run: where days come before months in the run, they do in
    the table, although its own rows may not show it."""
    made = []
    for name in set(old.frame.columns) & set(new.frame.columns):
        before, column = old.frame[name], new.frame[name]
        if before.dtype != pl.String or column.dtype != pl.String:
            continue
        formats = _formats_like(before)
        if not any(pattern.startswith(MONTH_FIRST) for pattern in formats):
            found = _dates(column, formats)
            made += [] if found is None else [found]
    return replace(new, frame=new.frame.with_columns(made))


def _readable(texts: pl.Series, formats: Sequence[str]) -> bool:
    return texts.null_count() == len(texts) or _dates(texts, formats) is not None


def _as_numbers(given: TableName, texts: pl.Series) -> pl.Series:
    """Texts of new rows as numbers, where the run has numbers that were not written as text, such
    as those of a workbook. Placeholders stay, as do columns with anything else, which are refused
    later if they are used."""
    cells, _ = without_placeholders(texts, known=True)
    if are_padded(cells) or not units_of(cells) <= {""}:
        return texts
    try:
        numbers = numbers_as_written(given, cells)[0].cast(pl.Float64, strict=False)
    except ValueError:
        return texts
    if numbers.null_count() > cells.null_count():
        return texts
    if texts.null_count() == numbers.null_count():
        return numbers
    return pl.select(pl.coalesce(numbers.cast(pl.String), texts)).to_series().alias(texts.name)


def _are_numbers(table: TableName, texts: pl.Series) -> bool:
    """Whether all values of a column of texts are read as numbers."""
    try:
        values, _ = numbers_as_written(table, texts)
    except ValueError:  # some are not, though almost all are
        return False
    numbers = values.cast(pl.Float64, strict=False)
    return numbers.null_count() == texts.null_count()


def _require_numbers(run: Source, old: pl.Series, given: Source, new: pl.Series) -> None:
    both = Source((*run.parts, *given.parts))
    some = old.drop_nulls().unique(maintain_order=True)

    def readable(n_rows: int) -> bool:
        return _are_numbers(both, join_column(both, [some, new[:n_rows]]).cast(pl.String))

    if readable(len(new)):
        return
    end = _first_failing(len(new), readable)
    rest = f". Write it like {some[0]!r}, a value of the fit."
    refuse_cells(given, new, _only(len(new), end), "be a number, written as in the fit", rest)


def _first_failing(n: int, holds: Callable[[int], bool]) -> int:
    """The place of a row with which a condition on the first rows begins to fail, by bisection."""
    low, high = 0, n  # it holds for `low` rows and fails for `high`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high - 1


def _only(n: int, place: int) -> pl.Series:
    return pl.int_range(n, eager=True) == place
