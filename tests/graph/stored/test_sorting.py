"""The builder of graph folders: bit for bit the graph of `from_edges`, within its memory, from
streams that can be started again."""

import tracemalloc

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labeltrick.graph.stored.sorting as sorting
from labeltrick import Graph, build_graph, open_graph
from labeltrick.io.tables import build_graph_folder
from labeltrick.propagation.diagonal.self_weight import hop_diagonals
from tests.support.chunks import in_chunks


def require_same(found, expected):
    assert found == expected
    assert found.T == expected.T
    assert found.fingerprint == expected.fingerprint
    np.testing.assert_array_equal(found.out_strengths, expected.out_strengths)
    np.testing.assert_array_equal(found.in_strengths, expected.in_strengths)
    assert found.n_self_loops == expected.n_self_loops


# -- the same graph ----------------------------------------------------------------------------
@settings(max_examples=30)
@given(
    st.integers(1, 30),
    st.integers(1, 200),
    st.booleans(),
    st.sampled_from([None, np.float32, np.float64]),
    st.integers(100, 3000),
    st.integers(0, 10**6),
)
def test_bit_for_bit(tmp_path_factory, n, m, directed, dtype, memory, seed):
    """Many buckets, most of them dealt again; weights that no order of summing leaves alone."""
    rng = np.random.default_rng(seed)
    source, target = (rng.integers(0, n, (2, m)) * rng.random((2, m)) ** 2).astype(int)
    weights = None if dtype is None else rng.lognormal(0, 3, m).astype(dtype)
    expected = Graph.from_edges(source, target, weight=weights, directed=directed, n_nodes=n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_RANGE_BITS", 2)
        patch.setattr(sorting, "_FINER", 3)
        folder = build_graph(
            in_chunks(source, target, weights, 17),
            tmp_path_factory.mktemp("built") / "g.lt",
            n_nodes=n,
            directed=directed,
            max_memory=memory,
        )
    require_same(open_graph(folder), expected)


def test_undirected_weights_are_symmetric(tmp_path):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 30, (2, 20_000))
    folder = build_graph(in_chunks(source, target, rng.random(20_000), 700), tmp_path / "g.lt")
    A = open_graph(folder).to_scipy().toarray()
    np.testing.assert_array_equal(A, A.T)


# -- within its memory -------------------------------------------------------------------------
def star(rng):
    return np.zeros(900_000, np.int64), rng.permutation(900_000) + 1, None


def star_with_weights(rng):
    return np.zeros(300_000, np.int64), rng.permutation(300_000) + 1, rng.random(300_000)


def one_edge(rng):
    return np.zeros(3_000_000, np.int64), np.ones(3_000_000, np.int64), None


def one_edge_with_weights(rng):
    return np.zeros(1_000_000, np.int64), np.ones(1_000_000, np.int64), rng.random(1_000_000)


def even(rng):
    return (*rng.integers(0, 50_000, (2, 600_000)), None)


@pytest.fixture(scope="module", autouse=True)
def _compiled(tmp_path_factory):
    """Compiling takes memory of its own."""
    place = tmp_path_factory.mktemp("compiled")
    for weights in (None, np.ones(1)):
        edges = np.zeros(1, np.int64), np.ones(1, np.int64), weights
        build_graph(lambda edges=edges: [edges], place / f"{weights is None}.lt")
    pl.DataFrame({"src": [5, 7], "dst": [9, 5]}).write_parquet(place / "e.parquet")
    build_graph_folder(place / "e.parquet", place / "e.lt")


@pytest.mark.parametrize(
    "make",
    [even, star, star_with_weights, one_edge, one_edge_with_weights],
    ids=lambda f: f.__name__,
)
def test_building_keeps_to_its_memory(tmp_path, make):
    source, target, weights = make(np.random.default_rng(0))
    most, peaks = 8_000_000, []
    # Garbage that Python has not collected yet counts too, now and then: the least of three is what
    # building takes. No bar: on a busy machine it would appear, and importing it takes memory.
    for k in range(3):
        tracemalloc.start()
        try:
            options = {"max_memory": most, "progress": False}
            place = tmp_path / f"{k}.lt"
            folder = build_graph(in_chunks(source, target, weights), place, **options)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        if peaks[-1] <= most:
            break
    peak = min(peaks)
    assert peak <= 1.1 * most
    require_same(open_graph(folder), Graph.from_edges(source, target, weight=weights))


def test_nodes_without_edges_keep_to_the_memory(tmp_path):
    tracemalloc.start()
    try:
        folder = build_graph(
            lambda: [([0], [1], None)],
            tmp_path / "g.lt",
            n_nodes=3_000_000,
            max_memory=4_000_000,
            progress=False,
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.1 * 4_000_000
    assert open_graph(folder) == Graph.from_edges([0], [1], n_nodes=3_000_000)


def test_ids_with_gaps_keep_to_the_memory(tmp_path):
    rng = np.random.default_rng(0)
    ids = np.sort(rng.choice(5 * 10**6, 1_000_000, replace=False)) + 5
    at = rng.permutation(len(ids))
    source, target = np.arange(len(ids)), at
    pl.DataFrame({"src": ids[source], "dst": ids[target]}).write_parquet(tmp_path / "e.parquet")
    most = 7_000_000
    tracemalloc.start()
    try:
        graph, _ = build_graph_folder(tmp_path / "e.parquet", tmp_path / "g.lt", max_memory=most)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.3 * most
    np.testing.assert_array_equal(graph.ids().to_numpy(), ids)
    assert graph.with_names(None) == Graph.from_edges(source, target)
    assert sorted(path.name for path in (tmp_path / "g.lt").iterdir()) == [
        "ids.parquet", "indices.npy", "indptr.npy", "loops.npy", "meta.json",
    ]  # fmt: skip


# -- two hops ----------------------------------------------------------------------------------
@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("norm", ["sym", "row", "col"])
def test_two_hops_of_directed_graphs(tmp_path, norm, weighted, self_loops):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 3000, (2, 90_000))
    source[:900] = target[:900]
    weights = rng.random(90_000) if weighted else None
    graph = Graph.from_edges(source, target, weight=weights, directed=True)
    folder = build_graph(in_chunks(source, target, weights), tmp_path / "g.lt", directed=True)
    S = graph.normalized(norm, self_loops=self_loops)
    matrix = S.to_scipy().toarray()
    expected = np.column_stack([np.ones(3000), matrix.diagonal(), (matrix * matrix.T).sum(axis=1)])
    np.testing.assert_allclose(hop_diagonals(S, 2), expected, rtol=1e-12, atol=1e-15)
    stored = open_graph(folder)
    assert len(list(stored.rows_both_ways(100_000))) > 2
    stored_S = stored.normalized(norm, self_loops=self_loops)
    hop_diagonals(stored_S, 2, max_memory=100_000)  # compiled
    tracemalloc.start()
    try:
        found = hop_diagonals(stored_S, 2, max_memory=100_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(found, hop_diagonals(S, 2))
    assert peak < 500_000  # some numbers a node; the entries take a megabyte and more
