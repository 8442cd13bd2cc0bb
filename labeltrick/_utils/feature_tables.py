"""Checks the features of nodes and scales them for training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .frame_columns import check_numbers, in_columns_of_fit
from .sparse_checks import check_sparse

_LARGEST = 1e15  # squares and sums of these numbers still fit in float32
SCALES = ("auto", "columns", "global", False)
_AT_ONCE = 256 * 2**20  # bytes of a table that is processed in one piece
DENSE_SHARE = 0.05  # share of nonzero entries beyond which a dense product is faster
_FARTHEST = 100.0  # largest |mean| in units of the spread; subtracting more would lose digits


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """``X`` as a dense array or CSR matrix of finite floats, one row per node.

    ``reset`` stores the number and names of the columns in the estimator, like scikit-learn;
    otherwise they must be the same as in fit. Columns of data frames may be in any order.
    """
    from sklearn.utils.validation import validate_data

    name = type(estimator).__name__
    if X is None:
        raise ValueError(
            f"`X` must be given: {name} learns from features; got None. Without features "
            "use TrainableLabelPropagation."
        )
    if sp.issparse(X):
        check_sparse("X", X)
    else:
        X = in_columns_of_fit(estimator, X, reset=reset)
        check_numbers(X, name)
    dtypes = (np.float64, np.float32)  # what is neither becomes the first: 2²⁴ + 1 stays itself
    options: dict[str, Any] = {"accept_sparse": "csr", "dtype": dtypes, "reset": reset}
    checked = validate_data(estimator, X, ensure_all_finite=False, **options)
    _check_finite(checked, getattr(estimator, "feature_names_in_", None))
    return checked


def _check_finite(X: Any, names: Any) -> None:
    values = X.data if sp.issparse(X) else X
    if np.isfinite(values).all():
        if np.abs(values).max(initial=0.0) > _LARGEST:
            raise ValueError(
                f"`X` must hold numbers below {_LARGEST:g} in size; got larger ones. Rescale them."
            )
        return
    if sp.issparse(X):
        place = int(np.argmax(~np.isfinite(X.data)))
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, X.indices[place]
    else:
        row, column = (int(k) for k in np.argwhere(~np.isfinite(X))[0])
    what = "NaN" if np.isnan(values).any() else "inf (infinity)"
    where = f"column {column}" if names is None else f"column {names[column]!r}"
    raise ValueError(
        f"`X` must be finite: it contains {what}, first at row {row}, {where}. Fill these values "
        "first, for example with sklearn.impute.SimpleImputer."
    )


@dataclass(frozen=True)
class FeatureScale:
    """Shift and scale of each column, so that the same training steps suit all columns."""

    center: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, Z: Any, how: str | bool) -> FeatureScale:
        """Columns of mean 0, each divided by its own standard deviation ("columns"; constant
        columns become 0) or all by one number ("global"; keeps rare words small), or unchanged
        columns (False)."""
        width = Z.shape[1]
        if how is False:
            return cls(np.zeros(width, np.float32), np.ones(width, np.float32))
        center = np.asarray(Z.mean(axis=0, dtype=np.float64)).ravel()
        spread = _spread_of(Z, center)
        if how == "global":
            size = np.sqrt(np.mean(spread**2)) or 1.0
            return cls(center.astype(np.float32), np.full(width, size, np.float32))
        # Columns that are constant up to rounding carry no information: do not amplify them.
        flat = spread <= 1e-6 * np.abs(center)
        return cls(center.astype(np.float32), np.where(flat, np.inf, spread).astype(np.float32))

    def apply(self, Z: np.ndarray) -> np.ndarray:
        return ((Z - self.center) / self.spread).astype(np.float32)


def _spread_of(Z: Any, center: np.ndarray) -> np.ndarray:
    """Standard deviation of each column; a large table is processed some rows at a time."""
    if sp.issparse(Z):
        from sklearn.utils.sparsefuncs import mean_variance_axis

        summed = sp.csr_array(Z, dtype=np.float64, copy=True)
        summed.sum_duplicates()
        return np.sqrt(mean_variance_axis(summed, axis=0)[1])
    if Z.nbytes <= _AT_ONCE:
        return Z.std(axis=0, dtype=np.float64)
    step = max(1, _AT_ONCE // 8 // Z.shape[1])
    squares = sum(
        np.square(Z[first : first + step] - center).sum(axis=0) for first in range(0, len(Z), step)
    )
    return np.sqrt(squares / len(Z))


@dataclass(frozen=True)
class SparseTable:
    """Scaled features that stay sparse: each row represents ``X[row] − center``."""

    X: sp.csr_array
    center: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def __len__(self) -> int:
        return self.X.shape[0]

    def __getitem__(self, rows: Any) -> SparseTable:
        """Select rows by a slice, an array or a tensor of numbers."""
        return replace(self, X=self.X[rows if isinstance(rows, slice) else np.asarray(rows)])

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        return self.X @ weights - self.center @ weights

    def thinned(self, share: float, rng: np.random.Generator) -> SparseTable:
        """Dropout: a random share of the entries becomes zero, and the others grow accordingly."""
        kept = self.X.copy()
        kept.data = np.where(rng.random(kept.nnz, np.float32) < share, 0, kept.data / (1 - share))
        return replace(self, X=kept)


def scaled_sparse(X: Any, scale: FeatureScale, most: float | None = None) -> SparseTable | None:
    """Scaled features that stay sparse; None if their share of nonzero entries exceeds ``most``,
    or if columns have their own scales."""
    most = DENSE_SHARE if most is None else most
    size = scale.spread[0] if len(scale.spread) else np.float32(1)
    together = np.all(scale.spread == size)
    near = np.abs(scale.center).max(initial=0.0) <= _FARTHEST * size
    if not (together and near) or X.nnz > most * X.shape[0] * X.shape[1]:
        return None
    return SparseTable(sp.csr_array((X / size).astype(np.float32)), scale.center / size)


def settle_scale(how: str | bool, X: Any) -> str | bool:
    """Resolve "auto": sparse features (words) are scaled together, tables column by column."""
    if how != "auto":
        return how
    return "global" if sp.issparse(X) else "columns"
