"""What the values of columns say, from a bounded sample of rows: row numbers, and ids of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from ...graph.node_ids import canonical_integers
from .column_names import is_unnamed

_ENOUGH_ROWS = 1000
_NOT_SINGLE = (pl.Binary, pl.Object, pl.Duration)
_INDEX_NAMES = ("index", "level_0")
_DATE = r"^\d{4}-\d{2}-\d{2}|^\d{1,2}[./]\d{1,2}[./]\d{2,4}"


@dataclass(frozen=True)
class Sample:
    """Some rows of a table, evenly spaced, with their places in it."""

    frame: pl.DataFrame
    rows: np.ndarray

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Sample:
        """At most 1,000 rows of a table, the first and the last among them."""
        n = frame.height
        rows = np.unique(np.linspace(0, n - 1, min(n, _ENOUGH_ROWS)).astype(np.int64))
        return cls(frame if len(rows) == n else frame[rows], rows)

    def plain(self, but: Iterable[str] = ()) -> list[str]:
        """The columns that can hold ids: whole numbers, or texts that are not all dates."""
        return [name for name in self.single(but) if _can_be_ids(self.frame[name])]

    def single(self, but: Iterable[str] = ()) -> list[str]:
        """The columns that hold one value per row, and not a list or bytes."""
        left = set(but)
        return [
            name
            for name, dtype in self.frame.schema.items()
            if name not in left and not dtype.is_nested() and dtype not in _NOT_SINGLE
        ]

    def row_numbers(self) -> list[str]:
        """The columns of row numbers that pandas or R have written."""
        return [name for name in self.frame.columns if self._is_row_numbers(name)]

    def _is_row_numbers(self, name: str) -> bool:
        if not (is_unnamed(name) or name.lower() in _INDEX_NAMES):
            return False
        column = self.frame[name]
        found = None if column.null_count() else canonical_integers(column)
        if found is None:
            return False
        values = found.to_numpy()
        # Several files that are read as one table have each been numbered.
        steps = np.diff(values) == np.diff(self.rows)
        if (
            values[0] in (0, 1)
            and (values <= self.rows + 1).all()
            and steps.sum() * 2 >= len(steps)
        ):
            return True
        # Rows that were dropped leave gaps. A column with a name is then more than a row number.
        return is_unnamed(name) and bool((np.diff(values) > 0).all())

    def all_different(self, name: str) -> bool:
        column = self.frame[name]
        return column.null_count() == 0 and column.n_unique() == len(column)


def is_blank(column: pl.Series) -> bool:
    """Whether all cells of a column are missing or blank."""
    if column.dtype.is_nested():
        return column.is_null().all()
    return column.cast(pl.String).str.strip_chars().replace("", None).is_null().all()


def are_dates(series: pl.Series) -> bool:
    """Whether all values of a column begin like dates."""
    if series.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return False
    texts = series.cast(pl.String).drop_nulls()
    return bool(len(texts)) and bool(begin_like_dates(texts).all())


def begin_like_dates(texts: pl.Series) -> pl.Series:
    """Which texts begin like dates."""
    return texts.str.contains(_DATE)


def _can_be_ids(series: pl.Series) -> bool:
    if series.dtype.is_float():
        return canonical_integers(series) is not None
    if series.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return series.dtype.is_integer()
    texts = series.cast(pl.String).drop_nulls()
    if not len(texts) or are_dates(texts):
        return False
    numbers = texts.cast(pl.Float64, strict=False)
    return bool(numbers.has_nulls() or canonical_integers(texts.cast(pl.Float64)) is not None)


def shares_of_ids(columns: Mapping[str, pl.Series], ids: pl.Series) -> dict[str, float]:
    """The share of the different values of each column that are ids, in one pass over the ids."""
    known = ids if ids.dtype.is_integer() or ids.dtype == pl.String else _as_ids(ids)
    if known is None:
        return dict.fromkeys(columns, 0.0)
    values = {name: _comparable(column, known) for name, column in columns.items()}
    asked = pl.concat([column.alias("id") for column in values.values()]).unique()
    there = known.filter(known.is_in(asked.implode())).unique().implode()
    return {
        name: float(values[name].is_in(there).sum() / max(column.drop_nulls().n_unique(), 1))
        for name, column in columns.items()
    }


def _as_ids(series: pl.Series) -> pl.Series | None:
    """Ids of any type as integers or texts; None if they are neither."""
    if series.dtype.is_float():
        return canonical_integers(series)
    return series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else None


def _comparable(series: pl.Series, ids: pl.Series) -> pl.Series:
    """The different values of a column that can be compared with the ids, in their type."""
    values = series.drop_nulls().unique()
    if values.dtype.is_float():
        whole = values.cast(pl.Int64, strict=False)
        values = whole.filter((whole.cast(pl.Float64) == values).fill_null(False))
    if ids.dtype == pl.String:
        return values.cast(pl.String)
    whole = values.cast(ids.dtype, strict=False)
    if values.dtype.is_integer():
        return whole.drop_nulls()
    return whole.filter((whole.cast(pl.String) == values.cast(pl.String)).fill_null(False))
