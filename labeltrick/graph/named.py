"""The part of `Graph` that knows nodes by name. Polars, which holds the names, is imported only if
there are any."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .graph import Graph
    from .names import NodeNames


class NamedNodes:
    """Base class of `Graph` with the names of its nodes."""

    node_names: NodeNames | None

    if TYPE_CHECKING:

        @property
        def n_nodes(self) -> int: ...

    @property
    def names(self) -> np.ndarray | None:
        """Names of the nodes: integers, or any hashable objects. None if they are 0…n−1."""
        return None if self.node_names is None else self.node_names.values

    @property
    def has_names(self) -> bool:
        """Whether nodes have names other than 0…n−1."""
        return self.node_names is not None

    @property
    def name_table(self) -> NodeNames:
        """The names, which are 0…n−1 if no others were given."""
        from .names import counted

        return counted(self.n_nodes) if self.node_names is None else self.node_names

    @property
    def has_own_names(self) -> bool:
        """Whether names are more than numbers 0…n−1 in some order, which every graph has."""
        if not self.has_names:
            return False
        values = self.name_table.values
        if values.dtype.kind not in "iu":
            return True
        return not np.array_equal(np.sort(values), np.arange(self.n_nodes))

    def with_names(self: Any, names: Any) -> Graph:
        """Return the same graph with other names.

        Parameters
        ----------
        names : array-like of shape (n_nodes,) or None
            One hashable name per node, in the order of the nodes: a list, an array, or a column
            or index of pandas, polars or Arrow. None removes the names.

        Returns
        -------
        Graph

        Examples
        --------
        >>> from labeltrick import Graph
        >>> graph = Graph.from_edges([0, 1], [1, 2]).with_names(["a", "b", "c"])
        >>> graph.names.tolist()
        ['a', 'b', 'c']
        """
        from .names import NodeNames

        found = None if names is None else NodeNames.of(names)
        if found is not None and len(found) != self.n_nodes:
            raise ValueError(
                f"`names` must have one name per node ({self.n_nodes}); got {len(found)}."
            )
        return self.named(None if found is None or found.are_numbers else found)

    def named(self: Any, names: NodeNames | None) -> Graph:
        """The same graph with names that were checked; cached results are shared."""
        other = copy.copy(self)
        other.node_names = names
        other.__dict__.pop("T", None)  # it has its own names
        return other

    def index_of(self, names: Any) -> np.ndarray:
        """Find nodes by name.

        Parameters
        ----------
        names : array-like of shape (k,)
            Names of nodes.

        Returns
        -------
        array of int of shape (k,)
            The number of each node.

        Raises
        ------
        KeyError
            If no node has one of the names.

        Examples
        --------
        >>> from labeltrick import Graph
        >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cem"])
        >>> graph.index_of(["cem", "ann"]).tolist()
        [2, 0]
        """
        from .names import as_names, shown

        wanted = as_names("names", names)
        found = self.name_table.find(wanted)
        if (found < 0).any():
            name = shown(wanted, int(np.argmax(found < 0)))
            raise KeyError(
                f"`names` must be names of nodes; no node is called {name}. The first node is "
                f"called {shown(self.name_table.kept, 0) if self.n_nodes else 'nothing'}."
            )
        return found

    def permuted(self: Any, order: np.ndarray) -> Graph:
        """Return the same graph with its nodes in another order.

        Parameters
        ----------
        order : array of int of shape (n_nodes,)
            Each node once; node k of the result is node ``order[k]`` of this graph.

        Returns
        -------
        Graph
            A copy in memory. Unless they had names, its nodes are named by their old numbers.

        Examples
        --------
        >>> from labeltrick import Graph
        >>> graph = Graph.from_edges(["a", "b"], ["b", "c"]).permuted([2, 0, 1])
        >>> graph.names.tolist()
        ['c', 'a', 'b']
        >>> graph.neighbors(0)
        array([2], dtype=int32)
        """
        from .build import permuted, transposed
        from .graph import Graph
        from .normalized import inverse_permutation

        order = np.asarray(order)
        if not np.array_equal(np.sort(order), np.arange(self.n_nodes)):
            raise ValueError(f"`order` must hold each of the {self.n_nodes} nodes once.")

        def moved(graph: Any, names: NodeNames | None) -> Graph:
            arrays = (graph.indptr, graph.indices, graph.weights)
            arrays = permuted(*arrays, order, inverse_permutation(order))
            arrays = transposed(*transposed(*arrays))  # sorts each row
            types = None if graph.node_types is None else graph.node_types[order]
            relations = {kind: moved(each, None) for kind, each in graph.relations.items()}
            found = Graph(*arrays, graph.directed, types, relations)
            found.compute = graph.compute
            return found.named(names)

        found = moved(self, self.name_table.take(order))
        found.is_permuted = True
        if self.node_features is not None:
            found.node_features = self.node_features[order]
        return found


def holds_names(*columns: Any) -> bool:
    """Whether the ends of edges are names, and not numbers of nodes (which are checked later)."""
    return any(_first_is_name(column) for column in columns)


def _first_is_name(column: Any) -> bool:
    dtype = getattr(column, "dtype", None)
    if dtype is not None:
        if type(column).__module__.startswith("polars"):
            return str(dtype).startswith(("String", "Categorical", "Enum"))
        if getattr(dtype, "kind", "O") not in "OUS" or hasattr(column, "detach"):
            return False
    if type(column).__module__.startswith("pyarrow"):
        return not str(column.type).startswith(("int", "uint", "float", "double"))
    if isinstance(column, str | bytes | dict) or not hasattr(column, "__len__") or not len(column):
        return False
    first = column.iloc[0] if hasattr(column, "iloc") else column[0]
    return isinstance(first, str | bytes | tuple | frozenset) or not (
        isinstance(first, int | float | np.number | list | np.ndarray) or first is None
    )
