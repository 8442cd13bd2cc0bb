"""Tables of edges that are built into folders without being read at once."""

import gzip
import os
import subprocess

import numpy as np
import polars as pl
import pytest

from labeltrick import Graph, save_graph
from labeltrick.io.tables import Roles, build_graph_folder
from tests.support.commands import run_command


def random_graph(directed=False, n=60, m=300, seed=0):
    source, target = np.random.default_rng(seed).integers(0, n, (2, m))
    return Graph.from_edges(source, target, n_nodes=n, directed=directed)


def test_a_taken_place_is_reported_before_the_table_is_read(tmp_path):
    folder = save_graph(random_graph(), tmp_path / "g.lt")
    (tmp_path / "broken.csv.gz").write_bytes(b"no archive")
    with pytest.raises(FileExistsError, match="must be new"):
        build_graph_folder(tmp_path / "broken.csv.gz", folder)


# -- the command -------------------------------------------------------------------------------
def test_node_numbers_beyond_the_given_count_are_reported_by_file_and_row(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,7\n")
    with pytest.raises(ValueError, match=r"e.csv`, row 3, column 'dst' must be .* 0 to 4; got 7"):
        build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt", n_nodes=5)
    done = run_command("graph", "build", tmp_path / "e.csv", tmp_path / "g.lt", "--n-nodes=-1")
    assert done.returncode == 2
    assert "`--n-nodes` must be at least 1; got -1" in done.stderr
    assert os.listdir(tmp_path) == ["e.csv"]


def test_too_little_memory_and_broken_archives_are_reported(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match="`max_memory` must be at least .* write 2GB"):
        build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt", max_memory=2)
    packed = bytearray(gzip.compress(b"src,dst\n" + b"1,2\n3,4\n" * 5000))
    packed[20:60] = b"\xff" * 40
    (tmp_path / "e.csv.gz").write_bytes(packed)
    with pytest.raises(ValueError, match="must be a valid compressed file"):
        build_graph_folder(tmp_path / "e.csv.gz", tmp_path / "g.lt")


def test_tables_of_edges_build_the_same_folder(tmp_path):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 99, 400) * 7 + 3, rng.integers(0, 99, 400) * 7 + 3
    frame = pl.DataFrame({"to": target, "from": source})
    frame.write_parquet(tmp_path / "e.parquet")
    frame.write_csv(tmp_path / "e.csv")
    frame.write_ndjson(tmp_path / "e.jsonl")
    (tmp_path / "parts").mkdir()
    frame[:150].write_parquet(tmp_path / "parts" / "0.parquet")
    frame[150:].write_parquet(tmp_path / "parts" / "1.parquet")
    subprocess.run(["gzip", "-k", str(tmp_path / "e.csv")], check=True)
    ids = np.unique([source, target])
    expected = Graph.from_edges(np.searchsorted(ids, source), np.searchsorted(ids, target))
    for name in ("e.parquet", "e.csv", "e.csv.gz", "e.jsonl", "parts"):
        graph, _ = build_graph_folder(tmp_path / name, tmp_path / f"{name}.lt")
        assert graph == expected.with_names(ids), name
        assert graph.ids().to_list() == ids.tolist()
    strings = frame.select(pl.all().cast(pl.String) + "x")
    strings.write_csv(tmp_path / "s.csv")
    graph, _ = build_graph_folder(tmp_path / "s.csv", tmp_path / "s.lt")
    assert graph.n_edges == expected.n_edges
    number = {name: place for place, name in enumerate(graph.ids().to_list())}
    assert number[f"{target[0]}x"] in graph.neighbors(number[f"{source[0]}x"])
    numbered, notes = build_graph_folder(
        tmp_path / "e.parquet", tmp_path / "n.lt", n_nodes=1000, roles=Roles(weight=None)
    )
    assert numbered.n_nodes == 1000
    assert numbered.ids() is None
    merged = f"{400 - numbered.n_edges} repeated or reversed edges were merged with others"
    assert notes == ["edges: from → to", merged]


def test_ids_that_are_far_apart_are_listed(tmp_path):
    frame = pl.DataFrame({"src": [5, 10**15, 7], "dst": [7, 5, 10**15]})
    frame.write_parquet(tmp_path / "e.parquet")
    graph, _ = build_graph_folder(tmp_path / "e.parquet", tmp_path / "g.lt")
    assert graph.ids().to_list() == [5, 7, 10**15]
    assert graph.n_edges == 3


def test_a_weight_column_is_used_and_reported(tmp_path):
    pl.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [2.0, 3.0]}).write_csv(tmp_path / "e.csv")
    graph, notes = build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt")
    np.testing.assert_array_equal(graph.out_strengths, [2, 5, 3])
    assert notes[0] == "edges: src → dst; weight weight"
    assert "weighted by the column 'weight'" in notes[1]


def test_wrong_tables_of_edges_are_reported(tmp_path):
    pl.DataFrame({"src": ["a", None], "dst": ["b", "c"]}).write_csv(tmp_path / "gap.csv")
    with pytest.raises(ValueError, match="row 3, column 'src' must be a node; it is missing"):
        build_graph_folder(tmp_path / "gap.csv", tmp_path / "g.lt")
    pl.DataFrame({"src": [1, 2], "dst": [2, 3], "weight": [1.0, -1.0]}).write_csv(
        tmp_path / "w.csv"
    )
    with pytest.raises(ValueError, match="row 3, column 'weight' must be a weight"):
        build_graph_folder(tmp_path / "w.csv", tmp_path / "g.lt")
    (tmp_path / "e.xlsx").write_text("no")
    with pytest.raises(ValueError, match="its ending is '.xlsx'"):
        build_graph_folder(tmp_path / "e.xlsx", tmp_path / "g.lt")
    (tmp_path / "bad.parquet").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="bad.parquet` must be a table that can be read"):
        build_graph_folder(tmp_path / "bad.parquet", tmp_path / "g.lt")
    (tmp_path / "head.csv").write_text("src,dst\n")
    with pytest.raises(ValueError, match="must have rows"):
        build_graph_folder(tmp_path / "head.csv", tmp_path / "g.lt")
    with pytest.raises(ValueError, match="a number of bytes or text such as '8GB'"):
        build_graph_folder(tmp_path / "w.csv", tmp_path / "g.lt", max_memory="plenty")
    assert not (tmp_path / "g.lt").exists()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
