"""Messages about files name the row as the reader of the file counts it."""

import polars as pl
import pytest

from labeltrick.io.tables import Roles, build_graph_folder, read_problem
from tests.io.tables.test_problem import save


@pytest.mark.parametrize(
    ("name", "place"),
    [("n.csv", "row 32"), ("n.tsv", "row 32"), ("n.csv.gz", "row 32"), ("n.parquet", "row 31"),
     ("n.jsonl", "line 31")],
)  # fmt: skip
def test_rows_are_counted_as_the_reader_of_the_file_counts_them(tmp_path, name, place):
    """The bad cell is the 31st of the data; a spreadsheet counts the header as row 1."""
    values = [str(k * 0.5) for k in range(50)]
    values[30] = "12a"
    nodes = pl.DataFrame({"id": range(50), "x": values})
    edges = pl.DataFrame({"src": [0] * 40, "dst": range(1, 41)})
    save(nodes, tmp_path / name)
    save(edges, tmp_path / "e.csv")
    with pytest.raises(ValueError, match=rf"{name}`, {place}, column 'x' must be a number"):
        read_problem(tmp_path / "e.csv", tmp_path / name)
    wrong = edges.with_columns(weight=pl.Series([1.0] * 30 + [-1.0] + [1.0] * 9))
    save(wrong, tmp_path / name)
    message = rf"{name}`, {place}, column 'weight' must be a weight"
    with pytest.raises(ValueError, match=message):
        read_problem(tmp_path / name)
    with pytest.raises(ValueError, match=message):
        build_graph_folder(tmp_path / name, tmp_path / "graph.lt")
    save(wrong.with_columns(weight=wrong["weight"].replace(-1.0, 1e-310)), tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name}`, column 'weight': .* got 1e-310 in {place}\."):
        read_problem(tmp_path / name)
    save(edges, tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name}`, {place}, column 'dst' must be a node number"):
        build_graph_folder(tmp_path / name, tmp_path / "graph.lt", n_nodes=31)


def test_rows_of_a_table_in_another_order_than_the_graph_are_those_of_the_table(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n2,3\n3,9\n")
    graph = tmp_path / "graph.lt"
    build_graph_folder(tmp_path / "e.csv", graph)
    (tmp_path / "n.csv").write_text("id,x,s,y\n9,5,test,b\n3,6,tset,a\n1,7,train,a\n")
    with pytest.raises(ValueError, match="row 3, column 's' must be train"):
        read_problem(graph, tmp_path / "n.csv", Roles(split="s"), unknown_nodes="add")
    with pytest.raises(ValueError, match=r"it lacks 2 \(1 nodes in all\)"):
        read_problem(graph, tmp_path / "n.csv")
    (tmp_path / "n.csv").write_text("id,x,s,y\n9,5,test,b\n3,6,train,a\n1,7,train,b\n")
    roles = Roles(split="s", target="y")
    read = read_problem(graph, tmp_path / "n.csv", roles, unknown_nodes="add")
    assert read.ids.to_list() == [1, 2, 3, 9]
    assert read.X["x"].to_list() == [7, None, 6, 5]
    assert read.labels.values.tolist() == ["b", None, "a", "b"]
    assert {part: nodes.tolist() for part, nodes in read.split.items()} == {
        "train": [0, 2], "val": [], "test": [3],
    }  # fmt: skip
    (tmp_path / "n.csv").write_text("id,x\n9,5\n3,6\n1,7\n2,8\n7,4\n")
    with pytest.raises(ValueError, match="row 6, column 'id' must be a node of the graph; got '7'"):
        read_problem(graph, tmp_path / "n.csv")
