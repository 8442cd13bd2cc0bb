"""Checks of tables, and their error texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..._utils.checks import warn_caller
from ..._utils.frame_columns import check_same_columns
from ..._utils.sparse_checks import check_sparse
from .word_columns import WordColumns

if TYPE_CHECKING:
    from .tables import Table


def check_columns(table: Table) -> None:
    if not table.columns and table.words is None:
        raise ValueError(
            f"`X` must have columns: Found array with 0 feature(s) (shape={table.shape}) while a "
            "minimum of 1 is required."
        )
    names = table.given_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"`X` must have distinct column names; {twice!r} occurs twice.")
    if not len(table.values):
        raise ValueError("`X` must have rows: Found array with 0 sample(s).")
    check_infinite(table)
    low, high = np.fmin.reduce(table.values), np.fmax.reduce(table.values)  # NaN if all missing
    of_texts = {name for column in table.given if isinstance(column, WordColumns)
                for name in column.names}  # fmt: skip
    # A word that is in every text is nothing to correct.
    flat = [k for k in np.flatnonzero(~(low < high)) if table.names[k] not in of_texts]
    if len(flat) and len(table.values) > 1:
        some = ", ".join(repr(table.names[k]) for k in flat[:5])
        more = f" and {len(flat) - 5} more." if len(flat) > 5 else "."
        warn_caller(f"`X` has constant columns, which are not used: {some}{more}")


def check_infinite(table: Table) -> None:
    infinite = np.isinf(table.values)
    if infinite.any():
        row, column = (int(k) for k in np.argwhere(infinite)[0])
        raise ValueError(
            f"`X` must be finite or missing: it contains inf (infinity) at row {row}, column "
            f"{table.names[column]!r}. Mark infinite values as missing (NaN)."
        )


def read_csr(X: Any) -> sp.csr_matrix:
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


def check_width(width: int, names: list[str], fitted: Table) -> None:
    if names:
        check_same_columns(names, fitted.given_names)
    if width != len(fitted.given):
        raise ValueError(
            f"`X` must have {len(fitted.given)} columns as in fit; got {width}: X has {width} "
            f"features, but GraphBoosting is expecting {len(fitted.given)} features as input."
        )
