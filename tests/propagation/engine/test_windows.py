"""The engine "disk": the same answers as in memory, within the memory it may take; checkpoints."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from labeltrick import (
    SGC,
    Graph,
    Hops,
    HopSum,
    Iteration,
    LabelPropagation,
    Power,
    Resolvent,
    Series,
    TrainableLabelPropagation,
    Unfolded,
    open_graph,
    save_graph,
)
from labeltrick._utils.memory import bytes_of, shown_bytes
from labeltrick.graph.compute import Compute
from labeltrick.propagation import base
from labeltrick.propagation.engine import checkpoints
from labeltrick.propagation.engine.blocks import Block
from labeltrick.propagation.engine.checkpoints import CheckpointFolder
from labeltrick.propagation.engine.placing import choose_engine, estimated_bytes
from labeltrick.propagation.engine.products import layout_of
from labeltrick.propagation.engine.windows import StreamedLayout

N = 3000
KINDS = {
    "resolvent": lambda graph: Resolvent(graph, 0.8),
    "resolvent, row, transposed": lambda graph: (
        Resolvent(graph, 0.7, norm="row", self_loops=True).T
    ),
    "iteration": lambda graph: Iteration(graph, 0.9, 6, norm="col"),
    "clamped": lambda graph: Iteration(graph, 0.9, 6, clamp=(0.0, 0.5)),
    "series": lambda graph: Series(graph, 0.9, 4),
    "power": lambda graph: Power(graph, 3, self_loops=True),
    "hop sum": lambda graph: HopSum(graph, 3),
    "hops": lambda graph: Hops(graph, 2),
}


def make_graph(directed=False, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, N, 15_000), rng.integers(0, N, 15_000)
    source[:800] = 7  # a hub
    weight = rng.random(15_000) + 0.1 if weighted else None
    return Graph.from_edges(source, target, weight=weight, directed=directed, n_nodes=N + 2)


def signal(dtype=np.float64, columns=20, seed=1):
    return np.random.default_rng(seed).random((N + 2, columns)).astype(dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("max_memory", ["300kB", "100MB"])  # iterates in files, and in memory
def test_products_are_those_of_memory(kind, directed, max_memory):
    graph, F = make_graph(directed), signal()
    expected = KINDS[kind](graph) @ F
    P = KINDS[kind](graph.on("disk", max_memory=max_memory))
    assert P.engine == "disk"
    np.testing.assert_allclose(P @ F, expected, atol=1e-6 * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_and_single_columns(dtype):
    graph, F = make_graph(weighted=True), signal(dtype)
    for column in (F, F[:, 0]):
        expected = Series(graph, 0.9, 4) @ column
        found = Series(graph.on("disk", max_memory="200kB"), 0.9, 4) @ column
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)  # the same sums in the same order
    expected = Unfolded(graph, 3) @ F
    np.testing.assert_array_equal(Unfolded(graph.on("disk"), 3) @ F, expected)


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_self_weights_are_those_of_memory(method):
    graph, nodes = make_graph(), np.arange(0, N, 13)
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
    stored = Resolvent(make_graph().on("disk", max_memory="300kB"), 0.8)
    layout = layout_of(stored.S, np.float64)
    assert isinstance(layout, StreamedLayout)
    assert len(layout._bounds) > 2
    assert layout.widest(300_000, 3 * 8 * N) == 8
    assert layout.buffers_in_files
    assert layout.widest(10**8, 3 * 8 * N) > 100
    assert not layout.buffers_in_files
    assert "indices" not in stored.graph.__dict__  # the whole array was never mapped


def test_estimators_follow_the_engine(tmp_path):
    graph = make_graph()
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
    graph, X = make_graph(), signal(np.float32, 12)
    rng = np.random.default_rng(3)
    y = np.where(rng.random(N + 2) < 0.3, (X[:, 0] > 0.5).astype(int), -1)
    options = {"max_epochs": 5, "progress": False, "label_trick": "deterministic"}
    expected = SGC(**options).fit(X, y, graph=graph)
    mapped = SGC(**options).fit(X, y, graph=graph.on("disk", max_memory="300kB"))
    assert type(mapped._rows._raw.base.base.obj).__name__ == "mmap"  # in a file, not in memory
    np.testing.assert_allclose(mapped.predict_proba(), expected.predict_proba(), atol=1e-4)


def test_auto_goes_by_what_is_needed_and_says_so(tmp_path, caplog):
    graph = make_graph()
    stored = open_graph(save_graph(graph, tmp_path / "g.lt"))
    needed = estimated_bytes(stored)
    assert Resolvent(graph, 0.5).engine == "memory"
    assert Resolvent(stored, 0.5).engine == "memory"
    assert Resolvent(stored.on(max_memory=needed), 0.5).engine == "memory"
    with caplog.at_level("INFO", "labeltrick"):
        P = Resolvent(stored.on(max_memory=needed // 2), 0.5)
    assert P.engine == "disk"
    assert "engine 'disk': about" in caplog.text
    assert "may be used" in caplog.text
    engine, why = choose_engine(graph, Compute(address="tcp://somewhere:1"))
    assert engine == "dask"
    assert "tcp://somewhere:1" in why


def test_wrong_settings_are_told():
    graph = make_graph()
    for wrong, message in (
        ({"engine": "gpu"}, "engine.*must be one of"),
        ({"max_memory": "a lot"}, "such as '8GB'"),
        ({"max_memory": 0}, "at least 1"),
        ({"address": "host"}, "tcp://host:8786"),
        ({"engine": "disk", "address": "tcp://host:8786"}, "must be 'dask'"),
    ):
        with pytest.raises(ValueError, match=message):
            graph.on(**wrong)
    with pytest.raises(TypeError, match="must be a path"):
        graph.on(checkpoint_dir=3)


def test_sizes_in_words():
    assert bytes_of("m", "1kB") == 1000
    assert bytes_of("m", "2 MiB") == 2 * 2**20
    assert bytes_of("m", "0.5g") == 500_000_000
    assert shown_bytes(999) == "999 B"


class Interrupted(Exception):
    pass


def break_after(monkeypatch, n_steps):
    """The machine stops after so many computed steps; returns the count."""
    done = [0]
    real = Block.step

    def step(self, *arguments, **options):
        if not self.trail.is_known:
            if done[0] == n_steps:
                raise Interrupted
            done[0] += 1
        return real(self, *arguments, **options)

    monkeypatch.setattr(Block, "step", step)
    return done


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("kind", ["resolvent", "iteration", "clamped"])
def test_a_run_goes_on_from_its_checkpoint(tmp_path, engine, kind):
    graph, F = make_graph(), signal(columns=70)  # three blocks
    expected = KINDS[kind](graph) @ F
    P = KINDS[kind](graph.on(engine, checkpoint_dir=tmp_path / "kept"))
    total = 3 * P._n_products(np.dtype(float))
    with pytest.MonkeyPatch.context() as patch:
        break_after(patch, total // 2)
        with pytest.raises(Interrupted):
            P @ F
    with pytest.MonkeyPatch.context() as patch:
        done = break_after(patch, 10**9)
        result = P @ F
    assert 0 < done[0] < total - checkpoints.EVERY  # steps of before were not done again
    np.testing.assert_allclose(result, expected, atol=1e-6)
    kept = [entry.name for entry in (tmp_path / "kept").iterdir()]
    assert not [name for name in kept if name.startswith("run-")]  # done: no longer needed


def test_checkpoints_of_other_runs_are_not_taken(tmp_path):
    graph, F = make_graph(), signal()
    P = Iteration(graph.on(checkpoint_dir=tmp_path), 0.9, 12)
    with pytest.MonkeyPatch.context() as patch:
        break_after(patch, 7)
        with pytest.raises(Interrupted):
            P @ F
    other = 2 * F
    np.testing.assert_allclose(P @ other, Iteration(graph, 0.9, 12) @ other)
    quicker = Iteration(graph.on(checkpoint_dir=tmp_path), 0.5, 12)
    np.testing.assert_allclose(quicker @ F, Iteration(graph, 0.5, 12) @ F)


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_a_run_goes_on_in_the_order_of_nodes_it_has(tmp_path, monkeypatch, engine):
    """In memory nodes are renumbered inside, here at once; from disk they are not, and a graph that
    was just made has no order yet."""
    monkeypatch.setattr(base, "_INNER_CACHE_BYTES", 0)
    monkeypatch.setattr(base, "_REORDER_BYTES_PER_EDGE", 0)
    graph, F = make_graph(), signal()
    expected = Iteration(graph, 0.9, 12, reorder=False) @ F
    with pytest.MonkeyPatch.context() as patch:
        break_after(patch, 7)
        with pytest.raises(Interrupted):
            Iteration(graph.on(checkpoint_dir=tmp_path), 0.9, 12) @ F
    (kept,) = tmp_path.glob("run-*/*.npz")
    assert "reordered" in kept.name
    again = make_graph()
    found = Iteration(again.on(engine, checkpoint_dir=tmp_path), 0.9, 12) @ F
    np.testing.assert_array_equal(found, expected)


def test_whether_nodes_are_renumbered_does_not_hang_on_earlier_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "_INNER_CACHE_BYTES", 0)
    graph = make_graph()
    graph.gathered_per_edge = 10**9
    P = Iteration(graph.on(checkpoint_dir=tmp_path), 0.9, 3)
    assert not P._reordering_pays(2, 3, np.dtype(float))
    assert Iteration(graph, 0.9, 3)._reordering_pays(2, 3, np.dtype(float))


def test_weights_that_differ_in_one_bit_are_another_run():
    graph = make_graph()
    weights = np.ones(1501)
    near = weights.copy()
    near[700] += 1e-15
    marks = {HopSum(graph, 1500, hop_weights=w).recipe().mark() for w in (weights, near)}
    assert len(marks) == 2
    assert HopSum(graph, 1500, hop_weights=weights.copy()).recipe().mark() in marks


def test_a_checkpoint_of_another_graph_is_told(tmp_path):
    graph, F = make_graph(), signal()
    other = make_graph(seed=9)
    kept, kept_other = (g.on(checkpoint_dir=tmp_path / "kept") for g in (graph, other))
    Iteration(kept, 0.9, 3) @ F
    expected = Iteration(other, 0.9, 3) @ F
    np.testing.assert_array_equal(Iteration(kept_other, 0.9, 3) @ F, expected)  # none is left
    with pytest.MonkeyPatch.context() as patch:
        break_after(patch, 7)
        with pytest.raises(Interrupted):
            Iteration(kept, 0.9, 12) @ F
    with pytest.raises(ValueError, match="is of another .* Choose another folder, or delete it"):
        Iteration(kept_other, 0.9, 3) @ F
    directed = Graph.from_edges([0, 1, 2], [1, 2, 0], directed=True)
    P = Iteration(directed.on(checkpoint_dir=tmp_path / "both"), 0.9, 3)
    np.testing.assert_allclose((P.T @ (P @ np.eye(3))).sum(), 3)  # each way is a graph of its own
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("keep")
    with pytest.raises(ValueError, match="holds other files"):
        Iteration(graph.on(checkpoint_dir=tmp_path / "mine"), 0.9, 3) @ F


@pytest.mark.parametrize("name", ["graph.json", "labeltrick-notes.txt", "run-1/a.npz"])
def test_checkpoints_replace_nothing_that_others_wrote(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text('{"nodes": [1, 2, 3]}')
    with pytest.raises(ValueError, match="holds other files"):
        Iteration(make_graph().on(checkpoint_dir=tmp_path), 0.9, 3) @ signal()
    assert (tmp_path / name).read_text() == '{"nodes": [1, 2, 3]}'


def test_a_run_that_is_done_removes_its_checkpoints_alone(tmp_path):
    folder = CheckpointFolder(tmp_path / "kept", make_graph().identity)
    run = tmp_path / "kept" / "run-1"
    run.mkdir()
    for name in ("0-8-given.npz", "thesis.txt"):
        (run / name).write_text("keep")
    folder.forget("run-1")
    assert [path.name for path in run.iterdir()] == ["thesis.txt"]


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
