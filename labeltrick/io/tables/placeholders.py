"""Placeholders such as "-" and "n.a." among numbers or dates, where they stand for a missing value.

Among names, the same texts may be names, so they are missing values only if all other values are
numbers, or all are dates.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from .content import are_dates
from .sources import TableName, refuse_cells
from .written_numbers import are_numbers

_SIGNS = r"^[-–—−_./…]+$"
_WORDS = (
    "n/a", "n.a.", "n.a", "n. a.", "k.a.", "k. a.", "k.a", "tbd", "tba", "unknown", "unbekannt",
    "missing",
)  # fmt: skip
_MOST_WORDS = 3  # different texts among numbers that are unlikely to be names
_MOST_NUMBERS = 0.5  # share of numbers in a column of numbers
_FEW = 20  # different numbers that may be names of categories
_LOOKED_AT = 1000


def without_placeholders(series: pl.Series, *, known: bool = False) -> tuple[pl.Series, list[str]]:
    """A column of numbers or dates with its placeholders as missing values, and a note that counts
    them.

    Columns that hold other texts are returned unchanged. ``known`` says that the column is known
    to hold numbers or dates, even if there are only placeholders here.
    """
    if series.dtype != pl.String:
        return series, []
    cells = series.str.strip_chars()
    found = _are_placeholders(cells)
    others = cells.filter(~found).drop_nulls().unique()
    if not found.any() or not (known or len(others)):
        return series, []
    held = "numbers" if are_numbers(others).all() else "dates" if are_dates(others) else ""
    if not held:
        return series, []
    words = cells.filter(found).value_counts().rows()
    shown = ", ".join(f"{word!r} ({n:,})" for word, n in sorted(words, key=lambda w: (-w[1], w[0])))
    note = (
        f"cells of column {series.name!r} are read as missing, because all other values are "
        f"{held}: {shown}"
    )
    return series.set(found, None), [note]


def blank_placeholders(
    frame: pl.DataFrame, but: Iterable[str | None]
) -> tuple[pl.DataFrame, list[str]]:
    """A table with the placeholders of its columns of numbers or dates as missing values, and
    notes. Ids and other columns that may hold any names are excepted by ``but``."""
    left, notes, columns = set(but), [], []
    for series in frame.get_columns():
        if series.name not in left:
            series, said = without_placeholders(series)
            notes += said
        columns.append(series)
    # Not a list: polars would rename a column without a name, as pandas writes its index.
    return pl.DataFrame({column.name: column for column in columns}), notes


def refuse_words_among_numbers(table: TableName, series: pl.Series, advice: str) -> None:
    """Raise `ValueError` if most values are different numbers and the others are a few texts."""
    if series.dtype != pl.String:
        return
    counts = series.str.strip_chars().alias("cell").drop_nulls().value_counts(name="n")
    some = counts["cell"].head(_LOOKED_AT)
    if int((~are_numbers(some)).sum()) > _MOST_WORDS:
        return
    numeric = are_numbers(counts["cell"])
    words = counts.filter(~numeric).sort("n", "cell", descending=[True, False])
    n_numbers, n_known = int(counts.filter(numeric)["n"].sum()), int(counts["n"].sum())
    if not 0 < words.height <= _MOST_WORDS or n_numbers < _MOST_NUMBERS * n_known:
        return
    names = counts.filter(numeric)["cell"]
    if len(names) <= _FEW or names.str.contains(r"^-?0[0-9]").any():  # categories, codes
        return
    shown = ", ".join(f"{n:,} {'is' if n == 1 else 'are'} {word!r}" for word, n in words.rows())
    bad = series.str.strip_chars().is_in(words["cell"].implode())
    must = "be a number like the other values of the column"
    rest = f" ({n_numbers:,} values are numbers, {shown}). {advice}"
    refuse_cells(table, series, bad, must, rest)


def looks_like_a_placeholder(name: str) -> bool:
    """Whether a text looks like a placeholder.

    >>> looks_like_a_placeholder("--"), looks_like_a_placeholder("no")
    (True, False)
    """
    return bool(_are_placeholders(pl.Series([name.strip()]))[0])


def _are_placeholders(cells: pl.Series) -> pl.Series:
    lower = cells.str.to_lowercase()
    return (lower.str.contains(_SIGNS) | lower.is_in(_WORDS)).fill_null(False)
