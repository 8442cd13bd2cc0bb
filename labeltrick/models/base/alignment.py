"""Matches rows with nodes: data frames, series and dictionaries by name, arrays by position.

The rows of a data frame ``X`` set the order of everything that an estimator returns. If they are in
another order than the nodes of the graph, the estimator works on a copy of the graph in that order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import as_numpy, warn_caller
from ..._utils.label_arrays import label_array
from ...graph.graph import Graph
from ...graph.names import Kept, NodeNames, as_names, shown
from .node_inputs import NodeInputs, n_rows
from .own_graph import graph_of_rows
from .row_names import (
    check_lost_names,
    columns_of,
    has_names,
    is_default,
    is_dict,
    is_pandas,
    is_polars,
    is_polars_frame,
    named_rows,
    no_id_column,
    warn_of_numbers_in_another_order,
)  # fmt: skip

_SAMPLE = 20  # rows that are looked at to find a column of names


@dataclass(frozen=True)
class Given:
    """What a caller passed to fit or predict, one row per node."""

    X: Any
    y: Any
    graph: Graph | None
    sample_weight: Any = None
    validation: Any = None


def as_graph(graph: Any) -> Graph | None:
    """A `Graph`; graphs of networkx and igraph, and sparse matrices, are converted."""
    if graph is None or isinstance(graph, Graph):
        return graph
    if hasattr(graph, "is_directed") and hasattr(graph, "adj"):
        return Graph.from_networkx(graph, node_features=[])
    if hasattr(graph, "vcount") and hasattr(graph, "get_edgelist"):
        return Graph.from_igraph(graph, node_features=[])
    raise TypeError(
        f"`graph` must be a labeltrick.Graph or a networkx or igraph graph; got "
        f"{type(graph).__module__}.{type(graph).__name__}. Build one with Graph.from_edges, "
        "from_pandas, from_polars, from_scipy, from_pyg or from_dgl."
    )


def align(given: Given, id: str | None = None, *, regression: bool = False) -> Given:
    """The same with rows in one order: that of ``X`` if it has names, else that of the graph.

    ``id`` is a column with the names. ``regression`` says that missing labels are NaN, not −1.
    """
    graph = as_graph(given.graph)
    if id is not None and hasattr(given.X, "columns") and id not in given.X.columns:
        raise no_id_column("X", given.X, id)
    X, names = named_rows("X", given.X, id)
    if graph is None:
        y = given.y
        if names is not None and has_names(y, id):
            y = placed("y", y, id, NodeNames.of(names, "the names of X"), regression)
        return replace(given, X=X, y=y)
    table = _names_where_needed(graph, given, id)
    moved = False
    if names is not None and not (is_default(given.X, id) and not graph.has_names):
        order = _order(names, table, graph, given.X)
        moved = not np.array_equal(order, np.arange(len(order)))
        graph = _in_order(graph, order) if moved else graph
        table = graph.name_table
    elif X is not None:
        if graph.has_names:
            _refuse_hidden_names(X, graph)
        elif hasattr(X, "columns"):
            _warn_of_hidden_numbers(X, graph.n_nodes)
    if names is None and graph.has_names:
        if X is not None:
            check_lost_names(given.y, id, graph)
        warn_of_numbers_in_another_order(X, given.y, id, graph)
    beside = _index_beside_ids(given.X, id)
    places = _Places(table, graph, moved, id, regression, beside)
    return Given(
        X,
        places.rows("y", given.y),
        graph,
        places.rows("sample_weight", given.sample_weight),
        places.nodes("validation", given.validation),
    )


class AlignedInputs:
    """Base of estimators, which brings what they are given into one order."""

    def _predicts_only_numbers(self: Any) -> bool:
        """Whether integers in ``y`` are numbers, among which −1 does not mean missing."""
        return self.task == "regression"

    def _aligned(self: Any, X: Any, y: Any, graph: Any, sample_weight: Any = None) -> Given:
        """What to predict from, with rows in one order."""
        check_is_fitted(self, "targets_")
        fit = getattr(self, "_names_in", None) or {}
        id = self._id_for(fit.get("id"), X, y)
        named = any(has_names(value, id) for value in (X, y))
        on = self.graph_ if graph is None and named else graph
        if graph is None and X is not None and not self.graph_.nnz:
            on = graph_of_rows(X, id, self.graph_) if named else None
        elif graph is None and X is not None and n_rows(X) != self.graph_.n_nodes:
            on = None  # the error for it comes later
        if graph is None and fit.get("moved"):
            for name, value in (("X", X), ("y", y)):
                if value is not None and not has_names(value, id):
                    raise ValueError(
                        f"`{name}` must carry names, because the fit put the nodes into the order "
                        "of its X; got values without names. Pass a pandas object with the names "
                        "as index, or pass graph=… for rows in the order of that graph."
                    )
        numbers = self.targets_.task == "regression"
        return align(Given(X, y, on, sample_weight), id, regression=numbers)

    def _id_for(self: Any, id: str | None, X: Any, y: Any) -> str | None:
        """The column of names of the fit, if it is used here too."""
        if id is None or id in columns_of(X):
            return id
        if hasattr(X, "columns") and (is_polars(X) or is_default(X, None)):
            raise no_id_column("X", X, id)
        return id if X is None and id in columns_of(y) else None

    def _inputs(self: Any, X: Any, y: Any, graph: Any) -> NodeInputs:
        given = self._aligned(X, y, graph)
        return self.inputs_of(given.X, given.y, given.graph)


@dataclass(frozen=True)
class _Places:
    """The order of the rows, into which other arguments are brought."""

    table: Any
    graph: Graph
    moved: bool
    id: str | None
    regression: bool
    beside: NodeNames | None  # the index of X, if its names are in a column

    def rows(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        if self.beside is not None and is_pandas(value) and self.id not in columns_of(value):
            found = self.beside.find(as_names(f"{name}.index", value.index))
            if (found >= 0).all():  # rows of X and of the value belong together
                numbers = self.regression or name == "sample_weight"
                found = placed(name, value, None, self.beside, numbers)
                names = self.table.values.tolist()
                return found.set_axis(names, axis=0) if is_pandas(found) else found
        default = is_default(value, self.id) and not self.graph.has_names
        if not has_names(value, self.id) or (default and not self.moved):
            if self.moved and np.ndim(value):
                raise self._unnamed(name)
            return value
        regression = self.regression or name == "sample_weight"
        return placed(name, value, self.id, self.table, regression)

    def nodes(self, name: str, value: Any) -> Any:
        """Numbers or a mask of nodes, which may be given by name."""
        if value is None:
            return None
        if has_names(value, None) and not is_dict(value):
            if as_numpy(name, value).dtype.kind == "b":
                return self.rows(name, value)
            value = value.to_numpy()  # a series of names or numbers
        elif type(value).__name__.endswith("Index"):
            return self._found(name, value)
        array = np.asarray(value)
        if array.dtype.kind in "OUS":
            return self._found(name, value)
        if self.moved:
            raise self._unnamed(name)
        return value

    def _found(self, name: str, value: Any) -> np.ndarray:
        wanted = as_names(name, value)
        found = self.table.find(wanted)
        if (found < 0).any():
            strange = shown(wanted, int(np.argmax(found < 0)))
            raise ValueError(f"`{name}` must hold names of nodes; no node is called {strange}.")
        return found

    def _unnamed(self, name: str) -> ValueError:
        how = f"pandas.Series({name}, index=X.index) if its rows are those of X, or "
        if self.id is not None:
            how = f"a frame with the column {self.id!r}, or pandas.Series with "
        return ValueError(
            f"`{name}` must carry names, because the rows of X are in another order than the nodes "
            f"of the graph; got values without names. Pass {how}index=graph.names if they are "
            "those of the graph."
        )


def _index_beside_ids(X: Any, id: str | None) -> NodeNames | None:
    """The index of a pandas frame whose names are in a column; None if it tells rows not apart."""
    if id is None or not is_pandas(X) or id not in columns_of(X) or not X.index.is_unique:
        return None
    return NodeNames(as_names("X.index", X.index))


def _names_where_needed(graph: Graph, given: Given, id: str | None) -> Any:
    """The names of the nodes; None if nothing that was given has names."""
    values = (given.X, given.y, given.sample_weight, given.validation)
    named = any(has_names(value, id) for value in values)
    validated = given.validation is not None and np.ndim(given.validation) > 0
    return graph.name_table if named or validated or graph.has_names else None


def _such(n: int) -> str:
    return "1 such node" if n == 1 else f"{n:,} such nodes"


def _order(names: Kept, table: NodeNames, graph: Graph, X: Any) -> np.ndarray:
    """The node of each row of ``X``; every node must have exactly one row."""
    NodeNames.of(names, "the names of X")
    order = table.find(names)
    _refuse_strangers("X", names, order, table, X)
    if len(order) < graph.n_nodes:
        lacking = np.setdiff1d(np.arange(graph.n_nodes), order)
        raise ValueError(
            f"`X` must have a row for every node ({graph.n_nodes}); node "
            f"{shown(table.kept, int(lacking[0]))} has none ({_such(len(lacking))}). Add rows, "
            "or, for some of the nodes, select from the predictions: predict_frame()."
        )
    if graph.numbered_by_row and not graph.has_names and (order != np.arange(len(order))).any():
        raise ValueError(
            "`X` must be in the order of the matrix that the graph was built from, or the nodes "
            "must have names; its index is in another order. Use graph.with_names(X.index) if row "
            "k of X is row k of the matrix, or X.sort_index() if the index counts rows of it."
        )
    return order


def _in_order(graph: Graph, order: np.ndarray) -> Graph:
    if hasattr(graph, "folder"):
        raise ValueError(
            "`X` must be in the order of the nodes of a graph folder; it is in another order. "
            "Use X.loc[graph.names]."
        )
    return graph.permuted(order)


def _refuse_strangers(name: str, names: Kept, at: np.ndarray, table: NodeNames, value: Any) -> None:
    if not (at < 0).any():
        return
    row = int(np.argmax(at < 0))
    first = shown(table.kept, 0) if len(table) else "nothing"
    column = _column_of_names(value, table)
    if column is not None:
        advice = f"Column {column!r} holds them: pass {name}.set_index({column!r})."
    elif other_type(names, table.kept):
        advice = "They are of another type: convert them, for example with str or int. "
        advice += "The string '7' and the integer 7 are different names."
    elif is_dict(value):
        advice = "Correct the key, or leave it out."
    elif table.are_numbers:
        advice = (
            f"If row k belongs to node k, pass {name}.to_numpy(), or name the nodes: "
            f"graph.with_names({name}.index)."
        )
    elif is_default(value, None):
        advice = f"Give it the index of the nodes; {name}.index counts rows."
    else:
        advice = (
            "If it is a node without edges, build the graph with all nodes: "
            "Graph.from_pandas(edges, …, nodes=frame)."
        )
    n = int((at < 0).sum())
    raise ValueError(
        f"`{name}` must be indexed by names of nodes; row {row} is called {shown(names, row)}, "
        f"which is not a node ({n} such row{'' if n == 1 else 's'}; the first node is called "
        f"{first}). {advice}"
    )


def other_type(a: Kept, b: Kept) -> bool:
    """Whether one of two columns of names holds strings and the other integers."""
    return hasattr(a, "str") and hasattr(b, "str") and a.dtype != b.dtype


def _column_of_names(value: Any, table: NodeNames) -> Any:
    """The first column whose values begin with names of nodes."""
    if not hasattr(value, "columns") or not len(value):
        return None
    for column in value.columns:
        part = value[column][:_SAMPLE] if is_polars(value) else value[column].iloc[:_SAMPLE]
        if str(getattr(part.dtype, "kind", part.dtype)) in ("f", "b"):
            continue
        try:
            if (table.find(as_names(str(column), part)) >= 0).all():
                return column
        except (TypeError, ValueError):
            continue
    return None


def _refuse_hidden_names(X: Any, graph: Graph) -> None:
    """Refuse a frame of polars whose names are in a column that was not named."""
    if is_polars_frame(X):
        column = _column_of_names(X, graph.name_table)
        # A column such as "manager" may hold names too, but not every name once.
        if column is not None and X[column].n_unique() == graph.n_nodes:
            raise ValueError(
                f"`id` must be given: column {column!r} of X holds names of nodes. Pass "
                f"id={column!r} to match rows by it, or drop the column if rows are in the order "
                "of the nodes."
            )


def _warn_of_hidden_numbers(X: Any, n_nodes: int) -> None:
    """Warn if a column holds the numbers of the nodes in another order than the rows."""
    counted = np.arange(n_nodes)
    for column in X.columns:
        values = X[column]
        if len(values) != n_nodes or str(values.dtype).lower() not in ("int32", "int64"):
            continue
        numbers = as_numpy("X", values)
        if not np.array_equal(numbers, counted) and np.array_equal(np.sort(numbers), counted):
            warn_caller(
                f"column {column!r} of `X` holds the numbers 0 to {n_nodes - 1} in another order "
                f"than its rows, which are matched with the nodes by position. Pass id={column!r} "
                "if it says which node a row belongs to."
            )


def placed(name: str, value: Any, id: str | None, table: NodeNames, regression: bool) -> Any:
    """Rows in the order of the nodes; nodes without a row have missing values."""
    rows, names = named_rows(name, value, id)
    assert names is not None
    NodeNames.of(names, f"the names of {name}")
    at = table.find(names)
    _refuse_strangers(name, names, at, table, value)
    row = np.full(len(table), -1)
    row[at] = np.arange(len(at))
    if (row >= 0).all():
        return rows.iloc[row] if is_pandas(rows) else rows[row]
    if name == "sample_weight":
        lacking = shown(table.kept, int(np.argmax(row < 0)))
        raise ValueError(f"`{name}` must have a weight for every node; {lacking} has none.")
    if hasattr(rows, "columns") and len(rows.columns) > 1:
        return _frame_with_gaps(rows, row)
    if not len(at):
        return np.full(len(table), np.nan if regression else None)
    array = label_array(name, rows)
    array = array[:, 0] if array.ndim == 2 else array
    return _with_gaps(array[np.maximum(row, 0)], row < 0, regression)


def _frame_with_gaps(frame: Any, row: np.ndarray) -> Any:
    """Rows of a frame with several columns; those at −1 are missing."""
    if is_pandas(frame):
        missing = np.repeat((row < 0)[:, None], frame.shape[1], axis=1)
        return frame.iloc[np.maximum(row, 0)].mask(missing)
    import polars as pl

    there = pl.when(pl.Series(row >= 0)).then(pl.all())
    return frame[np.maximum(row, 0)].with_columns(there)


def _with_gaps(array: np.ndarray, missing: np.ndarray, regression: bool) -> np.ndarray:
    """Values with some rows missing, as `y` marks them."""
    classes = array.dtype.kind in "iu" and array.ndim == 1 and not regression
    known = array[~missing]
    if classes and (known != known[:1]).any():  # beside one class, −1 would seem another
        array = array.astype(np.int64)
        array[missing] = -1
    elif array.dtype.kind in "iuf" and not classes:
        array = array.astype(np.float64)
        array[missing] = np.nan
    else:
        array = array.astype(object)
        array[missing] = None
    return array
