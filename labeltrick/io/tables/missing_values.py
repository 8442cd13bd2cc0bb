"""Values that the caller says are missing, such as "n/a", "unknown" and -999, in tables of any
format. Words that are missing in every table are in `spreadsheets`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar

import polars as pl

_TEXTS = (pl.String, pl.Categorical, pl.Enum)

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def checked_missing(given: str | Iterable[str]) -> tuple[str, ...]:
    """The values that ``--missing`` lists, in one text or several.

    >>> checked_missing("n/a, unknown,-999")
    ('n/a', 'unknown', '-999')
    """
    texts = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"`--missing` must be texts such as n/a,unknown,-999; got {given!r}.")
    parts = [part.strip() for text in texts for part in text.split(",")]
    return tuple(dict.fromkeys(part for part in parts if part))


def blanked(frame: Frame, values: Sequence[str]) -> Frame:
    """The table with missing values in place of the given ones. A number is meant however it is
    written: -999 and -999.0."""
    cells = [
        pl.when(pl.any_horizontal(held)).then(None).otherwise(pl.nth(k)).name.keep()
        for k, dtype in enumerate(frame.collect_schema().dtypes())
        if (held := [found for value in values if (found := _holds(k, dtype, value)) is not None])
    ]
    return frame.with_columns(cells) if cells else frame


def counted(
    frame: pl.DataFrame | pl.LazyFrame, values: Sequence[str]
) -> tuple[tuple[str, int], ...]:
    """The given values that a table holds, and in how many cells."""
    dtypes = frame.collect_schema().dtypes()
    found = []
    for value in values:
        held = [_holds(k, dtype, value) for k, dtype in enumerate(dtypes)]
        sums = [cells.sum().alias(f"{k}") for k, cells in enumerate(held) if cells is not None]
        n = sum(frame.lazy().select(sums).collect().row(0)) if sums else 0
        if n:
            found.append((value, int(n)))
    return tuple(found)


def _holds(k: int, dtype: pl.DataType, value: str) -> pl.Expr | None:
    """Which cells of a column hold a value; None if they cannot. By position, because polars reads
    "*" as a pattern of names."""
    cell, number = pl.nth(k), _number(value)
    if dtype.is_numeric():
        return None if number is None else (cell.cast(pl.Float64) == number).fill_null(value=False)
    if dtype not in _TEXTS:
        return None
    text = cell.cast(pl.String).str.strip_chars()
    held = text == value
    if number is not None:
        held |= (text.cast(pl.Float64, strict=False) == number).fill_null(value=False)
    return held.fill_null(value=False)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def notes_on_unused(values: Sequence[str], held: Iterable[tuple[str, int]]) -> list[str]:
    """A sentence about given values that no table holds."""
    seen = {value for value, _ in held}
    unused = ", ".join(repr(value) for value in values if value not in seen)
    return [f"not used, because no cell holds it: --missing {unused}"] if unused else []
