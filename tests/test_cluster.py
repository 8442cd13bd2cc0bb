"""The engine "dask": the same answers as in memory, also when a worker is killed; clear errors."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import (
    Graph,
    Hops,
    Iteration,
    LabelPropagation,
    Power,
    Resolvent,
    Unfolded,
    __version__,
    open_graph,
    save_graph,
)
from labeltrick._compute import Compute
from labeltrick.cluster.columns import column_slices, graph_fits_workers
from labeltrick.cluster.connection import Cluster, ClusterError, Worker, close
from labeltrick.stored.placing import estimated_bytes, in_folder

pytest.importorskip("distributed")

N = 2000


class OwnCluster:
    """A scheduler and workers as processes of their own."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.processes = []
        self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        deadline = time.monotonic() + 60
        while not self.file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)

    def _start(self, program, *options, **environment):
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--no-dashboard"]
        process = subprocess.Popen(
            [*command, "--scheduler-file", str(self.file), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.file.parent,
            env={**os.environ, **environment},
        )
        self.processes.append(process)
        return process

    def add_worker(self, *options, **environment):
        fixed = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0")
        return self._start("dask_worker", *fixed, *options, **environment)

    @property
    def address(self):
        return json.loads(self.file.read_text())["address"]

    def wait_for(self, n_workers):
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=60)

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    own = OwnCluster(tmp_path_factory.mktemp("cluster"))
    own.add_worker()
    own.add_worker()
    own.wait_for(2)
    yield own
    close()
    own.stop()


def make_graph(directed=False, seed=0):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, N, 8000), rng.integers(0, N, 8000)
    source[:500] = 3
    return Graph.from_edges(source, target, directed=directed, n_nodes=N)


