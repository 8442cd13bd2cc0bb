"""The engine "dask": the same answers as in memory, within the memory of the workers."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import (
    Hops,
    Iteration,
    LabelPropagation,
    Power,
    Resolvent,
    Unfolded,
    open_graph,
    save_graph,
)
from labeltrick._utils.threads import get_num_threads
from labeltrick.graph.compute import Compute
from labeltrick.propagation.engine.cluster import connection
from labeltrick.propagation.engine.cluster.columns import column_slices, graph_fits_workers
from labeltrick.propagation.engine.cluster.connection import Cluster, close, known_workers
from labeltrick.propagation.engine.placing import estimated_bytes, in_folder
from tests.support.clusters import F, N, make_graph

pytest.importorskip("distributed")

KINDS = {
    "resolvent": lambda graph: Resolvent(graph, 0.8),
    "transposed": lambda graph: Resolvent(graph, 0.7, norm="row").T,
    "clamped": lambda graph: Iteration(graph, 0.9, 5, clamp=(0.0, 0.5)),
    "hops": lambda graph: Hops(graph, 2, self_loops=True),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_columns_on_workers_are_those_of_memory(cluster, kind, directed):
    graph = make_graph(directed)
    expected = KINDS[kind](graph) @ F
    found = KINDS[kind](graph.on("dask", address=cluster.address)) @ F
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_split_where_the_graph_does_not_fit(cluster, kind, caplog):
    graph = make_graph()
    expected = KINDS[kind](graph) @ F[:, :9]
    P = KINDS[kind](graph.on("dask", address=cluster.address, max_memory=100_000))
    with caplog.at_level("INFO", "labeltrick"):
        found = P @ F[:, :9]
    assert "does not fit in a worker" in caplog.text
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max(), rtol=0)


def test_other_inputs(cluster):
    graph = make_graph()
    there = graph.on("dask", address=cluster.address)
    X = sp.random_array((N, 17), density=0.05, rng=1, format="csr")
    np.testing.assert_allclose(Power(there, 2) @ X, Power(graph, 2) @ X)
    G = np.random.default_rng(1).random((N, 12))
    np.testing.assert_allclose(Hops(there, 2).T @ G, Hops(graph, 2).T @ G)
    np.testing.assert_allclose(Unfolded(there, 3) @ F, Unfolded(graph, 3) @ F)
    single = Resolvent(there, 0.6) @ F[:, 0].astype(np.float32)
    expected = Resolvent(graph, 0.6) @ F[:, 0].astype(np.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, expected)
    P = Resolvent(there, 0.6, max_steps=3)
    with pytest.warns(UserWarning, match="did not reach tol"):
        P @ F
    assert P.last_solve.n_steps == 3


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_self_weights_on_workers_are_those_of_memory(cluster, method):
    graph, nodes = make_graph(), np.arange(0, N, 7)
    there = graph.on("dask", address=cluster.address)
    for make in (
        lambda graph: Resolvent(graph, 0.8),
        lambda graph: Iteration(graph, 0.8, 30),
        lambda graph: Hops(graph, 2),
    ):
        expected = make(graph).self_weight(nodes, tol=1e-7, method=method)
        found = make(there).self_weight(nodes, tol=1e-7, method=method)
        np.testing.assert_allclose(found.value, expected.value, atol=1e-10)
        np.testing.assert_array_equal(found.method, expected.method)
        np.testing.assert_array_equal(found.nodes, nodes)
    if method == "auto":  # both halves were at work
        both = Resolvent(there, 0.8).self_weight(nodes, tol=3e-5)
        assert set(both.method) == {"push", "exact"}
    many = np.arange(N)  # more than one chunk for a worker's threads
    expected = Resolvent(graph, 0.6).self_weight(many, tol=1e-3)
    found = Resolvent(there, 0.6).self_weight(many, tol=1e-3, progress=lambda *_: None)
    np.testing.assert_array_equal(found.value, expected.value)
    rows = np.arange(0, N, 3)
    expected = Resolvent(graph, 0.8).column_energy(rows, nodes).column_energy
    found = Resolvent(there, 0.8).column_energy(rows, nodes).column_energy
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_estimators_follow(cluster, tmp_path):
    graph = make_graph()
    y = np.where(np.arange(N) % 3 == 0, np.arange(N) % 4, -1)
    expected = LabelPropagation(0.8).fit(None, y, graph=graph)
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    for given in (graph, stored):
        there = given.on(address=cluster.address)
        model = LabelPropagation(0.8).fit(None, y, graph=there)
        np.testing.assert_allclose(model.predict_proba(), expected.predict_proba(), atol=3e-5)
        np.testing.assert_allclose(model.oof_proba_, expected.oof_proba_, atol=3e-5)


def test_workers_keep_no_more_rows_than_their_share(cluster):
    from distributed import Client

    def kept():
        from labeltrick.propagation.engine.cluster import rows

        return sum(part.nbytes for part in rows._rows.values()), len(rows._iterates)

    limit, most = 100_000, []
    graph = make_graph().on("dask", address=cluster.address, max_memory=limit)
    with Client(cluster.address, set_as_default=False) as client:
        for damping in (0.5, 0.7, 0.9):

            def watch(done, total):
                most.extend(kept_bytes for kept_bytes, _ in client.run(kept).values())

            Iteration(graph, damping, 5).apply(F[:, :4], progress=watch)
        assert 0 < max(most) <= 0.6 * limit  # half of it, as evenly as rows and edges divide
        assert set(client.run(kept).values()) == {(0, 0)}


def test_no_columns(cluster):
    none = np.zeros((N, 0))
    found = Resolvent(make_graph().on("dask", address=cluster.address), 0.8) @ none
    assert found.shape == (N, 0)


def test_a_folder_named_in_short_is_the_same_for_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    P = Iteration(make_graph().on(checkpoint_dir="kept"), 0.9, 3)
    assert P.compute.checkpoint_dir == str(tmp_path / "kept")
    graph = make_graph()
    first = in_folder(graph, Compute())
    second = in_folder(graph, Compute(checkpoint_dir=str(tmp_path / "kept")))
    assert second.folder.is_relative_to(tmp_path / "kept")
    assert in_folder(graph, Compute(checkpoint_dir=str(tmp_path / "kept"))) is second
    assert first.folder != second.folder


def test_a_worker_with_all_threads_is_started_where_no_address_is_given():
    graph, environment = make_graph(), dict(os.environ)
    found = Resolvent(graph.on("dask"), 0.8) @ F
    np.testing.assert_allclose(found, Resolvent(graph, 0.8) @ F, atol=1e-6)
    assert dict(os.environ) == environment  # Dask sets threads for its workers
    workers = list(known_workers(connection._own["client"]).values())
    assert [worker["nthreads"] for worker in workers] == [get_num_threads()]
    close()


def test_what_is_started_here_listens_on_this_machine_alone():
    psutil = pytest.importorskip("psutil")
    me = psutil.Process()

    def sockets(process):
        return getattr(process, "net_connections", None) or process.connections  # before psutil 6

    def listening():
        return {
            (process.pid, entry.laddr.ip, entry.laddr.port)
            for process in [me, *me.children(recursive=True)]
            for entry in sockets(process)(kind="inet")
            if entry.status == psutil.CONN_LISTEN
        }

    close()
    before = listening()
    try:
        Resolvent(make_graph().on("dask"), 0.8) @ F[:, :1]
        ours = listening() - before
    finally:
        close()
    assert len({pid for pid, *_ in ours}) == 2  # the scheduler with the nanny, and the worker
    assert {address for _, address, _ in ours} == {"127.0.0.1"}


def test_slices_are_of_whole_cache_lines():
    assert column_slices(64, 4, 2) == [(0, 32), (32, 64)]
    assert column_slices(47, 4, 2) == [(0, 16), (16, 47)]  # three lines in all, not four
    assert column_slices(20, 4, 4) == [(0, 20)]
    assert column_slices(8, 8, 4) == [(0, 8)]
    for n_columns in (1, 5, 16, 17, 33, 100, 127, 1000):
        for n_workers in (1, 2, 3, 8):
            slices = column_slices(n_columns, 4, n_workers)
            widths = [end - first for first, end in slices]
            assert sum(widths) == n_columns
            assert max(widths) <= 64
            assert all(first % 16 == 0 for first, _ in slices)
            assert min(widths) >= min(16, n_columns)
            assert max(widths) - min(widths) < 32


def test_what_fits_goes_by_the_least_worker(tmp_path):
    graph = open_graph(save_graph(make_graph(), tmp_path / "g.lt"))
    needed = estimated_bytes(graph)
    large = Cluster(None, {"a": needed + 1})
    assert graph_fits_workers(graph, large)
    assert not graph_fits_workers(graph, Cluster(None, {"a": needed + 1, "b": needed - 1}))
    assert graph_fits_workers(graph, Cluster(None, {"c": None}))
    capped = graph.on(max_memory=needed - 1)
    assert not graph_fits_workers(capped, large)
