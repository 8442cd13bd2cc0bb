"""Messages about files name the row as the reader of the file counts it."""

import gzip

import polars as pl
import pytest

from labeltrick import Graph
from labeltrick.io.tables import Roles, build_graph_folder, read_frame, read_problem, write_frame
from tests.support.packed_tables import save


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
    with pytest.raises(ValueError, match=r"it lacks 2 \(1 node in all\)"):
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


def test_nested_json_lines(tmp_path):
    path = tmp_path / "e.jsonl"
    path.write_text('{"src": 1, "dst": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    with pytest.raises(ValueError, match=r"e\.jsonl` must"):
        read_problem(path)


EDGES = pl.DataFrame({"src": [10, 20, 30, 10], "dst": [20, 30, 40, 40]})
NODES = pl.DataFrame(
    {
        "id": [40, 10, 30, 20],
        "size": [1.5, None, 2.0, 3.0],
        "kind": ["a", "b", None, "a"],
        "big": ["yes", "no", "no", "yes"],
        "label": ["x", "y", None, "x"],
        "split": ["train", "train", None, "test"],
    }
)
EXPECTED = Graph.from_edges([1, 3, 2, 1], [3, 2, 0, 0], n_nodes=4)


@pytest.mark.parametrize(
    "ending", ["csv", "tsv", "parquet", "jsonl", "csv.gz", "tsv.bz2", "jsonl.gz", "csv.xz"]
)
def test_every_format_gives_the_same_problem(tmp_path, ending):
    edges = save(EDGES, tmp_path / f"edges.{ending}")
    nodes = save(NODES, tmp_path / f"nodes.{ending}")
    problem = read_problem(edges, nodes, Roles(target="label", split="split"))
    assert problem.graph == EXPECTED
    assert problem.ids.to_list() == [40, 10, 30, 20]
    assert problem.labels.values.tolist() == ["x", "y", None, "x"]
    assert {k: v.tolist() for k, v in problem.split.items()} == {
        "train": [0, 1],
        "val": [],
        "test": [3],
    }
    kinds = {kind.name: (kind.kind, kind.role, kind.n_missing) for kind in problem.kinds}
    assert kinds["size"] == ("numeric", "feature", 1)
    assert kinds["kind"] == ("categorical", "feature", 1)
    assert kinds["big"] == ("boolean", "feature", 0)
    assert problem.X.columns == ["size", "kind", "big"]
    assert problem.X["size"].to_list() == [1.5, None, 2.0, 3.0]
    assert problem.known("train").tolist() == ["x", "y", None, None]


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "jsonl", "jsonl.gz", "parquet"])
def test_brackets_in_the_name_of_a_file_are_letters(tmp_path, ending):
    """And not a pattern, which would match another file."""
    folder = tmp_path / "files[1]*?"
    folder.mkdir()
    (tmp_path / "files1").mkdir()
    for name in ("e[1]", "n[1]"):
        save(
            pl.DataFrame({"src": [1], "dst": [2]}), folder / f"{name.replace('[1]', '1')}.{ending}"
        )
        save(pl.DataFrame({"src": [1], "dst": [2]}), tmp_path / "files1" / f"{name}.{ending}")
    edges, nodes = save(EDGES, folder / f"e[1].{ending}"), save(NODES, folder / f"n[1].{ending}")
    assert read_problem(edges, nodes).graph == EXPECTED
    build_graph_folder(edges, folder / "graph[1].lt")
    assert read_problem(folder / "graph[1].lt", nodes).ids.to_list() == [10, 20, 30, 40]


def test_a_folder_of_parquet_parts(tmp_path):
    folder = tmp_path / "edges"
    folder.mkdir()
    EDGES[:2].write_parquet(folder / "part-0.parquet")
    EDGES[2:].write_parquet(folder / "part-1.parquet")
    nodes = save(NODES, tmp_path / "nodes.csv")
    assert read_problem(folder, nodes).graph == EXPECTED
    with pytest.raises(ValueError, match="must hold Parquet files"):
        (tmp_path / "empty").mkdir()
        read_frame(tmp_path / "empty")


