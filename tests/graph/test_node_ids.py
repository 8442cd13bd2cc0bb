"""Ids of nodes."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick import Graph
from labeltrick.graph import node_ids
from labeltrick.graph.node_ids import number_edges
from labeltrick.io.tables import read_problem
from tests.support.packed_tables import save


@pytest.mark.parametrize("seed", range(5))
def test_ids_of_any_kind_order_and_gaps_are_the_same_graph(tmp_path, seed):
    rng = np.random.default_rng(seed)
    n, m = 30, 80
    a, b = rng.integers(0, n, (2, m))
    expected = Graph.from_edges(a, b, n_nodes=n)
    names = {
        "gaps": rng.permutation(1000)[:n] - 500,
        "huge": rng.choice(2**60, n, replace=False),
        "dense": np.arange(n) + 7,
        "text": np.array([f"node {k}" for k in rng.permutation(n)]),
        "zeros": np.array([f"{k:04d}" for k in rng.permutation(n)]),
    }
    for kind, ids in names.items():
        edges = pl.DataFrame({"u": ids[a], "v": ids[b]})
        nodes = pl.DataFrame({"id": ids, "x": rng.normal(size=n)})
        problem = read_problem(
            save(edges, tmp_path / f"{kind}-e.csv"), save(nodes, tmp_path / f"{kind}-n.csv")
        )
        assert problem.graph == expected, kind
        assert problem.ids.to_list() == ids.tolist()
    alone = read_problem(tmp_path / "gaps-e.csv")
    used = np.unique(np.concatenate([a, b]))
    assert sorted(alone.ids.to_list()) == sorted(names["gaps"][used].tolist())
    assert alone.graph.n_edges == expected.n_edges


def test_text_ids_that_look_like_numbers_stay_apart(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n007,7\n7,8\n")
    (tmp_path / "n.csv").write_text("id,x\n7,1\n007,2\n8,3\n")
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    assert problem.ids.to_list() == ["7", "007", "8"]
    assert problem.graph == Graph.from_edges([1, 0], [0, 2])


@given(
    st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3))),
    st.lists(st.text(max_size=3)),
)
def test_strings_are_numbered_in_order_of_appearance(edges, asked):
    source, target = (pl.Series("id", [e[k] for e in edges], dtype=pl.String) for k in (0, 1))
    ids, starts, ends = number_edges(source, target)
    names = ids.ids.to_list()
    assert names == list(dict.fromkeys([*source.to_list(), *target.to_list()]))
    assert [(names[a], names[b]) for a, b in zip(starts, ends, strict=True)] == edges
    again, *numbers = node_ids._number_in_turn(source, target)  # as one thread does
    assert again.ids.to_list() == names
    np.testing.assert_array_equal(numbers, [starts, ends])
    wanted = pl.Series("id", [*asked, None], dtype=pl.String)
    expected = [names.index(name) if name in names else -1 for name in asked]
    assert ids.find(wanted).tolist() == [*expected, -1]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_many_strings_make_the_table_grow(monkeypatch, n_threads):
    monkeypatch.setattr(node_ids, "get_num_threads", lambda: n_threads)
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 30_000, (2, 60_000))
    source, target = (pl.Series("id", [f"n{k}" for k in side]) for side in numbers)
    ids, starts, ends = number_edges(source, target)
    assert ids.ids.n_unique() == len(ids) == len(np.unique(numbers))
    assert (ids.ids.gather(starts) == source).all()
    assert (ids.ids.gather(ends) == target).all()
    assert (ids.find(source) == starts).all()