def big_graph():
    """Large enough for its nodes to be renumbered."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 30_000, (2, 90_000))
    return Graph.from_edges(source, target, n_nodes=30_000)


F = np.random.default_rng(5).random((N, 20))
KINDS = {
    "resolvent": lambda graph, **more: Resolvent(graph, 0.8, **more),
    "transposed": lambda graph, **more: Resolvent(graph, 0.7, norm="row", **more).T,
    "clamped": lambda graph, **more: Iteration(graph, 0.9, 5, clamp=(0.0, 0.5), **more),
    "hops": lambda graph, **more: Hops(graph, 2, self_loops=True, **more),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_columns_on_workers_are_those_of_memory(cluster, kind, directed):
    graph = make_graph(directed)
    expected = KINDS[kind](graph) @ F
    found = KINDS[kind](graph, engine="dask", address=cluster.address) @ F
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_split_where_the_graph_does_not_fit(cluster, kind, caplog):
    graph = make_graph()
    expected = KINDS[kind](graph) @ F[:, :9]
    P = KINDS[kind](graph, engine="dask", address=cluster.address, max_memory=100_000)
    with caplog.at_level("INFO", "labeltrick"):
        found = P @ F[:, :9]
    assert "does not fit a worker" in caplog.text
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max(), rtol=0)


def test_other_inputs(cluster):
    graph, options = make_graph(), {"engine": "dask", "address": cluster.address}
    X = sp.random_array((N, 17), density=0.05, rng=1, format="csr")
    np.testing.assert_allclose(Power(graph, 2, **options) @ X, Power(graph, 2) @ X)
    G = np.random.default_rng(1).random((N, 12))
    np.testing.assert_allclose(Hops(graph, 2, **options).T @ G, Hops(graph, 2).T @ G)
    np.testing.assert_allclose(Unfolded(graph, 3, **options) @ F, Unfolded(graph, 3) @ F)
    single = Resolvent(graph, 0.6, **options) @ F[:, 0].astype(np.float32)
    expected = Resolvent(graph, 0.6) @ F[:, 0].astype(np.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, expected)
    P = Resolvent(graph, 0.6, max_steps=3, **options)
    with pytest.warns(UserWarning, match="did not reach tol"):
        P @ F
    assert P.last_solve.n_steps == 3


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_self_weights_on_workers_are_those_of_memory(cluster, method):
    graph, nodes = make_graph(), np.arange(0, N, 7)
    more = {"engine": "dask", "address": cluster.address}
    for make in (
        lambda **options: Resolvent(graph, 0.8, **options),
        lambda **options: Iteration(graph, 0.8, 30, **options),
        lambda **options: Hops(graph, 2, **options),
    ):
        expected = make().self_weight(nodes, tol=1e-7, method=method)
        found = make(**more).self_weight(nodes, tol=1e-7, method=method)
        np.testing.assert_allclose(found.value, expected.value, atol=1e-10)
        np.testing.assert_array_equal(found.method, expected.method)
        np.testing.assert_array_equal(found.nodes, nodes)
    if method == "auto":  # both halves were at work
        both = Resolvent(graph, 0.8, **more).self_weight(nodes, tol=3e-5)
        assert set(both.method) == {"push", "exact"}
    many = np.arange(N)  # more than one chunk for a worker's threads
    expected = Resolvent(graph, 0.6).self_weight(many, tol=1e-3)
    found = Resolvent(graph, 0.6, **more).self_weight(many, tol=1e-3, progress=lambda *_: None)
    np.testing.assert_array_equal(found.value, expected.value)
    rows = np.arange(0, N, 3)
    expected = Resolvent(graph, 0.8).column_energy(rows, nodes).column_energy
    found = Resolvent(graph, 0.8, **more).column_energy(rows, nodes).column_energy
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_estimators_follow(cluster, tmp_path):
    graph = make_graph()
    y = np.where(np.arange(N) % 3 == 0, np.arange(N) % 4, -1)
    expected = LabelPropagation(0.8).fit(None, y, graph=graph)
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    for given in (graph, stored):
        model = LabelPropagation(0.8, address=cluster.address).fit(None, y, graph=given)
        np.testing.assert_allclose(model.predict_proba(), expected.predict_proba(), atol=3e-5)
        np.testing.assert_allclose(model.loo_proba_, expected.loo_proba_, atol=3e-5)


def test_a_killed_worker_changes_nothing(tmp_path):
    own = OwnCluster(tmp_path)
    try:
        own.add_worker()
        victim = own.add_worker()
        own.wait_for(2)
        graph = make_graph()
        heard = []

        def kill(done, total):
            if not heard:
                os.kill(victim.pid, signal.SIGKILL)
            heard.append(done / total)

        P = Iteration(graph, 0.9, 6000, engine="dask", address=own.address)
        found = P.apply(F, progress=kill)
        victim.wait(10)
        assert victim.returncode == -signal.SIGKILL
        assert heard[0] < 0.9  # in mid-run
        assert heard[-1] == 1
        np.testing.assert_allclose(found, Iteration(graph, 0.9, 6000) @ F, atol=1e-12)
        # and by rows, where every step needs all workers
        second = own.add_worker()
        own.wait_for(2)
        heard.clear()
        victim = second
        P = Iteration(graph, 0.9, 30, engine="dask", address=own.address, max_memory=100_000)
        found = P.apply(F[:, :8], progress=kill)
        assert len(heard) > 10
        np.testing.assert_allclose(found, Iteration(graph, 0.9, 30) @ F[:, :8], atol=1e-12)
    finally:
        close()
        own.stop()


def test_a_run_on_workers_goes_on_from_its_checkpoint(cluster, tmp_path):
    graph = make_graph()
    P = Iteration(
        graph, 0.9, 6000, engine="dask", address=cluster.address, checkpoint_dir=tmp_path / "kept"
    )

    def interrupt():  # as Ctrl-C does, once there is a checkpoint
        deadline = time.monotonic() + 60
        while not list((tmp_path / "kept").glob("run-*/*.npz")) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        P.apply(F)
    assert list((tmp_path / "kept").glob("run-*/*.npz"))
    found = P.apply(F)
    assert not list((tmp_path / "kept").glob("run-*"))
    np.testing.assert_allclose(found, Iteration(graph, 0.9, 6000) @ F, atol=1e-12)
    left = tmp_path / "kept" / "run-of-before"
    left.mkdir()
    np.savez(left / "0-8-given.npz", first=F)
    with pytest.raises(ValueError, match="is of another"):
        other = make_graph(seed=8)
        Iteration(other, 0.9, 3, address=cluster.address, checkpoint_dir=tmp_path / "kept") @ F


def test_a_worker_takes_over_from_the_checkpoint_of_a_dead_one(tmp_path):
    """Also where the dead one had renumbered the nodes inside."""
    own = OwnCluster(tmp_path)
    try:
        own.add_worker()
        victim = own.add_worker()
        own.wait_for(2)
        graph, kept = big_graph(), tmp_path / "kept"
        signal_in = np.random.default_rng(1).random((graph.n_nodes, 40)).astype(np.float32)

        def kill(done, total):
            if list(kept.glob("run-*/*.npz")) and victim.poll() is None:
                os.kill(victim.pid, signal.SIGKILL)

        options = {"engine": "dask", "address": own.address, "checkpoint_dir": kept}
        found = Iteration(graph, 0.9, 400, **options).apply(signal_in, progress=kill)
        victim.wait(10)
        assert victim.returncode == -signal.SIGKILL
        np.testing.assert_array_equal(found, Iteration(graph, 0.9, 400) @ signal_in)
    finally:
        close()
        own.stop()


def test_workers_that_are_all_gone_are_told(tmp_path, monkeypatch):
    from labeltrick.cluster import running

    monkeypatch.setattr(running, "WORKER_SECONDS", 3)
    own = OwnCluster(tmp_path)
    try:
        victim = own.add_worker()
        own.wait_for(1)
        P = Power(make_graph(), 10**5, engine="dask", address=own.address)
        with pytest.raises(ClusterError, match="all workers are gone"):
            P.apply(F, progress=lambda done, total: os.kill(victim.pid, signal.SIGKILL))
    finally:
        close()
        own.stop()


def test_workers_keep_no_more_rows_than_their_share(cluster):
    from distributed import Client

    def held():
        from labeltrick.cluster import rows

        return sum(part.nbytes for part in rows._rows.values()), len(rows._iterates)

    graph, most = make_graph(), []
    limit = 100_000
    options = {"engine": "dask", "address": cluster.address, "max_memory": limit}
    with Client(cluster.address, set_as_default=False) as client:
        for damping in (0.5, 0.7, 0.9):

            def watch(done, total):
                most.extend(held_bytes for held_bytes, _ in client.run(held).values())

            Iteration(graph, damping, 5, **options).apply(F[:, :4], progress=watch)
        assert 0 < max(most) <= 0.6 * limit  # half of it, as evenly as rows and edges divide
        assert set(client.run(held).values()) == {(0, 0)}


def test_no_columns(cluster):
    none = np.zeros((N, 0))
    found = Resolvent(make_graph(), 0.8, engine="dask", address=cluster.address) @ none
    assert found.shape == (N, 0)


def test_errors_of_workers_come_as_their_plain_kind():
    """Some take arguments of their own, and could not be made from a text."""
    from labeltrick.cluster.running import Tasks

    class Failed:
        def __init__(self, error):
            self.error = error

        def result(self):
            raise self.error

    tasks = Tasks(Cluster(None, []), "", False)
    with pytest.raises(MemoryError, match="allocate"):
        tasks._result(Failed(np._core._exceptions._ArrayMemoryError((10**9,), np.dtype(float))), "")
    with pytest.raises(ValueError, match="Expecting"):
        tasks._result(Failed(json.JSONDecodeError("Expecting value", "", 0)), "")
    with pytest.raises(FileNotFoundError, match="'gone'"):
        tasks._result(Failed(FileNotFoundError(2, "No such file", "gone")), "")


def test_a_result_that_the_disk_has_no_room_for(monkeypatch, tmp_path):
    """Found out before it is written: a process that writes to a map of a full disk is ended."""
    from labeltrick import _space
    from labeltrick.cluster import tasks

    def full(handle, first, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_space.os, "posix_fallocate", full)
    with pytest.raises(OSError, match="no space for a result in .*: set TMPDIR") as caught:
        tasks.new_array(tmp_path / "a.npy", (10, 3), np.dtype(float))
    assert caught.value.errno == errno.ENOSPC


def test_a_folder_named_in_short_is_the_same_for_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    P = Iteration(make_graph(), 0.9, 3, checkpoint_dir="kept")
    assert P.compute.checkpoint_dir == str(tmp_path / "kept")
    graph = make_graph()
    first = in_folder(graph, Compute())
    second = in_folder(graph, Compute(checkpoint_dir=str(tmp_path / "kept")))
    assert second.folder.is_relative_to(tmp_path / "kept")
    assert in_folder(graph, Compute(checkpoint_dir=str(tmp_path / "kept"))) is second
    assert first.folder != second.folder


def test_an_error_on_a_worker_is_one_readable_message(cluster, tmp_path):
    graph = make_graph()
    more = {"engine": "dask", "address": cluster.address}
    wrong = F.copy()
    wrong[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"^`F` must be finite; row 7 holds NaN") as caught:
        Resolvent(graph, 0.8, **more) @ wrong
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    P = Resolvent(stored, 0.8, **more)
    os.truncate(tmp_path / "g.lt" / "indices.npy", 500)
    with pytest.raises(ValueError, match="the graph folder was cut short"):
        P @ F


def test_an_address_that_does_not_answer_is_told_in_seconds():
    begin = time.monotonic()
    with pytest.raises(ConnectionError, match="no Dask scheduler answered at tcp://127.0.0.1:9"):
        Resolvent(make_graph(), 0.8, address="tcp://127.0.0.1:9") @ F
    assert time.monotonic() - begin < 15


def test_workers_that_will_not_do_are_told(tmp_path):
    for name, text in (("old", "__version__ = '0.0.1'"), ("none", "raise ImportError('no')")):
        package = tmp_path / name / "labeltrick"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text + "\n")
    for name, has in (("old", "it has 0.0.1"), ("none", "it has none")):
        own = OwnCluster(tmp_path / name)
        try:
            own.add_worker(PYTHONPATH=str(tmp_path / name))
            own.wait_for(1)
            with pytest.raises(ClusterError, match=f"must have labeltrick .*; {has}") as caught:
                Resolvent(make_graph(), 0.8, address=own.address) @ F
            assert f"pip install labeltrick=={__version__}" in str(caught.value)
        finally:
            close()
            own.stop()


def test_a_folder_that_workers_cannot_see_is_told(cluster, monkeypatch):
    from labeltrick.cluster import connection

    blind = f"def look(files): return {__version__!r}, files[1:]"
    monkeypatch.setattr(connection, "_LOOK", blind)
    with pytest.raises(ClusterError, match=r"cannot see '.*graph.lt'. Set `checkpoint_dir`"):
        Resolvent(make_graph(), 0.8, address=cluster.address) @ F


def test_a_scheduler_without_workers_is_told(tmp_path, monkeypatch):
    from labeltrick.cluster import connection

    monkeypatch.setattr(connection, "WORKER_SECONDS", 1)
    own = OwnCluster(tmp_path)
    try:
        with pytest.raises(ClusterError, match="no worker joined .* Start some: dask worker tcp"):
            Resolvent(make_graph(), 0.8, address=own.address) @ F
    finally:
        close()
        own.stop()


def test_workers_of_this_machine_are_started_where_no_address_is_given():
    graph = make_graph()
    found = Resolvent(graph, 0.8, engine="dask") @ F
    np.testing.assert_allclose(found, Resolvent(graph, 0.8) @ F, atol=1e-6)
    close()


def test_slices_are_even_and_no_narrower_than_a_cache_line():
    assert column_slices(48, 4, 2) == [(0, 24), (24, 48)]
    assert column_slices(20, 4, 4) == [(0, 20)]
    assert column_slices(8, 8, 4) == [(0, 8)]
    for n_columns in (1, 5, 16, 33, 100, 1000):
        for n_workers in (1, 2, 3, 8):
            slices = column_slices(n_columns, 4, n_workers)
            widths = [end - first for first, end in slices]
            assert sum(widths) == n_columns
            assert max(widths) <= 64
            assert max(widths) - min(widths) <= 1
            assert min(widths) >= min(16, n_columns)


def test_what_fits_goes_by_the_least_worker(tmp_path):
    graph = open_graph(save_graph(make_graph(), tmp_path / "g.lt"))
    needed = estimated_bytes(graph)
    workers = [Worker("a", 1, needed + 1), Worker("b", 1, needed - 1)]
    assert graph_fits_workers(graph, Cluster(None, workers[:1]))
    assert not graph_fits_workers(graph, Cluster(None, workers))
    assert graph_fits_workers(graph, Cluster(None, [Worker("c", 1, None)]))
    capped = graph.on(max_memory=needed - 1)
    assert not graph_fits_workers(capped, Cluster(None, workers[:1]))
