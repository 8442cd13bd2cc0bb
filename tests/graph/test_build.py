"""The builder for large edge lists gives what the plain one gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick import Graph
from labeltrick.graph import build


def large(monkeypatch, block=50):
    monkeypatch.setattr(build, "_LARGE", 1)
    monkeypatch.setattr(build, "_BLOCK", block)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_nodes", [1, 5, 1000, 70_000])
def test_same_graph(monkeypatch, n_nodes, directed):
    src, dst = np.random.default_rng(n_nodes).integers(0, n_nodes, (2, 3000))
    plain = Graph.from_edges(src, dst, n_nodes=n_nodes, directed=directed)
    large(monkeypatch)
    assert Graph.from_edges(src, dst, n_nodes=n_nodes, directed=directed) == plain


def test_wide_numbers_where_rows_and_columns_do_not_fit_32_bits(monkeypatch):
    """Few blocks of a great many nodes: keys of 64 bits."""
    n = 2**23
    src, dst = np.random.default_rng(0).integers(0, n, (2, 2000))
    plain = Graph.from_edges(src, dst, n_nodes=n)
    large(monkeypatch, block=4000)
    monkeypatch.setattr(build, "_MOST_BLOCKS", 2)
    assert Graph.from_edges(src, dst, n_nodes=n) == plain


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1), st.booleans())
def test_any_edges(edges, directed):
    src, dst = np.array(edges).T
    plain = Graph.from_edges(src, dst, n_nodes=41, directed=directed)
    with pytest.MonkeyPatch.context() as patch:
        large(patch, block=3)
        assert Graph.from_edges(src, dst, n_nodes=41, directed=directed) == plain
