"""What a graph folder says to commands and kernels: options that do not apply, neighbors that are
no nodes."""

import gzip

import numpy as np
import polars as pl
import pytest

from labeltrick import Graph, LabelPropagation, open_graph, save_graph
from labeltrick.graph.stored import meta
from labeltrick.io.tables import Roles, build_graph_folder, read_problem


def small_graph():
    source, target = np.random.default_rng(0).integers(0, 50, (2, 300))
    return Graph.from_edges(source, target, n_nodes=50)


def test_neighbors_that_are_no_nodes_are_told_before_kernels_follow_them(tmp_path, monkeypatch):
    monkeypatch.setattr(meta, "_SMALL", 0)  # as in a large graph, whose arrays are not all read
    for engine in ("memory", "disk"):
        folder = save_graph(small_graph(), tmp_path / f"{engine}.lt")
        indices = np.load(folder / "indices.npy", mmap_mode="r+")
        indices[7] = 999_999_999
        indices.flush()
        with pytest.raises(ValueError, match="is damaged: .* Rebuild it"):
            graph = open_graph(folder).on(engine)
            LabelPropagation().fit(None, np.arange(50) % 2, graph=graph).predict()


def test_an_empty_folder_is_as_good_as_none(tmp_path):
    (tmp_path / "g.lt").mkdir()
    folder = save_graph(small_graph(), tmp_path / "g.lt")
    assert open_graph(folder).n_nodes == 50
    with pytest.raises(FileExistsError, match="--overwrite"):
        save_graph(small_graph(), tmp_path / "g.lt")


def test_options_for_tables_of_edges_are_not_passed_over(tmp_path):
    folder = save_graph(small_graph(), tmp_path / "g.lt")
    pl.DataFrame({"id": range(40), "label": ["a", "b"] * 20}).write_csv(tmp_path / "n.csv")
    nodes = tmp_path / "n.csv"
    with pytest.raises(ValueError, match=r"lacks 40 \(10 nodes in all\).*--unknown-nodes add"):
        read_problem(folder, nodes, Roles(target="label"))
    problem = read_problem(folder, nodes, Roles(target="label"), unknown_nodes="add")
    assert problem.n_nodes == 50
    assert "10 nodes that only the graph has were added" in problem.notes
    with pytest.raises(ValueError, match="`--directed` must be left out"):
        read_problem(folder, nodes, Roles(target="label"), directed=True)
    with pytest.raises(ValueError, match="`--weight` must be left out"):
        read_problem(folder, nodes, Roles(target="label", weight="w"))


def test_too_little_memory_and_broken_archives_are_told(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match="`max_memory` must be at least .* write 2GB"):
        build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt", max_memory=2)
    packed = bytearray(gzip.compress(b"src,dst\n" + b"1,2\n3,4\n" * 5000))
    packed[20:60] = b"\xff" * 40
    (tmp_path / "e.csv.gz").write_bytes(packed)
    with pytest.raises(ValueError, match="must be a valid compressed file"):
        build_graph_folder(tmp_path / "e.csv.gz", tmp_path / "g.lt")
