"""Columns of data frames and arrays as plain arrays: numbers, booleans, dates or objects."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timezone
from typing import Any

import numpy as np

_DAY = np.timedelta64(86_400_000_000, "us")


class Categories(np.ndarray):
    """Objects of a column with a categorical type."""

    def __new__(cls, values: list[Any]) -> Categories:
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.view(cls)


class Booleans(Categories):
    """Objects of a boolean column."""


def split_columns(X: Any) -> tuple[list[str], list[np.ndarray]]:
    """(names, columns). Dates have the type datetime64[us], in UTC; durations are days."""
    if hasattr(X, "get_columns"):  # polars
        return list(X.columns), [_polars_column(series) for series in X.get_columns()]
    if hasattr(X, "iloc"):  # pandas
        names = [str(name) for name in X.columns]
        return names, [_pandas_column(X.iloc[:, place]) for place in range(len(names))]
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"`X` must have two dimensions; got {array.ndim}. Reshape your data: one row per "
            "node, one column per feature."
        )
    if np.iscomplexobj(array):
        raise ValueError("`X` must hold real numbers: Complex data not supported.")
    if array.dtype.kind in "mM":
        array = _days(array) if array.dtype.kind == "m" else array.astype("datetime64[us]")
    return [f"column {k}" for k in range(array.shape[1])], list(array.T)


def _polars_column(series: Any) -> np.ndarray:
    import polars as pl

    if series.dtype == pl.Duration:
        return _days(series.cast(pl.Duration("us")).to_numpy())
    if series.dtype == pl.Time:
        return series.cast(pl.Int64).cast(pl.Float64).to_numpy() / 3.6e12  # hours
    if series.dtype.is_temporal():
        if getattr(series.dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.cast(pl.Datetime("us")).to_numpy().astype("datetime64[us]")
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        return Categories(series.cast(pl.String).to_list())
    if series.dtype == pl.Boolean:
        return Booleans(series.to_list())
    if series.dtype.is_numeric():
        return series.cast(pl.Float64).to_numpy()
    return np.array(series.to_list(), dtype=object)


def _pandas_column(series: Any) -> np.ndarray:
    import pandas as pd

    dtype = series.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        if getattr(dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return series.to_numpy(dtype="datetime64[us]")
    if pd.api.types.is_timedelta64_dtype(dtype):
        return _days(series.to_numpy())
    if isinstance(dtype, pd.CategoricalDtype):
        return Categories(series.astype(object).tolist())
    if pd.api.types.is_bool_dtype(dtype):
        return Booleans(series.tolist())
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(f"column {series.name!r} of `X` must hold real numbers; got complex ones.")
    if pd.api.types.is_numeric_dtype(dtype):
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array(series.tolist(), dtype=object)


def _days(durations: np.ndarray) -> np.ndarray:
    return np.where(np.isnat(durations), np.nan, durations / _DAY)


# -- dates and texts among objects -------------------------------------------------------------
def dates_in(raw: np.ndarray) -> np.ndarray | None:
    """The column as dates (datetime64[us]); None if it holds anything else. Strings are dates if
    they are written in one of the usual formats."""
    if raw.dtype.kind == "M":
        return raw
    if raw.dtype.kind not in "OU" or isinstance(raw, Categories):
        return None
    known = [value for value in raw.tolist() if not is_missing(value)]
    if not known:
        return None
    if all(isinstance(value, date) for value in known):
        moments = [None if is_missing(value) else _in_utc(value) for value in raw.tolist()]
        return np.array(moments, "datetime64[us]")
    if not all(isinstance(value, str) for value in known):
        return None
    return dates_of_texts(raw.tolist())


def _in_utc(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(timezone.utc).replace(tzinfo=None)
    return value


def dates_of_texts(values: Iterable[Any]) -> np.ndarray | None:
    """Strings as dates; None if some are not."""
    import polars as pl

    from ..._utils.texts import parse_dates

    found = parse_dates(pl.Series(texts_of(values), dtype=pl.String))
    return None if found is None else found.to_numpy().astype("datetime64[us]")


def date_of_either_order(raw: np.ndarray) -> str | None:
    """A date of a column of strings that are read as month/day/year, if all of them could be
    day/month/year."""
    import polars as pl

    from ..._utils.texts import DAYS_FIRST, date_format

    if raw.dtype.kind not in "OU":
        return None
    texts = [value for value in raw.tolist() if isinstance(value, str)]
    if date_format(pl.Series(texts, dtype=pl.String), DAYS_FIRST) is None:
        return None
    return texts[0]


def texts_of(values: Iterable[Any]) -> list[str | None]:
    """Values as strings, None where missing."""
    return [None if is_missing(value) else level_of(value) for value in values]


def level_of(value: Any) -> str:
    """A value as text. Categories are compared as text: 3 and 3.0 are the same."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA
        return True


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
