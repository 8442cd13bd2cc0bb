"""The engine "dask" where workers die, disks are full or settings are wrong: the same answer, or
one clear error."""

import errno
import json
import os
import signal
import threading
import time

import numpy as np
import pytest

from labeltrick import Graph, Iteration, Power, Resolvent, __version__, open_graph, save_graph
from labeltrick.propagation.engine.cluster.connection import Cluster, ClusterError
from tests.support.clusters import F, OwnCluster, make_graph

pytest.importorskip("distributed")


def big_graph():
    """Large enough for its nodes to be renumbered."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 30_000, (2, 90_000))
    return Graph.from_edges(source, target, n_nodes=30_000)


def test_a_killed_worker_changes_nothing(tmp_path):
    with OwnCluster(tmp_path, 2) as own:
        victim = own.workers[1]
        graph = make_graph()
        heard = []

        def kill(done, total):
            if not heard:
                os.kill(victim.pid, signal.SIGKILL)
            heard.append(done / total)

        P = Iteration(graph.on("dask", address=own.address), 0.9, 6000)
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
        P = Iteration(graph.on("dask", address=own.address, max_memory=100_000), 0.9, 30)
        found = P.apply(F[:, :8], progress=kill)
        assert len(heard) > 10
        np.testing.assert_allclose(found, Iteration(graph, 0.9, 30) @ F[:, :8], atol=1e-12)


def at_checkpoint(folder, act):
    """Call ``act`` in a thread as soon as the folder has a checkpoint."""

    def wait():
        deadline = time.monotonic() + 60
        while not list(folder.glob("run-*/*.npz")) and time.monotonic() < deadline:
            time.sleep(0.01)
        act()

    threading.Thread(target=wait, daemon=True).start()


@pytest.fixture
def interrupts():
    """Ctrl-C as in a terminal: a program that a shell starts in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_run_on_workers_goes_on_from_its_checkpoint(cluster, tmp_path, interrupts):
    graph = make_graph()
    there = graph.on("dask", address=cluster.address, checkpoint_dir=tmp_path / "kept")
    P = Iteration(there, 0.9, 20000)

    at_checkpoint(tmp_path / "kept", lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        P.apply(F)
    assert list((tmp_path / "kept").glob("run-*/*.npz"))
    found = P.apply(F)
    assert not list((tmp_path / "kept").glob("run-*"))
    np.testing.assert_allclose(found, Iteration(graph, 0.9, 20000) @ F, atol=1e-12)
    left = tmp_path / "kept" / "run-of-before"
    left.mkdir()
    np.savez(left / "0-8-given.npz", first=F)
    with pytest.raises(ValueError, match="is of another"):
        other = make_graph(seed=8)
        Iteration(other.on(address=cluster.address, checkpoint_dir=tmp_path / "kept"), 0.9, 3) @ F


def test_a_worker_takes_over_from_the_checkpoint_of_a_dead_one(tmp_path):
    """Also where the dead one had renumbered the nodes inside."""
    with OwnCluster(tmp_path, 2) as own:
        victim = own.workers[1]
        graph, kept = big_graph(), tmp_path / "kept"
        signal_in = np.random.default_rng(1).random((graph.n_nodes, 40)).astype(np.float32)

        at_checkpoint(kept, lambda: os.kill(victim.pid, signal.SIGKILL))
        there = graph.on("dask", address=own.address, checkpoint_dir=kept)
        found = Iteration(there, 0.9, 1000) @ signal_in
        victim.wait(10)
        assert victim.returncode == -signal.SIGKILL
        np.testing.assert_array_equal(found, Iteration(graph, 0.9, 1000) @ signal_in)


def test_workers_that_are_all_gone_are_reported(tmp_path, monkeypatch):
    from labeltrick.propagation.engine.cluster import running

    monkeypatch.setattr(running, "WORKER_SECONDS", 3)
    with OwnCluster(tmp_path, 1) as own:
        (victim,) = own.workers
        P = Power(make_graph().on("dask", address=own.address), 10**5)
        with pytest.raises(ClusterError, match="all workers are gone"):
            P.apply(F, progress=lambda done, total: os.kill(victim.pid, signal.SIGKILL))


def test_errors_of_workers_come_as_their_plain_kind():
    """Some take arguments of their own, and could not be made from a text."""
    from labeltrick.propagation.engine.cluster.running import Tasks

    class Failed:
        def __init__(self, error):
            self.error = error

        def result(self):
            raise self.error

    tasks = Tasks(Cluster(None, {}), "", False)
    with pytest.raises(MemoryError, match="allocate"):
        tasks._result(Failed(np._core._exceptions._ArrayMemoryError((10**9,), np.dtype(float))), "")
    with pytest.raises(ValueError, match="Expecting"):
        tasks._result(Failed(json.JSONDecodeError("Expecting value", "", 0)), "")
    with pytest.raises(FileNotFoundError, match="'gone'"):
        tasks._result(Failed(FileNotFoundError(2, "No such file", "gone")), "")


def test_a_result_that_the_disk_has_no_room_for(monkeypatch, tmp_path):
    """Found out before it is written: a process that writes to a map of a full disk is ended."""
    from labeltrick._utils import disk_full
    from labeltrick.propagation.engine.cluster import tasks

    def full(handle, first, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk_full.os, "posix_fallocate", full)
    with pytest.raises(OSError, match="no space for a result in .*: set TMPDIR") as caught:
        tasks.new_array(tmp_path / "a.npy", (10, 3), np.dtype(float))
    assert caught.value.errno == errno.ENOSPC


def test_an_error_on_a_worker_is_one_readable_message(cluster, tmp_path):
    graph = make_graph()
    there = graph.on("dask", address=cluster.address)
    wrong = F.copy()
    wrong[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"^`F` must be finite; row 7 holds NaN") as caught:
        Resolvent(there, 0.8) @ wrong
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    P = Resolvent(stored.on("dask", address=cluster.address), 0.8)
    os.truncate(tmp_path / "g.lt" / "indices.npy", 500)
    with pytest.raises(ValueError, match="the graph folder is incomplete"):
        P @ F


def test_an_address_that_does_not_answer_is_reported_in_seconds():
    begin = time.monotonic()
    with pytest.raises(ConnectionError, match="no Dask scheduler answered at tcp://127.0.0.1:9"):
        Resolvent(make_graph().on(address="tcp://127.0.0.1:9"), 0.8) @ F
    assert time.monotonic() - begin < 15


def test_workers_that_will_not_do_are_reported(tmp_path):
    for name, text in (("old", "__version__ = '0.0.1'"), ("none", "raise ImportError('no')")):
        package = tmp_path / name / "labeltrick"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text + "\n")
    for name, has in (("old", "it has 0.0.1"), ("none", "it has none")):
        with OwnCluster(tmp_path / name) as own:
            own.add_worker(PYTHONPATH=str(tmp_path / name))
            own.wait_for(1)
            with pytest.raises(ClusterError, match=f"must have labeltrick .*; {has}") as caught:
                Resolvent(make_graph().on(address=own.address), 0.8) @ F
            assert f"pip install labeltrick=={__version__}" in str(caught.value)


