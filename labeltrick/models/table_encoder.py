"""Tables of numbers, categories, text and dates as numeric matrices."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from .._utils.checks import check_choice
from .auto.columns import Signal
from .base.tables import Table, read_again, read_table
from .base.word_columns import MOST_COMPONENTS, WordColumns


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode a table of numbers, categories, text and dates as a numeric matrix.

    For estimators that take numbers only, such as `SGC`, `SIGN`, `TWIRLS` and
    `LabelFeatureRegression`. `GraphBoosting` and `AutoModel` encode tables themselves.

    What a column holds is decided by its type, and for strings by their content, in this order:
    dates if all values are dates such as 2024-12-31; categories if there are at most 20 different
    values, or at most 1,000 and a quarter of the rows; text if values have two words or more on
    average. Anything else (ids, hashes, addresses) is an error that names the column.

    - Numbers: missing values are replaced by the mean, with a column that marks them.
    - Categories and booleans: one column for each of the most frequent levels.
    - Text: TF-IDF with sublinear counts, as in scikit-learn. A word must occur in two rows, and at
      most 20,000 words are kept. With many words, their first singular vectors are used.
    - Dates: year, month, day of the week (Monday is 0), hour, and the age in days before the latest
      date of the fit. Parts that are the same in all rows of the fit are left out.

    The encoding does not use labels, so it may be fitted to all nodes, labeled or not.

    Parameters
    ----------
    categorical : "auto" or list of str or int, default="auto"
        Names or positions of the categorical columns. "auto" chooses them as described above.
    unseen_categories : {"missing", "error"}, default="missing"
        Whether categories that did not occur in the fit count as missing, or are an error.
    max_levels : int, default=12
        Number of levels per category that get a column.
    n_components : int, default=64
        Columns per column of text at most. With more than four columns of text, each gets fewer.
        Not used if ``sparse_output`` is True.
    sparse_output : bool, default=False
        Whether to return a sparse matrix with one column per word instead of singular vectors, for
        estimators that are efficient on sparse features.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, if they are all strings.

    See Also
    --------
    GraphBoosting : Boosted trees on such tables.
    AutoModel : Chooses and blends models for such tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from labeltrick import TableEncoder
    >>> table = pd.DataFrame({
    ...     "pages": [10, None, 30],
    ...     "kind": ["book", "film", "book"],
    ...     "seen": pd.to_datetime(["2024-01-01", "2024-01-31", "2024-02-01"]),
    ... })
    >>> encoder = TableEncoder().set_output(transform="pandas").fit(table)
    >>> encoder.transform(table).T  # doctest: +NORMALIZE_WHITESPACE
                           0     1     2
    pages               10.0  20.0  30.0
    seen: age in days   31.0   1.0   0.0
    seen: month          1.0   1.0   2.0
    seen: day of week    0.0   2.0   3.0
    pages missing        0.0   1.0   0.0
    kind=book            1.0   0.0   1.0
    kind=film            0.0   1.0   0.0

    Texts become words:

    >>> titles = pd.DataFrame({"title": [f"a {kind} story, part {k}"
    ...                                  for k in range(30) for kind in ("sad", "long")]})
    >>> encoder = TableEncoder(sparse_output=True).fit(titles)
    >>> encoder.get_feature_names_out()[-4:].tolist()
    ['title: long', 'title: part', 'title: sad', 'title: story']
    """

    n_features_in_: int

    def __init__(
        self,
        *,
        categorical: Any = "auto",
        unseen_categories: str = "missing",
        max_levels: int = 12,
        n_components: int = MOST_COMPONENTS,
        sparse_output: bool = False,
    ) -> None:
        self.categorical = categorical
        self.unseen_categories = unseen_categories
        self.max_levels = max_levels
        self.n_components = n_components
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Choose the columns.

        Parameters
        ----------
        X : pandas or polars DataFrame, or array of shape (n, p)
            The table.
        y : None, default=None
            Not used.

        Returns
        -------
        TableEncoder
            The fitted encoder.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Choose the columns and encode the table.

        Parameters
        ----------
        X : pandas or polars DataFrame, or array of shape (n, p)
            The table.
        y : None, default=None
            Not used.
        **options : dict
            Not used.

        Returns
        -------
        ndarray, DataFrame or sparse matrix of shape (n, n_columns)
            The numbers; see `transform`.
        """
        return self._encoded(self._fit(X))

    def transform(self, X: Any) -> Any:
        """Encode other rows of the same columns.

        Parameters
        ----------
        X : pandas or polars DataFrame, or array of shape (n, p)
            The table. Columns are matched by name, if they have names.

        Returns
        -------
        ndarray, DataFrame or sparse matrix of shape (n, n_columns)
            The numbers, without missing values. A data frame if ``set_output`` asked for one, and a
            sparse matrix if ``sparse_output`` is True.
        """
        check_is_fitted(self)
        _refuse_sparse(X)
        return self._encoded(read_again(X, self._table, self.unseen_categories))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns.

        Parameters
        ----------
        input_features : None, default=None
            Not used.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        names = list(self._signal.names)
        if self._table.texts_as == "sparse":
            for column in self._table.given:
                names += column.names if isinstance(column, WordColumns) else []
        return np.array(names, dtype=object)

    def _fit(self, X: Any) -> Table:
        check_choice("unseen_categories", self.unseen_categories, ("missing", "error"))
        for name in ("max_levels", "n_components"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ValueError(f"`{name}` must be a positive integer; got {value!r}.")
        _refuse_sparse(X)
        texts_as = "sparse" if self.sparse_output else "components"
        table = read_table(X, self.categorical, texts_as, int(self.n_components))
        _check_feature_names(self, X, reset=True)
        self.n_features_in_ = len(table.given)
        self._signal = Signal.of(table, 0, reduce=False, most_levels=int(self.max_levels))
        self._table = Table(table.values[:0], *_without_values(table))
        return table

    def _encoded(self, table: Table) -> Any:
        values = self._signal.values(table, np.float64)
        if not self.sparse_output:
            return values
        parts = [sp.csr_matrix(values)] + ([] if table.words is None else [table.words])
        return sp.hstack(parts, "csr")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _without_values(table: Table) -> tuple[Any, ...]:
    """The columns of a table as arguments of another; rows of the fit are not kept."""
    return table.columns, table.named, table.given, table.texts_as


def _refuse_sparse(X: Any) -> None:
    if sp.issparse(X):
        raise TypeError(
            "`X` must be a data frame or an array; got a sparse matrix, which holds only numbers. "
            "Pass it to the estimator as it is. (Sparse data was passed, but dense data is "
            "required.)"
        )
