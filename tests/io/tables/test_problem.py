"""People's files: every format, ids, columns, roles; and what is said about bad ones."""

import re

import numpy as np
import polars as pl
import pytest

from labeltrick import Graph, save_graph
from labeltrick.io.tables import Roles, read_problem


def test_unknown_nodes(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,weight\n1,2,0.5\n2,9,2\n1,3,1\n")
    (tmp_path / "n.csv").write_text("id,x,label\n1,1,a\n2,5,b\n3,7,a\n")
    paths = tmp_path / "e.csv", tmp_path / "n.csv"
    with pytest.raises(
        ValueError, match=r"e.csv`, row 3, column 'dst' .* got 9, .*--unknown-nodes"
    ):
        read_problem(*paths)
    added = read_problem(*paths, Roles(target="label"), unknown_nodes="add")
    assert added.ids.to_list() == [1, 2, 3, 9]
    assert added.X["x"].to_list() == [1, 5, 7, None]
    assert added.labels.values.tolist() == ["a", "b", "a", None]
    dropped = read_problem(*paths, unknown_nodes="drop")
    assert dropped.graph == Graph.from_edges([0, 0], [1, 2], weight=[0.5, 1.0], n_nodes=3)
    assert "1 edge to an unknown node was left out" in dropped.notes


CASES = {
    "duplicate id": ("src,dst\n1,2\n", "id,x\n1,2\n2,3\n1,4\n", {}, "is in row 2 and row 4"),
    "missing id": ("src,dst\n1,2\n", "id,x\n1,2\n,3\n", {}, "row 3, column 'id'"),
    "missing end": ("src,dst\n1,2\n2,\n", "id,x\n1,2\n2,3\n", {}, "row 3, column 'dst'"),
    "no target": ("src,dst\n1,2\n", "id,lable\n1,a\n2,b\n", {"target": "label"}, "'lable'"),
    "empty edges": ("", "id,x\n1,2\n", {}, "is empty"),
    "header only": ("src,dst\n", "id,x\n1,2\n", {}, "no rows"),
    "bad weight": ("src,dst,w\n1,2,-3\n", "id,x\n1,2\n2,1\n", {"weight": "w"}, "row 2, column 'w'"),
    "one column": ("src\n1\n", "id,x\n1,2\n", {}, "1 column"),
    "infinite": ("src,dst\n1,2\n", "id,x\n1,inf\n2,1\n", {}, "row 2, column 'x'"),
    "bad split": ("src,dst\n1,2\n", "id,s\n1,train\n2,tset\n", {"split": "s"}, "row 3, column 's'"),
    "empty target": ("src,dst\n1,2\n", "id,y\n1,\n2,\n", {"target": "y"}, "is empty"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_files_are_named_with_row_and_column(tmp_path, case):
    edges, nodes, roles, said = CASES[case]
    (tmp_path / "e.csv").write_text(edges)
    (tmp_path / "n.csv").write_text(nodes)
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv", Roles(**roles))
    assert ".csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_public_files_are_read_as_they_are(data_dir):
    cora = read_problem(data_dir / "planetoid" / "ind.cora.graph")
    assert (cora.n_nodes, cora.graph.n_edges, len(cora.split["test"])) == (2708, 5278, 1000)
    photo = read_problem(data_dir / "npz" / "amazon_photo.npz")
    assert photo.graph.n_edges == 119081
    assert photo.labels.task == "classification"
    arxiv = read_problem(data_dir / "ogbn-arxiv")
    assert (arxiv.n_nodes, len(arxiv.split["train"])) == (169343, 90941)
    county = read_problem(data_dir / "county" / "edges.csv", None, Roles(src="src", dst="dst"))
    assert county.graph.n_edges == 9467


def small_graph():
    source, target = np.random.default_rng(0).integers(0, 50, (2, 300))
    return Graph.from_edges(source, target, n_nodes=50)


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