def test_a_folder_that_workers_cannot_see_is_reported(cluster, monkeypatch):
    from labeltrick.propagation.engine.cluster import connection

    blind = f"def look(files): return {__version__!r}, files[1:]"
    monkeypatch.setattr(connection, "_LOOK", blind)
    with pytest.raises(ClusterError, match=r"cannot see '.*graph.lt'. Set `checkpoint_dir`"):
        Resolvent(make_graph().on(address=cluster.address), 0.8) @ F


def test_a_scheduler_without_workers_is_reported(tmp_path, monkeypatch):
    from labeltrick.propagation.engine.cluster import connection

    monkeypatch.setattr(connection, "WORKER_SECONDS", 1)
    reported = pytest.raises(ClusterError, match="no worker joined .* Start some: dask worker tcp")
    with OwnCluster(tmp_path) as own, reported:
        Resolvent(make_graph().on(address=own.address), 0.8) @ F


def test_workers_that_the_scheduler_does_not_list_yet_are_waited_for(cluster, monkeypatch):
    from labeltrick.propagation.engine.cluster import connection

    listed, known = [{}], connection.known_workers
    monkeypatch.setattr(
        connection, "known_workers", lambda client: listed.pop() if listed else known(client)
    )
    graph = make_graph()
    found = Resolvent(graph.on(address=cluster.address), 0.8) @ F
    np.testing.assert_allclose(found, Resolvent(graph, 0.8) @ F, atol=1e-9)
    monkeypatch.setattr(connection, "known_workers", lambda client: {})
    with pytest.raises(ClusterError, match="no worker joined"):
        Resolvent(graph.on(address=cluster.address), 0.8) @ F
