"""Graphs that are written to folders, and what was there before."""

import errno
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from labeltrick import Graph, build_graph, open_graph, save_graph
from labeltrick._utils import temporary_folders
from labeltrick.io.tables import build_graph_folder


def edges(n=50, m=300, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, m) / 2 if weighted else None
    return rng.integers(0, n, m), rng.integers(0, n, m), weights


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_saved_graph_is_the_same_when_opened(tmp_path, directed, weighted):
    source, target, weights = edges(weighted=weighted)
    graph = Graph.from_edges(source, target, weight=weights, directed=directed, n_nodes=55)
    stored = open_graph(save_graph(graph, tmp_path / "graph.lt"))
    assert stored == graph
    assert stored.T == graph.T
    assert stored.T.T is stored
    assert stored.fingerprint == graph.fingerprint
    for name in ("n_nodes", "nnz", "n_edges", "n_self_loops", "directed", "weighted"):
        assert getattr(stored, name) == getattr(graph, name), name
    np.testing.assert_array_equal(stored.out_strengths, graph.out_strengths)
    np.testing.assert_array_equal(stored.in_strengths, graph.in_strengths)
    again = pickle.loads(pickle.dumps(stored))
    assert again == graph
    assert len(pickle.dumps(stored)) < 2000  # by its folder, not by its arrays
    # as anybody's numpy reads it
    np.testing.assert_array_equal(np.load(tmp_path / "graph.lt" / "indices.npy"), graph.indices)


def test_types_are_not_stored_silently(tmp_path):
    typed = Graph.from_edges([0, 1], [1, 2], node_type=["a", "b", "a"])
    with pytest.raises(ValueError, match="no types of nodes or edges"):
        save_graph(typed, tmp_path / "never.lt")


def random_graph(directed=False, n=60, m=300, seed=0):
    source, target = np.random.default_rng(seed).integers(0, n, (2, m))
    return Graph.from_edges(source, target, n_nodes=n, directed=directed)


# -- in the way --------------------------------------------------------------------------------
def test_only_graph_folders_are_overwritten(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    for text in ('{"name": "my site"}', "[1]", "{", '{"format": "another"}'):
        (site / "meta.json").write_text(text)
        (site / "mine.txt").write_text("keep")
        with pytest.raises(FileExistsError, match="something else"):
            save_graph(random_graph(), site, overwrite=True)
        assert (site / "mine.txt").read_text() == "keep"
    assert os.listdir(tmp_path) == ["site"]


def test_the_old_folder_is_there_until_the_new_one_is(tmp_path, monkeypatch):
    old, new = random_graph(), random_graph(seed=1)
    folder = save_graph(old, tmp_path / "g.lt")
    removed = []
    remove = shutil.rmtree

    def watched(path, **options):
        if path.name == "old":
            removed.append((open_graph(folder) == new, open_graph(path) == old))
        remove(path, **options)

    monkeypatch.setattr(temporary_folders.shutil, "rmtree", watched)
    save_graph(new, folder, overwrite=True)
    assert removed == [(True, True)]
    assert os.listdir(tmp_path) == ["g.lt"]


def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    rename = Path.rename

    def broken(self, target):
        if target == folder and self.name == "new":
            raise OSError(errno.EIO, "the disk broke")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", broken)
    with pytest.raises(OSError, match="the disk broke"):
        save_graph(random_graph(seed=1), folder, overwrite=True)
    assert open_graph(folder) == random_graph()
    assert os.listdir(tmp_path) == ["g.lt"]


def test_a_link_to_a_graph_folder_stays_a_link(tmp_path):
    save_graph(random_graph(), tmp_path / "g.lt")
    (tmp_path / "link").symlink_to(tmp_path / "g.lt")
    save_graph(random_graph(seed=1), tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert open_graph(tmp_path / "g.lt") == random_graph(seed=1)


def test_a_failed_build_leaves_no_folders_above_it(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,\n")
    (tmp_path / "there").mkdir()
    before = sorted(os.listdir(tmp_path))
    for deep in ("a/b/g.lt", "there/c/g.lt"):
        with pytest.raises(ValueError, match="row 3, column 'dst'"):
            build_graph_folder(tmp_path / "e.csv", tmp_path / deep)
        with pytest.raises(ValueError, match="node ids ≥ 0"):
            build_graph(lambda: [([0], [-1], None)], tmp_path / deep)
    assert sorted(os.listdir(tmp_path)) == before
    assert os.listdir(tmp_path / "there") == []


def test_an_empty_folder_is_as_good_as_none(tmp_path):
    (tmp_path / "g.lt").mkdir()
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    assert open_graph(folder).n_nodes == 60
    with pytest.raises(FileExistsError, match="--overwrite"):
        save_graph(random_graph(), tmp_path / "g.lt")
