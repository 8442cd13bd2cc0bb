"""Tables of mixed columns for trees: numbers, categories as numbers, missing values as NaN."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.checks import warn_caller
from ..._utils.sparse_checks import check_sparse

_MOST_LEVELS = 1000  # a column with more distinct values is text
_TRUTH = ("False", "True")


@dataclass(frozen=True)
class Column:
    """One column of a table: its name, and its levels in ascending order if it is categorical."""

    name: str
    levels: tuple[Any, ...] | None = None

    @property
    def is_categorical(self) -> bool:
        return self.levels is not None


@dataclass(frozen=True)
class Table:
    """Numbers of a table, dense (NaN where missing) or sparse, and its columns.

    Categories are stored as the numbers of their levels.
    """

    values: Any
    columns: tuple[Column, ...]
    named: bool = False  # by the caller; otherwise columns are matched by position

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def categorical(self) -> list[int]:
        return [place for place, column in enumerate(self.columns) if column.is_categorical]

    @property
    def numeric(self) -> np.ndarray:
        """Positions of the numeric columns."""
        return np.setdiff1d(np.arange(len(self.columns)), self.categorical)

    def frequent_levels(self, most: int) -> tuple[tuple[tuple[int, int], ...], list[str]]:
        """(position, level) of the ``most`` frequent levels of each category, and their names."""
        found, names = [], []
        for place in self.categorical:
            codes, column = self.values[:, place], self.columns[place]
            assert column.levels is not None
            count = np.bincount(codes[~np.isnan(codes)].astype(np.int64))
            for level in np.argsort(-count, kind="stable")[:most].tolist():
                found.append((place, level))
                names.append(f"{column.name}={column.levels[level]}")
        return tuple(found), names

    def indicators(self, levels: Iterable[tuple[int, int]]) -> list[np.ndarray]:
        """For each (position, level), 1.0 in rows that have it, else 0.0, NaN where missing."""
        columns = ((self.values[:, place], level) for place, level in levels)
        return [np.where(np.isnan(codes), np.nan, codes == level) for codes, level in columns]


def read_table(X: Any, categorical: str | Sequence[Any] = "auto") -> Table:
    """Read a data frame (pandas, polars), an array or a sparse matrix.

    ``categorical`` lists names or positions of the columns that hold categories; "auto" means those
    of a categorical, boolean or text type.
    """
    if sp.issparse(X):
        return _read_sparse(X, categorical)
    names, columns = _split(X)
    chosen = _chosen(categorical, names)
    found = tuple(
        Column(name, _levels(name, raw, None if chosen is None else place in chosen))
        for place, (name, raw) in enumerate(zip(names, columns, strict=True))
    )
    table = Table(_encoded(found, columns, "error"), found, hasattr(X, "columns"))
    _check_columns(table)
    return table


def read_again(X: Any, fitted: Table, unseen: str = "error") -> Table:
    """Read the same columns of other rows.

    ``unseen``: categories that were not in the fit are an "error" or count as "missing".
    """
    if sp.issparse(X):
        if fitted.categorical:
            raise TypeError(
                "`X` must be a data frame or an array, as in fit, where it had categories; got a "
                "sparse matrix."
            )
        _check_width(X.shape[1], [], fitted)
        return Table(_read_csr(X), fitted.columns)
    names, columns = _split(X)
    named = hasattr(X, "columns") and fitted.named
    _check_width(len(columns), names if named else [], fitted)
    at = dict(zip(names, columns, strict=True))
    order = [at[column.name] for column in fitted.columns] if named else columns
    table = Table(_encoded(fitted.columns, order, unseen), fitted.columns, fitted.named)
    _check_infinite(table)
    return table


def _encoded(columns: Sequence[Column], raw: Sequence[np.ndarray], unseen: str) -> np.ndarray:
    values = [_encode(column, one, unseen) for column, one in zip(columns, raw, strict=True)]
    return np.column_stack(values) if values else np.zeros((0, 0))


# -- reading -----------------------------------------------------------------------------------
def _split(X: Any) -> tuple[list[str], list[np.ndarray]]:
    """(names, columns as arrays of numbers, booleans, dates or objects)."""
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
    return [f"column {k}" for k in range(array.shape[1])], list(array.T)


def _polars_column(series: Any) -> np.ndarray:
    import polars as pl

    if series.dtype.is_temporal():
        return np.zeros(len(series), "datetime64[s]")
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        return _Categories(series.cast(pl.String).to_list())
    if series.dtype == pl.Boolean:
        return _Booleans(series.to_list())
    if series.dtype.is_numeric():
        return series.cast(pl.Float64).to_numpy()
    return np.array(series.to_list(), dtype=object)


def _pandas_column(series: Any) -> np.ndarray:
    import pandas as pd

    dtype = series.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        return np.zeros(len(series), "datetime64[s]")
    if isinstance(dtype, pd.CategoricalDtype):
        return _Categories(series.astype(object).tolist())
    if pd.api.types.is_bool_dtype(dtype):
        return _Booleans(series.tolist())
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(f"column {series.name!r} of `X` must hold real numbers; got complex ones.")
    if pd.api.types.is_numeric_dtype(dtype):
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array(series.tolist(), dtype=object)


class _Categories(np.ndarray):
    """Objects of a column with a categorical type."""

    def __new__(cls, values: list[Any]) -> _Categories:
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.view(cls)


class _Booleans(_Categories):
    """Objects of a boolean column."""


def _chosen(categorical: str | Sequence[Any], names: list[str]) -> set[int] | None:
    if isinstance(categorical, str):
        if categorical != "auto":
            raise ValueError(f"`categorical` must be 'auto' or a list; got {categorical!r}.")
        return None
    places = set()
    for entry in categorical:
        if isinstance(entry, str) and entry in names:
            places.add(names.index(entry))
        elif not isinstance(entry, str) and 0 <= int(entry) < len(names):
            places.add(int(entry))
        else:
            raise ValueError(
                f"`categorical` must name columns of X; got {entry!r}. They are: "
                f"{', '.join(names[:20])}."
            )
    return places


def _levels(name: str, raw: np.ndarray, asked: bool | None) -> tuple[Any, ...] | None:
    """Levels of a categorical column; None for numbers. Dates and texts raise errors."""
    _refuse_dates(name, raw)
    text = raw.dtype.kind in "OUS"
    if isinstance(raw, _Booleans) or raw.dtype.kind == "b":
        return _TRUTH
    if not text and not asked:
        return None
    known = [value for value in raw.tolist() if not _is_missing(value)]
    odd = [
        value for value in known if not isinstance(value, str | bytes | int | float | np.generic)
    ]
    if odd and not isinstance(raw, _Categories):
        raise TypeError(
            f"column {name!r} of `X` must hold numbers or categories; it holds "
            f"{type(odd[0]).__name__} objects. Encode them, or convert them to text."
        )
    if asked is not True and text and all(_is_number(value) for value in known):
        return None  # numbers stored as objects
    levels = {_level(value) for value in known}
    is_text = text and not isinstance(raw, _Categories) and asked is not True
    if is_text and len(levels) > min(_MOST_LEVELS, max(20, len(raw) // 4)):
        example = next(iter(known))
        raise TypeError(
            f"column {name!r} of `X` must hold numbers or categories; it holds text, "
            f"{len(levels)} distinct values such as {str(example)[:40]!r}. Encode it (for example "
            "with sklearn's TfidfVectorizer), drop it, or list it in categorical=[…]."
        )
    return tuple(sorted(levels))


def _refuse_dates(name: str, raw: np.ndarray) -> None:
    if raw.dtype.kind in "mM":
        raise TypeError(
            f"column {name!r} of `X` must hold numbers or categories; it holds dates. Encode them, "
            "for example as days since a start, or as separate columns of month and year."
        )


def _level(value: Any) -> str:
    """Categories are compared as text: 3 and 3.0 are the same."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA
        return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def unseen_levels(column: Column, raw: Iterable[Any]) -> list[str]:
    """Categories that were not in the fit, in order of appearance."""
    known = set(column.levels or ())
    found = dict.fromkeys(_level_in(column, value) for value in raw if not _is_missing(value))
    return [level for level in found if level not in known]


