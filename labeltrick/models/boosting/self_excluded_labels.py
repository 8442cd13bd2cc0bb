"""`SelfExcludedLabels`: labels of other nodes as columns, for any scikit-learn model."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import check_choice, check_count, check_flag, check_number
from ..._utils.progress import Progress
from ..._utils.sparse_checks import check_sparse
from ..._utils.targets import Targets, TargetScale, encode_targets
from ...graph.graph import Graph
from ..base.node_inputs import n_rows
from .node_columns import LabelColumns, output_names


class SelfExcludedLabels(TransformerMixin, BaseEstimator):
    """Adds what each row's node sees of the labels of others, for a Pipeline with any model.

    `fit_transform` gives training rows columns without their own label: a model trained on them
    learns what neighbors' labels tell, not to copy the answer. `transform` gives other rows the
    plain columns: all training labels. Columns: mean label 1, …, ``n_hops`` steps away, one by the
    resolvent, how many labels were seen, the degree. NaN where no label was seen, unless
    ``fill`` says what to put there.

    Rows are nodes: those of a data frame are told by its index (numbers of nodes), as it is after
    scikit-learn's splits; those of an array by the column ``node_column``, which is taken out, or,
    without one, they are all nodes in their order.

    Parameters
    ----------
    graph : the graph of all nodes, training and others.
    n_hops : how far labels reach, step by step. damping : λ of the resolvent's column; None for
        none.
    node_column : place or name of the column of ``X`` that holds numbers of nodes.
    append : whether the columns of ``X`` come along, before those of labels.
    fill : "prior" puts the mean label where none was seen, for models that take no NaN.
    task : "auto", "classification", "multilabel" or "regression".

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> graph = Graph.from_edges(range(99), range(1, 100))  # a path
    >>> X = pd.DataFrame({"noise": np.random.default_rng(0).normal(size=100)})
    >>> y = pd.Series(np.sin(np.arange(100) / 8))
    >>> train = X.sample(60, random_state=0).index
    >>> model = make_pipeline(SelfExcludedLabels(graph, fill="prior"), Ridge(0.01))
    >>> model = model.fit(X.loc[train], y[train])
    >>> others = X.drop(train).index
    >>> bool(model.score(X.loc[others], y[others]) > 0.9)
    True
    """

    def __init__(
        self,
        graph: Graph | None = None,
        *,
        n_hops: int = 2,
        damping: float | None = 0.9,
        node_column: Any = None,
        append: bool = True,
        fill: str | None = None,
        task: str = "auto",
        progress: Progress = None,
    ) -> None:
        self.graph = graph
        self.n_hops = n_hops
        self.damping = damping
        self.node_column = node_column
        self.append = append
        self.fill = fill
        self.task = task
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> SelfExcludedLabels:
        """Remember the labels of the rows' nodes. Missing labels are none."""
        self._settle(y)
        assert self.graph is not None
        nodes, rest = self._nodes(X)
        if n_rows(y) != len(nodes):
            raise ValueError(
                f"`y` must have one label a row of X ({len(nodes)}); got {n_rows(y)}: "
                "inconsistent numbers of samples."
            )
        known = encode_targets(y, len(nodes), self.task)
        Y = np.zeros((self.graph.n_nodes, known.Y.shape[1]))
        labeled = np.zeros(self.graph.n_nodes, bool)
        Y[nodes], labeled[nodes] = known.Y, known.labeled
        self.targets_ = Targets(known.task, Y, labeled, known.classes, known.flat)
        self.n_features_in_ = _width(X)
        self._input_names = _names(rest)
        self._scale = TargetScale.of(self.targets_)
        self._columns = LabelColumns(self.n_hops, self.damping)
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Columns of the training rows, each without its own label."""
        return self.fit(X, y)._joined(X, exclude=True)

    def transform(self, X: Any) -> Any:
        """Columns of any nodes, with all labels of the fit, a row's own included."""
        check_is_fitted(self, "targets_")
        if _width(X) != self.n_features_in_:
            raise ValueError(
                f"`X` must have {self.n_features_in_} columns as in fit; got {_width(X)}: X has "
                f"{_width(X)} features, but SelfExcludedLabels is expecting "
                f"{self.n_features_in_} features as input."
            )
        return self._joined(X, exclude=False)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        check_is_fitted(self, "targets_")
        labels = self._columns.column_names(output_names(self.targets_))
        return np.array([*(self._input_names if self.append else []), *labels], dtype=object)

    def _joined(self, X: Any, *, exclude: bool) -> Any:
        nodes, rest = self._nodes(X)
        known = self.targets_
        assert self.graph is not None
        found = self._columns.values(
            known, self._scale, self.graph, exclude=exclude, progress=self.progress
        )
        n_means = len(self._columns.column_names([""])) // 2 * known.Y.shape[1]
        found[:, :n_means] = self._in_units(found[:, :n_means], exclude)
        found = found[nodes]
        if not self.append:
            return found
        if sp.issparse(rest):
            return sp.hstack([rest, sp.csr_array(found)], format="csr")
        if hasattr(rest, "iloc"):
            import pandas as pd

            names = self._columns.column_names(output_names(known))
            # scikit-learn wants names that are all texts.
            named = rest.rename(columns=str)
            twice = [name for name in names if name in named.columns]
            if twice:
                raise ValueError(
                    f"`X` must not have a column {twice[0]!r}, which is added here. Rename it."
                )
            return pd.concat([named, pd.DataFrame(found, rest.index, names)], axis=1)
        return np.concatenate([np.asarray(rest), found], axis=1)

    def _in_units(self, means: np.ndarray, exclude: bool) -> np.ndarray:
        """Label columns in the units of ``y``; gaps filled if asked for."""
        known, c = self.targets_, self.targets_.Y.shape[1]
        blocks = means.reshape(len(means), -1, c)
        blocks = self._scale.back(blocks)
        if self.fill == "prior":
            total, count = known.Y.sum(axis=0), float(known.labeled.sum())
            own = known.labeled if exclude else np.zeros_like(known.labeled)
            # Of the others: a mean of all labels would tell a row its own.
            others = (total - np.where(own[:, None], known.Y, 0.0)) / np.maximum(
                count - own[:, None], 1.0
            )
            blocks = np.where(np.isnan(blocks), others[:, None, :], blocks)
        return blocks.reshape(len(means), -1)

    # -- rows and nodes -------------------------------------------------------------------
    def _settle(self, y: Any) -> None:
        if not isinstance(self.graph, Graph):
            raise TypeError(
                f"`graph` must be a labeltrick.Graph; got {type(self.graph).__name__}. Pass "
                "SelfExcludedLabels(graph)."
            )
        if y is None:
            raise ValueError(
                "`y` must be given: SelfExcludedLabels requires y to be passed, but the target y "
                "is None."
            )
        check_count("n_hops", self.n_hops)
        check_flag("append", self.append)
        check_choice("fill", self.fill, (None, "prior"))
        if self.damping is not None:
            check_number("damping", self.damping, 0.0, 1.0)
        if not self.n_hops and self.damping is None:
            raise ValueError("`n_hops` must be above 0 where damping is None: nothing is left.")

    def _nodes(self, X: Any) -> tuple[np.ndarray, Any]:
        """(node of each row, the other columns)."""
        assert self.graph is not None
        if self.node_column is not None:
            raw, rest = _take_column(X, self.node_column)
        elif hasattr(X, "iloc"):
            raw, rest = np.asarray(X.index), X
        else:
            raw, rest = np.arange(n_rows(X)), X
            if len(raw) != self.graph.n_nodes:
                raise ValueError(
                    f"`X` must have one row a node ({self.graph.n_nodes}); got {len(raw)}. For "
                    "some of the nodes pass a pandas data frame whose index holds their numbers, "
                    "or name the column that does: node_column=…."
                )
        numbers = np.asarray(raw)
        if numbers.dtype.kind not in "iuf" or (numbers != np.floor(numbers)).any():
            raise TypeError(
                "rows of `X` must be told by numbers of nodes; got others in its index. Make them "
                "0, …, n − 1 as in the graph, or pass node_column=…."
            )
        nodes = numbers.astype(np.int64)
        wrong = (nodes < 0) | (nodes >= self.graph.n_nodes)
        if wrong.any():
            raise ValueError(
                f"rows of `X` must be nodes of the graph (0 to {self.graph.n_nodes - 1}); row "
                f"{int(np.argmax(wrong))} is {int(nodes[wrong][0])}."
            )
        if len(np.unique(nodes)) < len(nodes):
            raise ValueError("rows of `X` must be different nodes; one is there twice.")
        return nodes, rest


def _take_column(X: Any, column: Any) -> tuple[np.ndarray, Any]:
    width = _width(X)
    if not isinstance(column, str) and not -width <= column < width:
        raise ValueError(f"`node_column` must be a column of X ({width}); got {column!r}.")
    if hasattr(X, "get_columns"):
        X = X.to_pandas()
    if hasattr(X, "iloc"):
        name = column if isinstance(column, str) else X.columns[column]
        if name not in X.columns:
            raise ValueError(f"`node_column` must be a column of X; got {column!r}.")
        return np.asarray(X[name]), X.drop(columns=[name])
    if isinstance(column, str):
        raise ValueError(f"`node_column` must be a place for an array X; got {column!r}.")
    if sp.issparse(X):
        X = check_sparse("X", X).tocsc()
        others = [k for k in range(width) if k != column % width]
        return X[:, [column]].toarray()[:, 0], X[:, others].tocsr()
    X = np.asarray(X)
    return X[:, column], np.delete(X, column, axis=1)


def _width(X: Any) -> int:
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return int(shape[1]) if len(shape) > 1 else 1


def _names(X: Any) -> list[str]:
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return [f"x{k}" for k in range(_width(X))]
