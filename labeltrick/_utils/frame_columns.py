"""Columns of data frames for estimators that take numbers: their names, order and types."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np

_ADVICE = (
    "Encode the table first, for example with TableEncoder().set_output(transform='pandas'), or "
    "use AutoModel or GraphBoosting, which take such columns."
)
_SHOWN = 5  # columns that a message names


def in_columns_of_fit(estimator: Any, X: Any, *, reset: bool) -> Any:
    """``X`` with its columns in the order of the fit, if both are data frames.

    ``reset`` stores the names in the estimator instead. Names that are not texts are compared as
    texts.
    """
    names = None
    if is_frame(X):
        names = [str(name) for name in X.columns]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"`X` must have distinct column names; {twice!r} occurs twice.")
    if reset:
        estimator._columns_in = names
        return X
    wanted = getattr(estimator, "_columns_in", None)
    if names is None or wanted is None or names == wanted:
        return X
    check_same_columns(names, wanted)
    places = [names.index(name) for name in wanted]
    return X.iloc[:, places] if hasattr(X, "iloc") else X.select(wanted)


def is_frame(X: Any) -> bool:
    """Whether it is a data frame of pandas or polars."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_columns"))


def check_same_columns(names: list[str], wanted: list[str]) -> None:
    """Refuse columns that are not those of the fit, in any order."""
    missing = [name for name in wanted if name not in names]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise ValueError(
            f"`X` must have the columns of the fit; {missing[0]!r} is missing{more}. It has: "
            f"{', '.join(map(repr, names[:10]))}{', …' if len(names) > 10 else ''}."
        )
    extra = [name for name in names if name not in wanted]
    if extra:
        raise ValueError(
            f"`X` must have the columns of the fit and no others; got {extra[0]!r}. Drop it."
        )


def check_numbers(X: Any, user: str) -> None:
    """Refuse columns of texts, categories, dates or durations; ``user`` takes numbers only."""
    odd = not_numeric(X)
    if odd is not None:
        raise TypeError(f"`X` must hold numbers for {user}; {odd}. {_ADVICE}")


def refused_by_base(user: str, X: Any, error: Exception) -> TypeError | None:
    """An explanation of a base model's error, if ``X`` has columns that are not numbers."""
    odd = not_numeric(X)
    if odd is None:
        return None
    reason = next(iter(str(error).splitlines()), "")[:120]
    return TypeError(
        f"`X` must hold what {user} takes; {odd}, and it says: {reason}. Use a pipeline as base, "
        "for example sklearn.pipeline.make_pipeline(TableEncoder(), SimpleImputer(), base)."
    )


def not_numeric(X: Any) -> str | None:
    """The columns that do not hold numbers, and what they hold, in words; None if all do."""
    if hasattr(X, "get_columns"):  # polars
        columns = ((name, _in_polars(X[name])) for name in X.columns)
    elif is_frame(X):
        columns = ((name, _in_pandas(X.iloc[:, k])) for k, name in enumerate(X.columns))
    else:
        array = X if isinstance(X, np.ndarray) else np.asarray(X, object)
        if array.ndim != 2 or array.dtype.kind not in "OUSMm":
            return None
        columns = ((k, _in_array(array[:, k])) for k in range(array.shape[1]))
    odd = [f"column {name!r} holds {what}" for name, what in columns if what is not None]
    if len(odd) > _SHOWN:
        n_more = len(odd) - _SHOWN
        what = "1 more column holds" if n_more == 1 else f"{n_more} more columns hold"
        odd = [*odd[:_SHOWN], f"{what} no numbers"]
    *first, last = odd or [""]
    return f"{', '.join(first)} and {last}" if first else last or None


def _in_polars(series: Any) -> str | None:
    import polars as pl

    kind = series.dtype
    if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
        return None
    if isinstance(kind, pl.Categorical | pl.Enum):
        return "categories"
    if kind.is_temporal():
        return "durations" if kind == pl.Duration else "dates or times"
    return _in_values(series.to_list()) or (None if kind == pl.Object else f"values of type {kind}")


def _in_pandas(series: Any) -> str | None:
    kind = getattr(series.dtype, "kind", "O")
    if kind in "biufc":
        return None
    if kind in "Mm":
        return "dates or times" if kind == "M" else "durations"
    if type(series.dtype).__name__ == "CategoricalDtype":
        return "categories"
    return _in_values(series.tolist())


def _in_array(column: np.ndarray) -> str | None:
    if column.dtype.kind in "Mm":
        return "dates or times" if column.dtype.kind == "M" else "durations"
    # NumPy and scikit-learn read numbers that are written as texts.
    return _in_values([v for v in column.tolist() if not (isinstance(v, str) and _is_written(v))])


def _in_values(values: list[Any]) -> str | None:
    for value in values:
        if isinstance(value, str | bytes):
            return f"texts such as {str(value)[:40]!r}"
        if isinstance(value, date | time | timedelta) and value == value:
            return "durations" if isinstance(value, timedelta) else "dates or times"
    return None


def _is_written(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
