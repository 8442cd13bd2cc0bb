"""Names and values of columns, and names that nearly match."""

import numpy as np
import polars as pl
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick.explain.names import column_names, column_values, suggestion
from labeltrick.models.base.tables import read_table


def test_values_of_tables():
    table = read_table(pl.DataFrame({"age": [1.5, None, 2.5], "town": ["Ulm", "Bonn", "Ulm"]}))
    assert column_names(None, table) == table.names
    shown = dict(zip(table.names, column_values(None, table, 0), strict=True))
    assert shown["age"] == 1.5
    assert dict(zip(table.names, column_values(None, table, 1), strict=True))["age"] is None
    assert shown.get("town", "Ulm") == "Ulm"


def test_values_of_arrays():
    X = np.array([[1.0, np.nan]])
    assert column_names(None, X) == ["column 0", "column 1"]
    assert column_values(None, X, 0) == [1.0, None]
    assert column_values(None, sp.csr_array([[0.0, 2.0]]), 0) == [0.0, 2.0]


def test_names_of_another_type_are_told_apart():
    graph = Graph.from_edges([0, 1], [1, 2]).with_names([1000, 2000, 3000])
    assert suggestion("2000", graph).startswith(" The names are of another type: the first")
    assert suggestion(1001, graph) == " Did you mean '1000'?"