def test_files_that_are_not_what_their_ending_says(tmp_path):
    save(EDGES, tmp_path / "edges.parquet").rename(tmp_path / "edges.csv")
    with pytest.raises(ValueError, match="looks like a Parquet file"):
        read_frame(tmp_path / "edges.csv")
    (tmp_path / "text.parquet").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match="does not begin like a Parquet file"):
        read_frame(tmp_path / "text.parquet")
    (tmp_path / "plain.csv.gz").write_text("src,dst\n1,2\n")
    with pytest.raises(ValueError, match=r"plain.csv.gz"):
        read_frame(tmp_path / "plain.csv.gz")
    (tmp_path / "x.docx").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match="its ending is '.docx'"):
        read_frame(tmp_path / "x.docx")
    with pytest.raises(FileNotFoundError, match="Did you mean 'edges.csv'"):
        read_frame(tmp_path / "edge.csv")


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_two_columns_of_one_name(tmp_path, ending):
    separator = "\t" if ending == "tsv" else ","
    text = separator.join(["id", "x", "x"]) + "\n" + separator.join("123") + "\n"
    path = tmp_path / f"n.{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    with pytest.raises(ValueError, match=r"it has two columns 'x'\. Rename one") as caught:
        read_frame(path)
    assert str(path) in str(caught.value)


def test_two_values_under_one_key(tmp_path):
    (tmp_path / "n.jsonl").write_text('{"id": 1, "x": 1}\n{"id": 2, "x": 2, "x": 3}\n')
    with pytest.raises(ValueError, match=r"n\.jsonl` .* it has two columns 'x'"):
        read_frame(tmp_path / "n.jsonl")


def test_writing_is_all_or_nothing(tmp_path):
    target = write_frame(EDGES, tmp_path / "deep" / "out.csv")
    assert read_frame(target).equals(EDGES)
    before = target.read_bytes()
    with pytest.raises(ValueError, match="must end in"):
        write_frame(EDGES, tmp_path / "out.docx")
    with pytest.raises(pl.exceptions.PolarsError):
        write_frame(pl.DataFrame({"x": [[1, 2]]}), target)  # CSV has no lists
    assert target.read_bytes() == before
    assert [p.name for p in target.parent.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("end", ["\n", "\n\n", ",,\n,,\n"])
def test_blank_rows_at_the_end_are_left_out_with_a_note(tmp_path, end):
    (tmp_path / "e.csv").write_text("src,dst,weight\na,b,1\nb,c,2\n" + end)
    (tmp_path / "n.csv").write_text("id,x,y\na,1,p\nb,2,q\nc,3,\n" + end)
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv", Roles(target="y"))
    assert problem.ids.to_list() == ["a", "b", "c"]
    what = "1 blank row at the end is left out" if end == "\n" else "2 blank rows at the end are"
    for file in ("e.csv", "n.csv"):
        assert any(f"{file}: {what}" in note for note in problem.notes)
    graph, notes = build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt")
    assert graph.n_edges == 2
    assert f"e.csv: {what}" in notes[0]


def test_blank_rows_elsewhere_are_refused_by_their_number(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\na,b\n,\nb,a\n")
    for read in (read_problem, lambda file: build_graph_folder(file, tmp_path / "g.lt")):
        with pytest.raises(ValueError, match="row 3, column 'src' must be a node; it is missing"):
            read(tmp_path / "e.csv")
    (tmp_path / "e.csv").write_text("src,dst\n,\n,\n")
    for read in (read_problem, lambda file: build_graph_folder(file, tmp_path / "g.lt")):
        with pytest.raises(ValueError, match="must have rows"):
            read(tmp_path / "e.csv")


def test_a_folder_of_different_tables_is_refused(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    pl.DataFrame({"src": [1], "dst": [2]}).write_parquet(folder / "a.parquet")
    pl.DataFrame({"id": [1], "dst": [2]}).write_parquet(folder / "b.parquet")
    with pytest.raises(ValueError, match="parts of one table; of 'a.parquet' and 'b.parquet', on"):
        read_problem(folder)


def test_files_that_networkx_reads_are_pointed_to_it(tmp_path):
    (tmp_path / "g.gml").write_text("graph [ ]")
    with pytest.raises(ValueError, match="take a graph that networkx has read"):
        read_problem(tmp_path / "g.gml")
