"""Graphs from data frames of edges."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from labeltrick import Graph

EDGES = {"payer": [17, 40, 17], "payee": [40, 5, 5], "sum": [1.0, 2.0, 4.0], "by": ["a", "b", "a"]}


def built(kind, columns=EDGES, **options):
    if kind == "pandas":
        frame = pd.DataFrame(columns, index=range(100, 103))  # an index of edges means nothing
        return Graph.from_pandas(frame, "payer", "payee", **options)
    if kind == "polars":
        return Graph.from_polars(pl.DataFrame(columns), "payer", "payee", **options)
    arrow = pytest.importorskip("pyarrow")
    return Graph.from_arrow(arrow.table(columns), "payer", "payee", **options)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_ids_become_names(kind):
    graph = built(kind, weight="sum", edge_type="by", directed=True)
    assert graph.names.tolist() == [5, 17, 40]
    expected = np.array([[0, 0, 0], [4, 0, 1], [2, 0, 0]], float)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), expected)
    assert sorted(graph.relations) == ["a", "b"]
    texts = {**EDGES, "payer": ["u", "v", "u"], "payee": ["v", "w", "w"]}
    assert built(kind, texts).names.tolist() == ["u", "v", "w"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_nodes_without_edges_and_the_order_come_from_the_nodes(kind):
    graph = built(kind, nodes=[40, 1, 17, 5])
    assert graph.names.tolist() == [40, 1, 17, 5]
    assert graph.isolated.tolist() == [1]
    with pytest.raises(ValueError, match="`source` must hold names of nodes; 40 at row 1"):
        built(kind, nodes=[17, 5])


def test_the_index_of_a_frame_names_the_nodes():
    people = pd.DataFrame({"age": [1, 2, 3]}, index=[40, 17, 5])
    for nodes in (people, people["age"], people.index):
        assert built("pandas", nodes=nodes).names.tolist() == [40, 17, 5]


def test_integers_from_zero_need_no_names():
    graph = Graph.from_pandas(pd.DataFrame({"source": [0, 2], "target": [1, 0]}))
    assert graph.names is None


def test_messages_name_the_arguments_of_the_caller():
    with pytest.raises(ValueError, match="`target` must have no missing names; row 1 is missing"):
        Graph.from_pandas(pd.DataFrame({"source": ["a", "b"], "target": ["b", None]}))
    with pytest.raises(ValueError, match="`source` must hold names of nodes; 'c' at row 1"):
        Graph.from_pandas(
            pd.DataFrame({"source": ["a", "c"], "target": ["b", "a"]}), nodes=["a", "b"]
        )
    with pytest.raises(TypeError, match="`source` and `target` must hold names of one kind"):
        Graph.from_pandas(pd.DataFrame({"source": ["a", "c"], "target": [1, 2]}))


def test_columns_that_are_not_there():
    with pytest.raises(ValueError, match=r"`source` must name a column.*'source'. They have: 'a'"):
        Graph.from_pandas(pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(TypeError, match="must be a data frame; got list"):
        Graph.from_polars([[0, 1]])
