import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from labeltrick import Graph, Power, get_num_threads, set_num_threads
from labeltrick._utils import threads
from labeltrick._utils.threads import one_blas_thread, row_cuts, run_blocks, run_chunks


@pytest.fixture(autouse=True)
def _restore_threads():
    yield
    set_num_threads(None)


@pytest.fixture
def any_work(monkeypatch):
    """Threads share out work of any size."""
    monkeypatch.setattr(threads, "_SMALL_WORK", 0)


def large_graph():
    rng = np.random.default_rng(0)
    return Graph.from_edges(*rng.integers(0, 5000, (2, 60_000)), n_nodes=5000)


def test_number_of_threads(monkeypatch):
    set_num_threads(3)
    assert get_num_threads() == 3
    set_num_threads(None)
    monkeypatch.setenv("LABELTRICK_NUM_THREADS", "5")
    assert get_num_threads() == 5
    monkeypatch.setenv("LABELTRICK_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="LABELTRICK_NUM_THREADS must be a positive integer"):
        get_num_threads()
    set_num_threads(np.int64(2))
    assert get_num_threads() == 2
    for bad in (0, True, 1.5):
        with pytest.raises(ValueError, match="`n` must be a positive integer or None; got"):
            set_num_threads(bad)


def test_cuts_cover_all_rows_with_like_work():
    set_num_threads(4)
    graph = large_graph()
    cuts = row_cuts(graph.indptr, 128)
    assert cuts[0] == 0
    assert cuts[-1] == graph.n_nodes
    work = np.diff(graph.indptr[cuts] + 4 * cuts)
    assert len(work) == 16
    assert work.max() < 1.2 * work.min()
    assert row_cuts(graph.indptr[:10], 8).tolist() == [0, 9]  # too little to share


def test_one_hub_with_all_edges_still_covers_all_rows(any_work):
    set_num_threads(4)
    indptr = np.concatenate([[0], np.full(2001, 500_000)])
    cuts = row_cuts(indptr, 8)
    assert len(cuts) > 2
    assert (np.diff(cuts) > 0).all()
    assert (cuts[0], cuts[-1]) == (0, 2001)


def test_errors_in_a_chunk_reach_the_caller():
    set_num_threads(2)

    def fail(start, stop):
        raise RuntimeError(f"chunk {start}")

    with pytest.raises(RuntimeError, match="chunk"):
        run_chunks(fail, np.array([0, 1, 2]))


def test_results_do_not_depend_on_the_number_of_threads(any_work):
    graph = large_graph()
    F = np.random.default_rng(1).normal(size=(5000, 20)).astype(np.float32)
    results = []
    for n in (1, 2, 5):
        set_num_threads(n)
        results.append(Power(graph, 3) @ F)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_products_by_blocks_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    X, W = (rng.normal(size=shape).astype(np.float32) for shape in ((40_000, 30), (30, 20)))
    results = []
    for n in (1, 2, 5):
        set_num_threads(n)
        results.append(run_blocks(lambda start, stop: X[start:stop] @ W, len(X)))
    np.testing.assert_allclose(results[0], X @ W, atol=1e-4)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    assert run_blocks(lambda start, stop: X[start:stop] @ W, 0).shape == (0, 20)


def test_calls_from_several_python_threads(any_work):
    set_num_threads(2)
    graph = large_graph()
    P = Power(graph, 3)
    F = np.random.default_rng(1).normal(size=(5000, 20))
    expected = P @ F
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: P @ F, range(8)):
            np.testing.assert_array_equal(result, expected)


def _sum_in_child(queue):
    queue.put(float((Power(large_graph(), 2) @ np.ones(5000)).sum()))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs os.fork, absent here"
)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_propagate_too(any_work):
    set_num_threads(2)
    expected = float((Power(large_graph(), 2) @ np.ones(5000)).sum())  # starts the pool
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_sum_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(10)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork, absent here")
def test_a_forked_child_can_train_after_torch_was_used():
    """In a process of its own: OpenMP's threads are started once per process."""
    pytest.importorskip("torch")
    code = """
import os, signal, sys
import numpy as np, torch
torch.set_num_threads(2)
from labeltrick import Graph, SIGN
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 60)).astype(np.float32)
y = (X[:, 0] > 0).astype(int)
graph = Graph.from_edges(np.arange(999), np.arange(1, 1000))
fit = lambda: SIGN(1, hidden=64, max_epochs=2, progress=False).fit(X, y, graph=graph).predict()
fit()
child = os.fork()
if child == 0:
    signal.alarm(60)
    fit()
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True)
    assert done.returncode == 0, done.stderr[-500:]


def test_blas_uses_one_thread_inside_and_as_many_as_before_after_it():
    def in_use():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = in_use()
    for _ in range(2):
        with one_blas_thread():
            assert set(in_use()) <= {1}
        assert in_use() == before


@pytest.mark.parametrize(("given", "found"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_that_wait_do_not_spin_unless_asked_to(given, found):
    environment = {name: v for name, v in os.environ.items() if name != "OMP_WAIT_POLICY"}
    if given is not None:
        environment["OMP_WAIT_POLICY"] = given
    code = "import os, labeltrick._utils.threads; print(os.environ['OMP_WAIT_POLICY'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() == found
