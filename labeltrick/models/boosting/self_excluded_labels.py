"""`SelfExcludedLabels`: the labels of other nodes as columns, for any scikit-learn model."""

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
from ...graph.names import NodeNames, as_names, shown
from ..base.alignment import placed
from ..base.node_inputs import n_rows
from ..base.unused_types import warn_of_unused_types
from .node_columns import LabelColumns, output_names


class SelfExcludedLabels(TransformerMixin, BaseEstimator):
    """Transformer that adds the labels of nearby nodes as columns, for a Pipeline with any model.

    `fit_transform` computes the columns of training rows without their own label, so that the model
    learns from the labels of neighbors and cannot copy the target. `transform` uses all training
    labels. The columns are the mean labels 1, …, ``n_hops`` steps away, a mean by the resolvent,
    the number of labels seen by each, and the degree.

    Each row is a node. The names of the nodes (or their numbers, if the graph has no names) are the
    index of a data frame, which scikit-learn's splits keep, or the column ``node_column``, which is
    removed. An array without such a column must have one row per node, in the order of the graph.
    A series of labels is matched with the rows of a data frame by its index.

    Parameters
    ----------
    graph : Graph, default=None
        Graph of all nodes, training and others. It must be given.
    n_hops : int, default=2
        Number of steps over which labels are averaged.
    damping : float or None, default=0.9
        λ of the mean by the resolvent; None omits it.
    node_column : int, str or None, default=None
        Position or name of the column of ``X`` that contains names or numbers of nodes.
    append : bool, default=True
        Whether the columns of ``X`` are returned too, before those of labels.
    fill : {None, "prior"}, default=None
        Value where no label is seen: NaN, or with "prior" the mean label of the other nodes.
    task : {"auto", "classification", "multilabel", "regression"}, default="auto"
        Kind of target; "auto" infers it from ``y``.
    progress : bool, callable or None, default=None
        None shows a bar on a terminal after a second; True or False always or never shows one; a
        function is called as ``f(done, total)``.

    Attributes
    ----------
    targets_ : Targets
        Labels of the training nodes.
    n_features_in_ : int
        Number of columns of ``X``.

    See Also
    --------
    GraphBoosting : Boosted trees that use the graph.
    self_excluded : Propagate labels without each node's own.

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
        """Store the labels of the training nodes.

        Parameters
        ----------
        X : data frame, array or sparse matrix
            Training rows, which identify the nodes.
        y : array of shape (n_rows,) or (n_rows, c), default=None
            Their labels; −1, None or NaN marks a missing label. Required.

        Returns
        -------
        self : SelfExcludedLabels
            The fitted transformer.
        """
        self._settle(y)
        assert self.graph is not None
        warn_of_unused_types(type(self).__name__, self.graph)
        nodes, rest = self._nodes(X)
        if n_rows(y) != len(nodes):
            raise ValueError(
                f"`y` must have one label per row of X ({len(nodes)}); got {n_rows(y)}: "
                "inconsistent numbers of samples."
            )
        if hasattr(X, "iloc") and hasattr(y, "iloc"):
            rows = NodeNames.of(as_names("X.index", X.index), "the index of X")
            y = placed("y", y, None, rows, self.task == "regression")
        known = encode_targets(y, len(nodes), self.task)
        Y = np.zeros((self.graph.n_nodes, known.Y.shape[1]))
        labeled = np.zeros(self.graph.n_nodes, bool)
        Y[nodes], labeled[nodes] = known.Y, known.labeled
        self.targets_ = Targets(
            known.task, Y, labeled, known.classes, known.flat, columns=known.columns
        )
        self.n_features_in_ = _width(X)
        names = getattr(rest, "columns", [f"x{k}" for k in range(_width(rest))])
        self._input_names = [str(name) for name in names]
        self._scale = TargetScale.of(self.targets_)
        self._columns = LabelColumns(self.n_hops, self.damping)
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit, and return the columns of the training rows, each without its own label.

        Parameters
        ----------
        X : data frame, array or sparse matrix
            Training rows, which identify the nodes.
        y : array of shape (n_rows,) or (n_rows, c), default=None
            Their labels. Required.
        **options : dict
            Ignored; for compatibility with scikit-learn.

        Returns
        -------
        data frame, array or sparse matrix
            The columns, of the same kind as ``X``.
        """
        return self.fit(X, y)._joined(X, exclude=True)

    def transform(self, X: Any) -> Any:
        """Return the columns of any nodes, using all labels of the fit, including a row's own.

        Parameters
        ----------
        X : data frame, array or sparse matrix
            Rows with the columns of the fit.

        Returns
        -------
        data frame, array or sparse matrix
            The columns, of the same kind as ``X``.
        """
        check_is_fitted(self, "targets_")
        if _width(X) != self.n_features_in_:
            raise ValueError(
                f"`X` must have {self.n_features_in_} columns as in fit; got {_width(X)}: X has "
                f"{_width(X)} features, but SelfExcludedLabels is expecting "
                f"{self.n_features_in_} features as input."
            )
        return self._joined(X, exclude=False)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : object, default=None
            Ignored; for compatibility with scikit-learn.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "targets_")
        labels = self._columns.column_names(output_names(self.targets_))
        return np.array([*(self._input_names if self.append else []), *labels], dtype=object)

    def _joined(self, X: Any, *, exclude: bool) -> Any:
        nodes, rest = self._nodes(X)
        known = self.targets_
        assert self.graph is not None
        options: dict[str, Any] = {"exclude": exclude, "progress": self.progress}
        found = self._columns.values(known, self._scale, self.graph, **options)
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
            # scikit-learn requires all names to be strings.
            named = rest.rename(columns=str)
            twice = [name for name in names if name in named.columns]
            if twice:
                raise ValueError(
                    f"`X` must not have a column {twice[0]!r}, which is added here. Rename it."
                )
            return pd.concat([named, pd.DataFrame(found, rest.index, names)], axis=1)
        return np.concatenate([np.asarray(rest), found], axis=1)

    def _in_units(self, means: np.ndarray, exclude: bool) -> np.ndarray:
        """Label columns in the units of ``y``, with missing values filled if ``fill`` is set."""
        known, c = self.targets_, self.targets_.Y.shape[1]
        blocks = self._scale.back(means.reshape(len(means), -1, c))
        if self.fill == "prior":
            total, count = known.Y.sum(axis=0), float(known.labeled.sum())
            own = known.labeled if exclude else np.zeros_like(known.labeled)
            # The mean of the other labels: a mean of all would reveal a row's own.
            others = total - np.where(own[:, None], known.Y, 0.0)
            others = others / np.maximum(count - own[:, None], 1.0)
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
            raise ValueError("`n_hops` must be above 0 if damping is None; there are no columns.")

    def _nodes(self, X: Any) -> tuple[np.ndarray, Any]:
        """(node of each row, the remaining columns)."""
        assert self.graph is not None
        if self.node_column is not None:
            raw, rest = _take_column(X, self.node_column)
        elif hasattr(X, "iloc"):
            raw, rest = np.asarray(X.index), X
        else:
            raw, rest = None, X
            if n_rows(X) != self.graph.n_nodes:
                raise ValueError(
                    f"`X` must have one row per node ({self.graph.n_nodes}); got {n_rows(X)}. For "
                    "some of the nodes, pass a pandas data frame with names or numbers of nodes as "
                    "index, or node_column=…."
                )
        if self.graph.has_names:
            nodes = _named_nodes(self.graph, raw) if raw is not None else np.arange(n_rows(X))
            return _distinct(nodes), rest
        numbers = np.asarray(np.arange(n_rows(X)) if raw is None else raw)
        if numbers.dtype.kind not in "iuf" or (numbers != np.floor(numbers)).any():
            raise TypeError(
                "the index of `X` must be node numbers; got other values. Number its rows 0, …, "
                "n − 1 like the nodes of the graph, or pass node_column=…."
            )
        nodes = numbers.astype(np.int64)
        wrong = (nodes < 0) | (nodes >= self.graph.n_nodes)
        if wrong.any():
            raise ValueError(
                f"rows of `X` must be nodes of the graph (0 to {self.graph.n_nodes - 1}); row "
                f"{int(np.argmax(wrong))} is {int(nodes[wrong][0])}."
            )
        return _distinct(nodes), rest


def _distinct(nodes: np.ndarray) -> np.ndarray:
    if len(np.unique(nodes)) < len(nodes):
        raise ValueError("rows of `X` must be different nodes; one is repeated.")
    return nodes


def _named_nodes(graph: Graph, raw: Any) -> np.ndarray:
    names = as_names("X", raw)
    nodes = graph.name_table.find(names)
    if (nodes < 0).any():
        row = int(np.argmax(nodes < 0))
        raise ValueError(
            f"rows of `X` must be named like nodes of the graph; row {row} is called "
            f"{shown(names, row)}, which is not a node. Set the index of X, or pass node_column=…."
        )
    return nodes


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
        raise ValueError(f"`node_column` must be a position if X is an array; got {column!r}.")
    if sp.issparse(X):
        X = check_sparse("X", X).tocsc()
        others = [k for k in range(width) if k != column % width]
        return X[:, [column]].toarray()[:, 0], X[:, others].tocsr()
    X = np.asarray(X)
    return X[:, column], np.delete(X, column, axis=1)


def _width(X: Any) -> int:
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return int(shape[1]) if len(shape) > 1 else 1
