"""The constructors of `Graph` from tables of edges: pandas, polars and Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph import Graph


class TableBuilders:
    """Base class of `Graph` with the constructors from data frames."""

    @classmethod
    def from_pandas(
        cls: Any,
        edges: Any,
        source: str = "source",
        target: str = "target",
        *,
        weight: str | None = None,
        edge_type: str | None = None,
        nodes: Any = None,
        directed: bool = False,
    ) -> Graph:
        """Build a graph from a pandas frame with one row per edge; its ids become `names`.

        Parameters
        ----------
        edges : pandas.DataFrame
            One row per edge.
        source, target : str, default="source" and "target"
            Columns of the ids of the two ends: integers, strings, or any hashable objects.
        weight : str or None, default=None
            Column of finite weights ≥ 0. None makes an unweighted graph.
        edge_type : str or None, default=None
            Column of the type of each edge, for `relations`.
        nodes : pandas.DataFrame, Series or Index, or array-like, default=None
            The names of all nodes, in order, including nodes without edges: the index of a frame
            or series, or the names themselves. None takes those that occur in the edges: integers
            in ascending order, other names in the order in which they first appear.
        directed : bool, default=False
            False stores every edge in both directions.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import pandas as pd
        >>> from labeltrick import Graph
        >>> edges = pd.DataFrame({"payer": ["ann", "bob"], "payee": ["bob", "cem"]})
        >>> people = pd.DataFrame({"age": [31, 25, 47, 62]}, index=["ann", "bob", "cem", "dia"])
        >>> graph = Graph.from_pandas(edges, "payer", "payee", nodes=people)
        >>> graph.n_nodes, graph.names[graph.isolated].tolist()
        (4, ['dia'])
        """
        names = getattr(nodes, "index", None) if hasattr(nodes, "iloc") else nodes
        columns = (source, target, weight, edge_type)
        return _from_table(cls, edges, columns, names, directed)

    @classmethod
    def from_polars(
        cls: Any,
        edges: Any,
        source: str = "source",
        target: str = "target",
        *,
        weight: str | None = None,
        edge_type: str | None = None,
        nodes: Any = None,
        directed: bool = False,
    ) -> Graph:
        """Build a graph from a polars frame with one row per edge; its ids become `names`.

        Parameters
        ----------
        edges : polars.DataFrame
            One row per edge.
        source, target : str, default="source" and "target"
            Columns of the ids of the two ends: integers, strings, or any hashable objects.
        weight : str or None, default=None
            Column of finite weights ≥ 0. None makes an unweighted graph.
        edge_type : str or None, default=None
            Column of the type of each edge, for `relations`.
        nodes : polars.Series or array-like, default=None
            The names of all nodes, in order, including nodes without edges, such as
            ``frame["id"]``. None takes those that occur in the edges: integers in ascending
            order, other names in the order in which they first appear.
        directed : bool, default=False
            False stores every edge in both directions.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import polars as pl
        >>> from labeltrick import Graph
        >>> edges = pl.DataFrame({"payer": [17, 40], "payee": [40, 5]})
        >>> Graph.from_polars(edges, "payer", "payee").names
        array([ 5, 17, 40])
        """
        columns = (source, target, weight, edge_type)
        return _from_table(cls, edges, columns, nodes, directed)

    @classmethod
    def from_arrow(
        cls: Any,
        edges: Any,
        source: str = "source",
        target: str = "target",
        *,
        weight: str | None = None,
        edge_type: str | None = None,
        nodes: Any = None,
        directed: bool = False,
    ) -> Graph:
        """Build a graph from an Arrow table with one row per edge; its ids become `names`.

        Parameters
        ----------
        edges : pyarrow.Table, or any object with ``__arrow_c_stream__``
            One row per edge.
        source, target : str, default="source" and "target"
            Columns of the ids of the two ends.
        weight : str or None, default=None
            Column of finite weights ≥ 0. None makes an unweighted graph.
        edge_type : str or None, default=None
            Column of the type of each edge, for `relations`.
        nodes : array-like, default=None
            The names of all nodes, in order, including nodes without edges. None takes those
            that occur in the edges.
        directed : bool, default=False
            False stores every edge in both directions.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import polars as pl
        >>> from labeltrick import Graph
        >>> table = pl.DataFrame({"source": ["a"], "target": ["b"]})  # or a pyarrow.Table
        >>> Graph.from_arrow(table)
        Graph(n_nodes=2, n_edges=1, named=True)
        """
        import polars as pl

        return cls.from_polars(
            pl.DataFrame(edges), source, target, weight=weight, edge_type=edge_type, nodes=nodes,
            directed=directed,
        )  # fmt: skip


def _from_table(
    cls: Any, edges: Any, columns: tuple[Any, ...], names: Any, directed: bool
) -> Graph:
    from .named_edges import numbered_ends

    if not hasattr(edges, "columns"):
        raise TypeError(f"`edges` must be a data frame; got {type(edges).__name__}.")
    if hasattr(names, "columns"):
        raise TypeError(
            "`nodes` must be the names of the nodes; got a frame without an index. Pass its column "
            "of names, such as nodes=frame['id']."
        )
    options = ("source", "target", "weight", "edge_type")
    taken = []
    for option, name in zip(options, columns, strict=True):
        if name is not None and name not in edges.columns:
            listed = ", ".join(repr(column) for column in list(edges.columns)[:10])
            raise ValueError(
                f"`{option}` must name a column of the edges; got {name!r}. They have: {listed}."
            )
        taken.append(None if name is None else edges[name])
    source, target, weight, edge_type = taken
    found, starts, ends = numbered_ends(source, target, names, ("source", "target"))
    how = {"weight": weight, "edge_type": edge_type, "directed": directed}
    made = cls.from_edges(starts, ends, n_nodes=len(found), **how)
    return made.named(None if found.are_numbers else found)