def _level_in(column: Column, value: Any) -> str:
    level = _level(value)
    if column.levels == _TRUTH and level in ("0", "1"):
        level = str(level == "1")  # as in files
    return level


def _encode(column: Column, raw: np.ndarray, unseen: str) -> np.ndarray:
    _refuse_dates(column.name, raw)
    if column.levels is None:
        return _numbers(column.name, raw)
    place = {level: k for k, level in enumerate(column.levels)}
    codes = np.full(len(raw), np.nan)
    for row, value in enumerate(raw.tolist()):
        if _is_missing(value):
            continue
        level = _level_in(column, value)
        if level in place:
            codes[row] = place[level]
        elif unseen == "error":
            raise ValueError(
                f"column {column.name!r} of `X` must hold categories seen in fit; row {row} holds "
                f"{value!r}. Pass unseen_categories='missing' to treat it as missing."
            )
    return codes


def _numbers(name: str, raw: np.ndarray) -> np.ndarray:
    try:
        if raw.dtype.kind == "O":
            raw = np.array([np.nan if _is_missing(v) else v for v in raw.tolist()])
        return raw.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"column {name!r} of `X` must hold numbers as in fit; got {raw.dtype}."
        ) from None


def _read_sparse(X: Any, categorical: str | Sequence[Any]) -> Table:
    if not isinstance(categorical, str) and len(categorical):
        raise ValueError("`categorical` must be empty for a sparse X. Pass a data frame.")
    values = _read_csr(X)
    return Table(values, tuple(Column(f"column {k}") for k in range(X.shape[1])))


