"""What a column holds: numbers, categories, true and false, dates, text; inferred and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from shlex import quote

import polars as pl

from .frames import cell_name, row_name

_MOST_LEVELS = 1000
_LIKE_NUMBERS = 0.9  # share of readable values from which the others are mistakes
_TRUE = ("true", "yes", "t", "y")
_FALSE = ("false", "no", "f", "n")
NUMERIC, CATEGORICAL, BOOLEAN, TEXT, DATE, EMPTY, CONSTANT = (
    "numeric", "categorical", "boolean", "text", "date", "empty", "constant",
)  # fmt: skip


@dataclass(frozen=True)
class ColumnKind:
    """A column of the nodes' table.

    Attributes
    ----------
    name, kind : "numeric", "categorical", "boolean", "text", "date", "empty" or "constant".
    n_missing, n_distinct : counts.
    role : "feature", "id", "target", "split", "time", or "left out".
    note : why it is left out, or what was done with it.
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    role: str = "feature"
    note: str = ""


def find_column(file: Path, frame: pl.DataFrame, name: str, option: str) -> str:
    """The column itself, or a `ValueError` with the nearest name. Only a column that is to be
    ignored may hold lists or bytes."""
    if name in frame.columns:
        if option != "--ignore":
            _require_plain(file, frame[name])
        return name
    near = get_close_matches(name, frame.columns, 1, 0.5)
    same = [column for column in frame.columns if column.lower() == name.lower()]
    near = same or near
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(frame.columns[:20]) + (" …" if frame.width > 20 else "")
    raise ValueError(
        f"`{option}` must name a column of '{file}'; got {name!r}.{hint} Its columns are: {listed}."
    )


def pick_column(
    file: Path,
    frame: pl.DataFrame,
    given: str | None,
    option: str,
    names: Sequence[str],
    place: int,
) -> str:
    """A column by option, else by a usual name, else by its place."""
    if given is not None:
        return find_column(file, frame, given, option)
    lower = {name.lower(): name for name in reversed(frame.columns)}
    for name in names:
        if name in lower:
            return find_column(file, frame, lower[name], option)
    if place >= frame.width:
        raise ValueError(
            f"`{file}` must have a column for {option}; it has {frame.width} column(s): "
            f"{', '.join(frame.columns)}."
        )
    return find_column(file, frame, frame.columns[place], option)


def _require_plain(file: Path, series: pl.Series) -> None:
    if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object, pl.Duration):
        raise ValueError(
            f"`{file}`, column {series.name!r} must hold one text or number per row; it holds "
            f"{series.dtype}. Export it in another way."
        )


def infer_column(file: Path, series: pl.Series) -> tuple[pl.Series, ColumnKind]:
    """(the column as its own type, what it is). Text is tried as numbers, booleans and dates."""
    name, n_missing = series.name, series.null_count()
    n_distinct = series.drop_nulls().n_unique()

    def told(kind: str, role: str = "feature", note: str = "") -> ColumnKind:
        return ColumnKind(name, kind, n_missing, n_distinct, role, note)

    if n_missing == len(series):
        return series, told(EMPTY, "left out", "no value at all")
    if series.dtype.is_nested() or series.dtype == pl.Binary:
        return series, told(TEXT, "left out", f"holds {series.dtype}")
    if series.dtype == pl.String:
        series = _from_text(file, series)
    if series.dtype.is_temporal():
        note = "a date: name it with --time to use it"
        return series, told(DATE, "left out", note)
    if series.dtype.is_float():
        series = _without_infinities(file, series)
        n_missing = series.null_count()
    if n_distinct == 1 and n_missing == 0:
        return series, told(CONSTANT, "left out", "the same value everywhere")
    if series.dtype == pl.Boolean:
        return series, told(BOOLEAN)
    if series.dtype.is_numeric():
        return series, told(NUMERIC)
    if series.dtype == pl.Null:
        return series, told(EMPTY, "left out", "no value at all")
    series = series.cast(pl.String)
    if n_distinct > min(_MOST_LEVELS, max(20, len(series) // 4)):
        note = f"text, {n_distinct:,} different values"
        return series, told(TEXT, "left out", note)
    return series, told(CATEGORICAL)


def _without_infinities(file: Path, series: pl.Series) -> pl.Series:
    """NaN counts as missing; infinity is an error."""
    series = series.fill_nan(None)
    bad = series.is_infinite().fill_null(False)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise ValueError(
            f"{cell_name(file, row, series.name)} must be a finite number or missing; got "
            f"{series[row]}. Correct it, or leave the column out with --ignore "
            f"{quote(series.name)}."
        )
    return series


def _from_text(file: Path, series: pl.Series) -> pl.Series:
    known = series.drop_nulls()
    numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
    n_read = numbers.drop_nulls().len()
    if n_read == known.len():
        whole = series.str.strip_chars().cast(pl.Int64, strict=False)
        return whole if whole.drop_nulls().len() == known.len() else numbers
    if n_read >= _LIKE_NUMBERS * known.len() and numbers.n_unique() > 20:
        bad = (numbers.is_null() & series.is_not_null()).arg_max()
        row = int(bad or 0)
        raise ValueError(
            f"{cell_name(file, row, series.name)} must be a number like the other values of the "
            f"column; got {series[row]!r}. Correct it, leave it blank, or leave the column out "
            f"with --ignore {quote(series.name)}."
        )
    levels = {str(level).strip().lower() for level in known.unique().to_list()}
    if len(levels) == 2 and (levels & set(_TRUE)) and (levels & set(_FALSE)):
        return series.str.strip_chars().str.to_lowercase().is_in(list(_TRUE))
    dates = _as_dates(series)
    return series if dates is None else dates


def _as_dates(series: pl.Series) -> pl.Series | None:
    known = series.drop_nulls()
    for pattern in ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%m/%d/%Y"):
        found = series.str.strptime(pl.Datetime, pattern, strict=False)
        if found.drop_nulls().len() == known.len():
            return found
    return None


def as_days(file: Path, series: pl.Series) -> pl.Series:
    """Dates as days since the first of them; numbers as they are."""
    if series.dtype.is_numeric():
        return series.cast(pl.Float64)
    if not series.dtype.is_temporal():
        raise ValueError(
            f"`--time` must name a column of dates or numbers in '{file}'; {series.name!r} holds "
            "neither. Write dates as 2024-12-31."
        )
    moments = series.cast(pl.Datetime("us"))
    first = moments.min()
    days = (moments - first).dt.total_seconds() / 86400
    return days.alias(series.name)


def require_unique(file: Path, ids: pl.Series) -> None:
    """Ids must be there and be different."""
    if ids.null_count():
        row = int(ids.is_null().arg_max() or 0)
        raise ValueError(
            f"{cell_name(file, row, ids.name)} must hold an id; it is missing. Fill it in or drop "
            "the row."
        )
    if ids.n_unique() < len(ids):
        twice = ids.is_duplicated()
        value = ids.filter(twice)[0]
        first, second = (row_name(file, row) for row in (ids == value).arg_true().to_list()[:2])
        raise ValueError(
            f"`{file}`, column {ids.name!r} must hold each id once; {value!r} is in {first} and "
            f"{second} ({int(twice.sum())} rows share an id). Drop or merge them."
        )
