"""Estimators of numeric features on tables with categories and missing values."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from ..base.tables import Table, read_again, read_table
from .columns import Signal


class OnTable:
    """Wraps an estimator and converts tables to numbers: missing values are filled by the mean and
    flagged, and categories become indicator columns. The conversion is chosen in `fit`.

    All other attributes are those of the estimator.
    """

    features_: Table | None

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any, **options: Any) -> OnTable:
        self.features_, self._signal = None, None
        if X is not None and not sp.issparse(X):
            self.features_ = read_table(X, "auto")
            self._signal = Signal.of(self.features_, 0)
        self.model.fit(self._numbers(X), y, **options)
        return self

    def _numbers(self, X: Any) -> Any:
        if self._signal is None or X is None:
            return X
        assert self.features_ is not None
        return self._signal.values(read_again(X, self.features_, "missing"))

    def predict(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        return self.model.predict(self._numbers(X), y, **options)

    def predict_proba(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        return self.model.predict_proba(self._numbers(X), y, **options)

    def predict_interval(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        return self.model.predict_interval(self._numbers(X), y, **options)

    def inputs_of(self, X: Any, y: Any, graph: Any) -> Any:
        return self.model.inputs_of(self._numbers(X), y, graph)

    def __getattr__(self, name: str) -> Any:
        # Not while it is being read from a file.
        if "model" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["model"], name)