# -- checks ------------------------------------------------------------------------------------
def _check_columns(table: Table) -> None:
    if not table.columns:
        raise ValueError(
            f"`X` must have columns: Found array with 0 feature(s) (shape={table.shape}) while a "
            "minimum of 1 is required."
        )
    if len(set(table.names)) < len(table.names):
        twice = next(name for name in table.names if table.names.count(name) > 1)
        raise ValueError(f"`X` must have distinct column names; {twice!r} occurs twice.")
    if not len(table.values):
        raise ValueError("`X` must have rows: Found array with 0 sample(s).")
    _check_infinite(table)
    low, high = np.fmin.reduce(table.values), np.fmax.reduce(table.values)  # NaN if all missing
    flat = np.flatnonzero(~(low < high))
    if len(flat) and len(table.values) > 1:
        some = ", ".join(repr(table.names[k]) for k in flat[:5])
        more = f" and {len(flat) - 5} more." if len(flat) > 5 else "."
        warn_caller(f"`X` has constant columns, which are not used: {some}{more}")


def _check_infinite(table: Table) -> None:
    infinite = np.isinf(table.values)
    if infinite.any():
        row, column = (int(k) for k in np.argwhere(infinite)[0])
        raise ValueError(
            f"`X` must be finite or missing: it contains inf (infinity) at row {row}, column "
            f"{table.names[column]!r}. Mark infinite values as missing (NaN)."
        )


def _read_csr(X: Any) -> sp.csr_matrix:
    """A matrix of finite numbers; not an array, because LightGBM only accepts matrices."""
    values = sp.csr_matrix(check_sparse("X", X), dtype=np.float64)
    if not np.isfinite(values.data).all():
        place = int(np.argmax(~np.isfinite(values.data)))
        row = int(np.searchsorted(values.indptr, place, side="right")) - 1
        raise ValueError(
            f"`X` must be finite where it is sparse: it contains NaN or inf at row {row}, column "
            f"{values.indices[place]}."
        )
    return values


def _check_width(width: int, names: list[str], fitted: Table) -> None:
    if names:
        missing = [name for name in fitted.names if name not in names]
        if missing:
            raise ValueError(
                f"`X` must have the columns of the fit; {missing[0]!r} is missing"
                + (f" (and {len(missing) - 1} more)." if len(missing) > 1 else ".")
            )
        extra = [name for name in names if name not in fitted.names]
        if extra:
            raise ValueError(
                f"`X` must have the columns of the fit and no others; got {extra[0]!r}. Drop it."
            )
    if width != len(fitted.columns):
        raise ValueError(
            f"`X` must have {len(fitted.columns)} columns as in fit; got {width}: X has {width} "
            f"features, but GraphBoosting is expecting {len(fitted.columns)} features as input."
        )
