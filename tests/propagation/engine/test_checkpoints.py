"""Checkpoints of long products."""

import numpy as np
import pytest

from labeltrick import (
    Graph,
    HopSum,
    Iteration,
)
from labeltrick.propagation import base
from labeltrick.propagation.engine import checkpoints
from labeltrick.propagation.engine.blocks import Block
from labeltrick.propagation.engine.checkpoints import CheckpointFolder
from tests.support.disk_products import KINDS, hub_graph, signal


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
    graph, F = hub_graph(), signal(columns=70)  # three blocks
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
    graph, F = hub_graph(), signal()
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
    graph, F = hub_graph(), signal()
    expected = Iteration(graph, 0.9, 12, reorder=False) @ F
    with pytest.MonkeyPatch.context() as patch:
        break_after(patch, 7)
        with pytest.raises(Interrupted):
            Iteration(graph.on(checkpoint_dir=tmp_path), 0.9, 12) @ F
    (kept,) = tmp_path.glob("run-*/*.npz")
    assert "reordered" in kept.name
    again = hub_graph()
    found = Iteration(again.on(engine, checkpoint_dir=tmp_path), 0.9, 12) @ F
    np.testing.assert_array_equal(found, expected)


def test_whether_nodes_are_renumbered_does_not_hang_on_earlier_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "_INNER_CACHE_BYTES", 0)
    graph = hub_graph()
    graph.gathered_per_edge = 10**9
    P = Iteration(graph.on(checkpoint_dir=tmp_path), 0.9, 3)
    assert not P._reordering_pays(2, 3, np.dtype(float))
    assert Iteration(graph, 0.9, 3)._reordering_pays(2, 3, np.dtype(float))


def test_weights_that_differ_in_one_bit_are_another_run():
    graph = hub_graph()
    weights = np.ones(1501)
    near = weights.copy()
    near[700] += 1e-15
    marks = {HopSum(graph, 1500, hop_weights=w).recipe().mark() for w in (weights, near)}
    assert len(marks) == 2
    assert HopSum(graph, 1500, hop_weights=weights.copy()).recipe().mark() in marks


def test_a_checkpoint_of_another_graph_is_reported(tmp_path):
    graph, F = hub_graph(), signal()
    other = hub_graph(seed=9)
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
        Iteration(hub_graph().on(checkpoint_dir=tmp_path), 0.9, 3) @ signal()
    assert (tmp_path / name).read_text() == '{"nodes": [1, 2, 3]}'


def test_a_run_that_is_done_removes_its_checkpoints_alone(tmp_path):
    folder = CheckpointFolder(tmp_path / "kept", hub_graph().identity)
    run = tmp_path / "kept" / "run-1"
    run.mkdir()
    for name in ("0-8-given.npz", "thesis.txt"):
        (run / name).write_text("keep")
    folder.forget("run-1")
    assert [path.name for path in run.iterdir()] == ["thesis.txt"]
