"""The names of rows: the index of pandas objects, an id column, or the keys of a dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._utils.checks import warn_caller
from ...graph.graph import Graph
from ...graph.names import Kept, as_names, shown
from .unused_types import inside_another


def frame_kind(*values: Any) -> str | None:
    """The library of the first data frame or series: "pandas", "polars" or None."""
    for value in values:
        if is_pandas(value):
            return "pandas"
        if is_polars(value):
            return "polars"
    return None


def named_rows(name: str, value: Any, id: str | None) -> tuple[Any, Kept | None]:
    """The value without its names, and the name of each row; None if rows have no names."""
    if id is not None and hasattr(value, "columns"):
        if id in value.columns:
            return value.drop(columns=id) if is_pandas(value) else value.drop(id), as_names(
                id, value[id]
            )
        if is_polars(value):
            listed = ", ".join(repr(column) for column in value.columns[:10])
            raise ValueError(f"`id` must name a column of `{name}`; got {id!r}. It has: {listed}.")
    if is_dict(value):
        return column_of(list(value.values())), as_names(name, list(value))
    if is_pandas(value):
        return value, as_names(f"{name}.index", value.index)
    return value, None


def no_id_column(name: str, value: Any, id: str) -> ValueError:
    listed = ", ".join(repr(column) for column in list(value.columns)[:10])
    return ValueError(
        f"`id` must name a column of `{name}`, as in fit; got {id!r}. It has: {listed}."
    )


def columns_of(value: Any) -> Any:
    return getattr(value, "columns", ())


def has_names(value: Any, id: str | None) -> bool:
    return is_dict(value) or is_pandas(value) or (is_polars_frame(value) and id is not None)


def is_dict(value: Any) -> bool:
    return isinstance(value, dict) and not hasattr(value, "shape")  # some sparse matrices are


def is_pandas(value: Any) -> bool:
    return hasattr(value, "iloc") and hasattr(value, "index")


def is_polars(value: Any) -> bool:
    return type(value).__module__.startswith("polars.")


def is_polars_frame(value: Any) -> bool:
    return is_polars(value) and hasattr(value, "columns")


def is_default(value: Any, id: str | None) -> bool:
    """Whether rows have the index 0, 1, 2, … that pandas makes by itself."""
    if not is_pandas(value) or (id is not None and id in getattr(value, "columns", ())):
        return False
    index = value.index
    return (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)


def column_of(values: list[Any]) -> np.ndarray:
    """Values of a dictionary: numbers if all are, else objects."""
    plain = np.asarray(values) if values else np.zeros(0)
    if plain.ndim and plain.dtype.kind in "iufb":
        return plain
    return np.fromiter(values, dtype=object, count=len(values))


def check_lost_names(y: Any, id: str | None, graph: Graph) -> None:
    """Refuse labels in another order than the graph beside features without names, which may have
    lost them on the way, as in a pipeline; warn of labels in any order, because the features may
    have been in another."""
    if not is_pandas(y) or is_default(y, id):
        return
    _, names = named_rows("y", y, id if id in columns_of(y) else None)
    at = graph.name_table.find(names) if names is not None else np.arange(len(y))
    whole = len(y) == graph.n_nodes and (at >= 0).all()
    if whole and (at != np.arange(len(y))).any():
        raise ValueError(
            "`X` must carry names, because the rows of y are in another order than the nodes of "
            "the graph; got values without names. Pass a data frame with the index of y (in a "
            "pipeline: set_output(transform='pandas')), or order y like graph.names."
        )
    warn_caller(
        "`X` has no names, and `y` has: row k of X is taken as node k of the graph, whose first "
        f"node is called {shown(graph.name_table.kept, 0)}. If X was made from a frame in another "
        "order, pass a frame with its index (in a pipeline: set_output(transform='pandas')); if "
        "the order is right, pass y as an array."
    )


def warn_of_numbers_in_another_order(X: Any, y: Any, id: str | None, graph: Graph) -> None:
    """Warn of rows without names, if nodes are called 0 to n−1 in another order, as networkx has
    them in the order of the edges: row k may be that of the node called k."""
    if inside_another():
        return
    given = {"X": X, "y": y}
    given = {name: value for name, value in given.items() if value is not None}
    unnamed = [name for name, value in given.items() if not has_names(value, id)]
    if not unnamed or not graph.name_table.are_numbers_in_another_order:
        return
    if "y" not in unnamed and y is not None:
        return  # `check_lost_names` has warned
    first = ", ".join(shown(graph.name_table.kept, k) for k in range(min(graph.n_nodes, 3)))
    have = "has" if len(unnamed) == 1 else "have"
    warn_caller(
        f"the nodes are called 0 to {graph.n_nodes - 1}, but their order is {first}, …, and "
        f"{' and '.join(f'`{name}`' for name in unnamed)} {have} no names: row k is taken as the "
        "k-th node of that order, not as the node called k. Pass pandas objects (pd.DataFrame(X), "
        "pd.Series(y)) if row k is the node called k, and with index=graph.names if it is not."
    )
