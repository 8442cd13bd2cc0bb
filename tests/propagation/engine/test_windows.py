"""The engine "disk": the same answers as in memory, within the memory it may take."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from labeltrick import (
    SGC,
    Iteration,
    LabelPropagation,
    Resolvent,
    Series,
    TrainableLabelPropagation,
    Unfolded,
    open_graph,
    save_graph,
)
from labeltrick.propagation.engine.products import layout_of
from labeltrick.propagation.engine.windows import StreamedLayout
from tests.support.disk_products import KINDS, N, hub_graph, signal


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("max_memory", ["300kB", "100MB"])  # iterates in files, and in memory
def test_products_are_those_of_memory(kind, directed, max_memory):
    graph, F = hub_graph(directed), signal()
    expected = KINDS[kind](graph) @ F
    P = KINDS[kind](graph.on("disk", max_memory=max_memory))
    assert P.engine == "disk"
    np.testing.assert_allclose(P @ F, expected, atol=1e-6 * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_and_single_columns(dtype):
    graph, F = hub_graph(weighted=True), signal(dtype)
    for column in (F, F[:, 0]):
        expected = Series(graph, 0.9, 4) @ column
        found = Series(graph.on("disk", max_memory="200kB"), 0.9, 4) @ column
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)  # the same sums in the same order
    expected = Unfolded(graph, 3) @ F
    np.testing.assert_array_equal(Unfolded(graph.on("disk"), 3) @ F, expected)


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_self_weights_are_those_of_memory(method):
    graph, nodes = hub_graph(), np.arange(0, N, 13)
    for kind in ("resolvent", "power", "iteration", "hops"):
        options = {"tol": 1e-6, "method": method}
        expected = KINDS[kind](graph).self_weight(nodes, **options)
        found = KINDS[kind](graph.on("disk")).self_weight(nodes, **options)
        np.testing.assert_allclose(found.value, expected.value, atol=1e-10)
    rows = np.arange(0, N, 5)
    energy = Resolvent(graph.on("disk"), 0.8).column_energy(rows, nodes)
    expected = Resolvent(graph, 0.8).column_energy(rows, nodes)
    np.testing.assert_allclose(energy.column_energy, expected.column_energy, atol=1e-10)


def test_windows_and_files_are_really_used():
    stored = Resolvent(hub_graph().on("disk", max_memory="300kB"), 0.8)
    layout = layout_of(stored.S, np.float64)
    assert isinstance(layout, StreamedLayout)
    assert len(layout._bounds) > 2
    assert layout.widest(300_000, 3 * 8 * N) == 8
    assert layout.buffers_in_files
    assert layout.widest(10**8, 3 * 8 * N) > 100
    assert not layout.buffers_in_files
    assert "indices" not in stored.graph.__dict__  # the whole array was never mapped


def test_estimators_follow_the_engine(tmp_path):
    graph = hub_graph()
    rng = np.random.default_rng(3)
    y = np.where(rng.random(N + 2) < 0.3, rng.integers(0, 3, N + 2), -1)
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    for model in (LabelPropagation(0.8), TrainableLabelPropagation(0.8)):
        expected = model.fit(None, y, graph=graph).predict_proba()
        options = {"engine": "disk", "max_memory": "2MB"}
        for place, given in ((graph, options), (stored, options)):
            other = type(model)(0.8).fit(None, y, graph=place.on(**given))
            assert other.graph_.compute.engine == "disk"
            np.testing.assert_allclose(other.predict_proba(), expected, atol=1e-5)
            np.testing.assert_allclose(other.oof_proba_, model.oof_proba_, atol=1e-5)
        carried = type(model)(0.8).fit(None, y, graph=stored.on("disk"))
        assert carried.graph_.compute.engine == "disk"  # "auto" leaves the graph its own


def test_row_wise_training_reads_rows_of_a_file():
    pytest.importorskip("torch")
    graph, X = hub_graph(), signal(np.float32, 12)
    rng = np.random.default_rng(3)
    y = np.where(rng.random(N + 2) < 0.3, (X[:, 0] > 0.5).astype(int), -1)
    options = {"max_epochs": 5, "progress": False, "label_trick": "deterministic"}
    expected = SGC(**options).fit(X, y, graph=graph)
    mapped = SGC(**options).fit(X, y, graph=graph.on("disk", max_memory="300kB"))
    assert type(mapped._rows._raw.base.base.obj).__name__ == "mmap"  # in a file, not in memory
    np.testing.assert_allclose(mapped.predict_proba(), expected.predict_proba(), atol=1e-4)


UNDER_A_LIMIT = """
    import resource, sys
    import numpy as np
    from labeltrick import Iteration, build_graph, open_graph, set_num_threads

    place, cap, n, m = sys.argv[1], *map(int, sys.argv[2:])
    set_num_threads(1)

    def chunks(m):
        def start():
            rng = np.random.default_rng(0)
            for _ in range(0, m, 10_000):
                yield rng.integers(0, n, 10_000), rng.integers(0, n, 10_000), None
        return start

    def work(name, m):
        folder = build_graph(chunks(m), place + name, n_nodes=n, max_memory=cap)
        graph = open_graph(folder)
        P = Iteration(graph.on("disk", max_memory=cap), 0.9, 2)
        F = np.zeros((n, 16), np.float32)
        F[::7] = 1
        return graph, P @ F

    work("/small.lt", 20_000)  # compiles and loads everything
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + cap, used + cap))
    graph, result = work("/large.lt", m)
    assert graph.nbytes > 3 * cap, graph.nbytes
    np.save(place + "/result.npy", result)
    try:
        np.zeros(2 * cap, np.uint8)
    except MemoryError:
        print("the limit holds")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")
def test_a_graph_several_times_the_memory_is_built_and_propagated_under_a_limit(tmp_path):
    n, m, cap = 20_000, 7_000_000, 16_000_000
    code = textwrap.dedent(UNDER_A_LIMIT)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(cap), str(n), str(m)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "the limit holds" in done.stdout
    graph = open_graph(tmp_path / "large.lt")
    F = np.zeros((n, 16), np.float32)
    F[::7] = 1
    expected = Iteration(graph.on("memory"), 0.9, 2) @ F
    np.testing.assert_array_equal(np.load(tmp_path / "result.npy"), expected)
