"""Labels of pandas and polars as arrays in which every class keeps its value."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import as_numpy


def label_array(name: str, value: Any) -> np.ndarray:
    """A NumPy array. Columns with missing values become objects with None where pandas and polars
    would turn integers and booleans into floats: 1 must not become 1.0."""
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        names = list(range(value.shape[1]))
        columns = [value.iloc[:, k] if hasattr(value, "iloc") else value[:, k] for k in names]
        if any(_has_gaps(column) for column in columns):
            if len(columns) == 1:
                return label_array(name, columns[0])[:, None]
            return as_numpy(name, np.column_stack([_objects(column) for column in columns]))
    elif _has_gaps(value):
        return _objects(value)
    return as_numpy(name, value)


def whole_numbers(labels: np.ndarray, missing: np.ndarray) -> bool:
    """Whether objects are integers where they are not missing."""
    return labels.dtype == object and all(
        isinstance(value, int | np.integer) and not isinstance(value, bool)
        for value in labels[~missing].ravel().tolist()
    )


def _has_gaps(value: Any) -> bool:
    """Whether it is a series of pandas or polars with missing values that are not floats."""
    if hasattr(value, "null_count") and hasattr(value, "to_list"):  # polars
        return bool(value.null_count()) and not value.dtype.is_float()
    if not (hasattr(value, "iloc") and hasattr(value, "isna")):
        return False
    plain = isinstance(value.dtype, np.dtype)
    return not plain and bool(value.isna().any())


def _objects(column: Any) -> np.ndarray:
    found = np.empty(len(column), dtype=object)
    if hasattr(column, "isna"):
        found[:] = column.astype(object).tolist()
        found[column.isna().to_numpy(dtype=bool)] = None
    else:
        found[:] = column.to_list()
    return found
