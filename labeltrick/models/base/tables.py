"""Tables of mixed columns for trees: numbers, categories as numbers, the columns of texts and
dates, missing values as NaN."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._utils.checks import warn_caller
from ..._utils.texts import CODES, TEXT, what_strings_hold
from .date_columns import DateColumns
from .raw_columns import (
    Booleans,
    Categories,
    date_of_either_order,
    dates_in,
    dates_of_texts,
    is_missing,
    is_number,
    level_of,
    split_columns,
    texts_of,
)
from .table_checks import check_columns, check_infinite, check_width, read_csr
from .word_columns import MOST_COMPONENTS, WordColumns, learn_words

_OF_ALL_TEXTS, _FEWEST_COMPONENTS = 256, 8  # columns of all texts, and the fewest of each
_TRUTH = ("False", "True")


@dataclass(frozen=True)
class Column:
    """One column of a table: its name, and its levels in ascending order if it is categorical."""

    name: str
    levels: tuple[Any, ...] | None = None

    @property
    def is_categorical(self) -> bool:
        return self.levels is not None


Given = Column | DateColumns | WordColumns


@dataclass(frozen=True)
class Table:
    """Numbers of a table, dense (NaN where missing) or sparse, and its columns.

    Categories are stored as the numbers of their levels. Texts and dates become several columns.
    With ``texts_as="sparse"``, texts are in ``words`` instead of columns.
    """

    values: Any
    columns: tuple[Column, ...]
    named: bool = False  # by the caller; otherwise columns are matched by position
    given: tuple[Column | DateColumns | WordColumns, ...] = ()  # before texts and dates are encoded
    texts_as: str = "components"
    words: Any = None  # the weighted words of all texts, sparse

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def given_names(self) -> list[str]:
        return [column.name for column in self.given]

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


def read_table(
    X: Any,
    categorical: str | Sequence[Any] = "auto",
    texts_as: str = "components",
    most_components: int = MOST_COMPONENTS,
) -> Table:
    """Read a data frame (pandas, polars), an array or a sparse matrix.

    ``categorical`` lists names or positions of the columns that hold categories; "auto" means those
    of a categorical or boolean type and strings with few different values (`what_strings_hold`).
    """
    if sp.issparse(X):
        return _read_sparse(X, categorical)
    names, columns = split_columns(X)
    chosen = _chosen(categorical, names)
    asked = [None if chosen is None else place in chosen for place in range(len(names))]
    held = [_held(*column) for column in zip(names, columns, asked, strict=True)]
    n_texts = sum(isinstance(kind, str) for kind in held)
    n_components = None if texts_as == "sparse" else components_per_text(n_texts, most_components)
    found = [
        _found(name, raw, kind, n_components)
        for name, raw, kind in zip(names, columns, held, strict=True)
    ]
    given = tuple(column for column, _ in found)
    table = _table(given, [values for _, values in found], hasattr(X, "columns"), texts_as)
    check_columns(table)
    return table


def components_per_text(n_texts: int, most: int = MOST_COMPONENTS) -> int:
    """The most columns that each of so many columns of text becomes."""
    return min(most, max(_FEWEST_COMPONENTS, _OF_ALL_TEXTS // max(1, n_texts)))


def read_again(X: Any, fitted: Table, unseen: str = "error") -> Table:
    """Read the same columns of other rows.

    ``unseen``: categories that were not in the fit are an "error" or count as "missing".
    """
    if sp.issparse(X):
        if fitted.categorical or not all(isinstance(one, Column) for one in fitted.given):
            raise TypeError(
                "`X` must be a data frame or an array, as in fit, where it had categories, text or "
                "dates; got a sparse matrix."
            )
        check_width(X.shape[1], [], fitted)
        return Table(read_csr(X), fitted.columns, False, fitted.given)
    names, columns = split_columns(X)
    named = hasattr(X, "columns") and fitted.named
    check_width(len(columns), names if named else [], fitted)
    at = dict(zip(names, columns, strict=True))
    order = [at[name] for name in fitted.given_names] if named else columns
    values = [_encode(column, raw, unseen) for column, raw in zip(fitted.given, order, strict=True)]
    table = _table(fitted.given, values, fitted.named, fitted.texts_as)
    check_infinite(table)
    return table


def _table(given: tuple[Given, ...], values: list[Any], named: bool, texts_as: str) -> Table:
    """A table of the given columns, some of which become several; those of texts are words."""
    columns: list[Column] = []
    dense, words = [], []
    for column, found in zip(given, values, strict=True):
        if isinstance(column, WordColumns):
            words.append(found)
            if texts_as == "sparse":
                continue
            found = column.dense(found)
        if isinstance(column, Column):
            columns.append(column)
        else:
            columns += [Column(name) for name in column.names]
        dense.append(found)
    n = values[0].shape[0] if values else 0
    joined = np.column_stack(dense) if dense else np.zeros((n, 0))
    kept = sp.hstack(words, "csr") if words and texts_as != "components" else None
    return Table(joined, tuple(columns), named, given, texts_as, kept)


# -- reading -----------------------------------------------------------------------------------
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


def _held(name: str, raw: np.ndarray, asked: bool | None) -> Any:
    """What a column holds: an array of dates, a tuple of levels, `TEXT`, or None for numbers."""
    dates = None if asked else dates_in(raw)
    either = None if dates is None else date_of_either_order(raw)
    if either is not None:
        warn_caller(
            f"dates of column {name!r} of `X`, such as {either!r}, are read as month/day/year, but "
            "all could be day/month/year. If they are, convert them first, for example with "
            "pandas.to_datetime(…, dayfirst=True)."
        )
    return _levels(name, raw, asked) if dates is None else dates


def _found(
    name: str, raw: np.ndarray, held: Any, n_components: int | None
) -> tuple[Given, np.ndarray | sp.csr_matrix]:
    """The column, and its numbers or words."""
    if isinstance(held, np.ndarray):
        made = DateColumns.of(name, held)
        return made, made.values(held)
    if isinstance(held, str):
        words, values = learn_words(name, texts_of(raw.tolist()), n_components)
        if not words.width:
            warn_caller(
                f"column {name!r} of `X` holds text in which no word occurs in two rows; it is "
                "not used."
            )
        return words, values
    column = Column(name, held)
    return column, _encode(column, raw, "error")


def _levels(name: str, raw: np.ndarray, asked: bool | None) -> tuple[Any, ...] | str | None:
    """Levels of a categorical column; `TEXT` for text, None for numbers."""
    text = raw.dtype.kind in "OUS"
    if isinstance(raw, Booleans) or raw.dtype.kind == "b":
        return _TRUTH
    if not text and not asked:
        return None
    known = [value for value in raw.tolist() if not is_missing(value)]
    odd = [
        value for value in known if not isinstance(value, str | bytes | int | float | np.generic)
    ]
    if odd and not isinstance(raw, Categories):
        raise TypeError(
            f"column {name!r} of `X` must hold numbers, categories, text or dates; it holds "
            f"{type(odd[0]).__name__} objects. Encode them, or convert them to text."
        )
    numbers = text and all(is_number(value) for value in known)
    if numbers and asked is not True and not isinstance(raw, Categories):
        return None  # numbers stored as objects
    levels = tuple(sorted({level_of(value) for value in known}))
    if not text or isinstance(raw, Categories) or asked is True:
        return levels
    held = _what_texts_hold(raw)
    if held == CODES:
        raise TypeError(
            f"column {name!r} of `X` must hold numbers, categories, text or dates; it holds "
            f"codes, {len(levels)} distinct values such as {str(known[0])[:40]!r}. Drop it, or "
            "list it in categorical=[…]."
        )
    return TEXT if held == TEXT else levels


def _what_texts_hold(raw: np.ndarray) -> str:
    import polars as pl

    return what_strings_hold(pl.Series(texts_of(raw.tolist()), dtype=pl.String))


def unseen_levels(column: Column, raw: Iterable[Any]) -> list[str]:
    """Categories that were not in the fit, in order of appearance."""
    known = set(column.levels or ())
    found = dict.fromkeys(_level_in(column, value) for value in raw if not is_missing(value))
    return [level for level in found if level not in known]


def _level_in(column: Column, value: Any) -> str:
    level = level_of(value)
    if column.levels == _TRUTH and level in ("0", "1"):
        level = str(level == "1")  # as in files
    return level


def _encode(column: Given, raw: np.ndarray, unseen: str) -> np.ndarray | sp.csr_matrix:
    if isinstance(column, WordColumns):
        return column.words(texts_of(raw.tolist()))
    if isinstance(column, DateColumns):
        return column.values(_dates(column.name, raw))
    if column.levels is None:
        return _numbers(column.name, raw)
    place = {level: k for k, level in enumerate(column.levels)}
    codes = np.full(len(raw), np.nan)
    for row, value in enumerate(raw.tolist()):
        if is_missing(value):
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


def _dates(name: str, raw: np.ndarray) -> np.ndarray:
    """The dates of a column that held dates in fit."""
    missing = [is_missing(value) for value in raw.tolist()]
    if all(missing):
        return np.full(len(raw), np.datetime64("NaT", "us"))
    read = dates_of_texts if isinstance(raw, Categories) else dates_in
    found = read(raw)
    if found is None:
        known = [k for k, gap in enumerate(missing) if not gap]
        odd = [k for k in known if not _is_date(raw[k])]
        alike = "" if odd else ", all in one format"
        # If each is a date, their formats differ: name the first that is not like the first one.
        row = odd[0] if odd else next(k for k in known if read(raw[[known[0], k]]) is None)
        raise ValueError(
            f"column {name!r} of `X` must hold dates as in fit{alike}; row {row} holds "
            f"{raw[row]!r}. Write dates as 2024-12-31."
        )
    return found


def _is_date(value: Any) -> bool:
    return isinstance(value, date) or (
        isinstance(value, str) and dates_of_texts([value]) is not None
    )


def _numbers(name: str, raw: np.ndarray) -> np.ndarray:
    try:
        if raw.dtype.kind == "O":
            raw = np.array([np.nan if is_missing(v) else v for v in raw.tolist()])
        return raw.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"column {name!r} of `X` must hold numbers as in fit; got {raw.dtype}."
        ) from None


def _read_sparse(X: Any, categorical: str | Sequence[Any]) -> Table:
    if not isinstance(categorical, str) and len(categorical):
        raise ValueError("`categorical` must be empty for a sparse X. Pass a data frame.")
    values = read_csr(X)
    columns = tuple(Column(f"column {k}") for k in range(X.shape[1]))
    return Table(values, columns, given=columns)
