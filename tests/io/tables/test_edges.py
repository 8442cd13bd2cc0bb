"""Tables of edges."""

import polars as pl
import pytest

from labeltrick.io.tables import read_problem, write_frame
from tests.support.people import invoke


def test_edges_alone_keep_texts_apart_and_need_a_header(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n007,1\n7,2\n")
    assert sorted(read_problem(tmp_path / "e.csv").ids.to_list()) == ["007", "1", "2", "7"]
    (tmp_path / "bare.csv").write_text("0,1\n1,2\n2,3\n")
    with pytest.raises(ValueError, match="a row of column names"):
        read_problem(tmp_path / "bare.csv")
    pl.DataFrame({"src": [2**63 + 1, 2**63], "dst": [2**63, 5]}, schema_overrides={
        "src": pl.UInt64, "dst": pl.UInt64}).write_parquet(tmp_path / "hash.parquet")  # fmt: skip
    assert read_problem(tmp_path / "hash.parquet").graph.n_edges == 2


@pytest.mark.parametrize(
    ("node", "end"), [("7", "7.0"), ("7.0", "7"), ("007", "7"), ("C7", "C7 "), ("C7", "c7")]
)
def test_ids_in_other_spelling_are_named(tmp_path, node, end):
    pl.DataFrame({"id": ["x", node], "y": ["a", "b"]}).write_csv(tmp_path / "n.csv")
    pl.DataFrame({"src": ["x", end], "dst": ["x", "x"]}).write_csv(tmp_path / "e.csv")
    with pytest.raises(ValueError, match=f"got '{end}', .* The node table lists '{node}': write"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    pl.DataFrame({"src": ["x", "nobody"], "dst": ["x", "x"]}).write_csv(tmp_path / "e.csv")
    with pytest.raises(ValueError, match=r"\(the only such cell in this column\). Add the node"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    pl.DataFrame({"src": ["no", "nobody"], "dst": ["x", "x"]}).write_csv(tmp_path / "e.csv")
    with pytest.raises(ValueError, match=r"\(2 such cells in this column\). Add the node"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")


@pytest.mark.parametrize("unknown", ["add", "drop"])
def test_unknown_nodes_in_other_spelling_are_a_warning(tmp_path, unknown):
    pl.DataFrame({"id": ["x", "C7 ", "C8"]}).write_csv(tmp_path / "n.csv")
    pl.DataFrame({"src": ["x", "C7", "new"], "dst": ["C8", "x", "C7"]}).write_csv(
        tmp_path / "e.csv"
    )
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv", unknown_nodes=unknown)
    (said,) = problem.warnings
    assert said.startswith("1 of the 2 unknown nodes is in the node table in another spelling: ")
    assert "'C7' (there 'C7 ')" in said
    pl.DataFrame({"src": ["x"], "dst": ["new"]}).write_csv(tmp_path / "e.csv")
    problem = read_problem(tmp_path / "e.csv", tmp_path / "n.csv", unknown_nodes=unknown)
    assert problem.warnings == []
    done = {"add": "1 node that appears only in edges was added",
            "drop": "1 edge to an unknown node was left out"}  # fmt: skip
    assert done[unknown] in problem.notes


def two_columns(path, rows):
    frame = pl.DataFrame(rows, schema={"source": pl.String, "target": pl.String}, orient="row")
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("word", ["NA", "", "null", "#DIV/0!"])
def test_words_for_missing_are_found_among_names(tmp_path, ending, word):
    path = two_columns(tmp_path / f"e.{ending}", [("ann", "bob"), ("bob", word), ("cem", "ann")])
    row = "row 2" if ending == "parquet" else "row 3"
    with pytest.raises(ValueError, match=f"{row}, column 'target' must be a node; it is missing"):
        read_problem(path)


def test_a_missing_name_is_found(tmp_path):
    path = two_columns(tmp_path / "e.parquet", [("ann", "bob"), (None, "ann")])
    with pytest.raises(ValueError, match="row 2, column 'source' must be a node; it is missing"):
        read_problem(path)


def test_names_get_the_same_numbers_whatever_else_the_table_holds(tmp_path):
    rows = [("ann", "bob"), ("dia", "ann"), ("bob", "cem")]
    plain = read_problem(two_columns(tmp_path / "e.parquet", rows))
    assert plain.ids.to_list() == ["ann", "dia", "bob", "cem"]
    more = pl.DataFrame({"source": [a for a, _ in rows], "target": [b for _, b in rows]})
    more.with_columns(weight=pl.lit(1.0)).write_parquet(tmp_path / "w.parquet")
    beside = read_problem(tmp_path / "w.parquet")
    assert beside.ids.to_list() == plain.ids.to_list()
    assert (beside.graph.to_edge_index() == plain.graph.to_edge_index()).all()


def test_columns_in_another_order_keep_their_roles(tmp_path):
    plain = two_columns(tmp_path / "e.parquet", [("ann", "bob"), ("cem", "ann")])
    pl.read_parquet(plain).select("target", "source").write_parquet(tmp_path / "r.parquet")
    one, other = (read_problem(tmp_path / f"{name}.parquet", directed=True) for name in "er")
    assert other.ids.to_list() == one.ids.to_list() == ["ann", "cem", "bob"]
    assert other.graph == one.graph


def test_a_name_that_was_escaped_is_no_missing_value(tmp_path):
    frame = pl.DataFrame({"source": ["=ann", "NA"], "target": ["NA", "cem"]})
    write_frame(frame, tmp_path / "e.csv")
    assert "'NA" in (tmp_path / "e.csv").read_text()
    assert read_problem(tmp_path / "e.csv").ids.to_list() == ["=ann", "NA", "cem"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("src,dst\n1.0,2\n2.0,3\n", "1 id is in the edges in two spellings"),
        ("src,dst\n1.0,2\n2.0,1\n", "2 ids are in the edges in two spellings"),
        ("src,dst\n007,8\n8,7\n", "different nodes: '007' and '7'. Write ids alike"),
    ],
)
def test_the_same_number_in_two_spellings_is_a_warning(tmp_path, text, said):
    (tmp_path / "e.csv").write_text(text)
    assert said in " ".join(invoke("inspect", "--edges", tmp_path / "e.csv").split())
    built = invoke("graph", "build", tmp_path / "e.csv", tmp_path / "g.lt")
    assert said in " ".join(built.split())


@pytest.mark.parametrize("text", ["1.0,2.0\n2.0,3.0\n", "007,010\n010,100\n", "1,20\n20,x\n"])
def test_numbers_in_one_spelling_are_no_warning(tmp_path, text):
    (tmp_path / "e.csv").write_text("src,dst\n" + text)
    assert read_problem(tmp_path / "e.csv").warnings == []


def test_a_wrong_column_of_ids_is_named(tmp_path):
    pl.DataFrame({"x": [104, 105, 107], "y": ["a", "b", "a"]}).write_csv(tmp_path / "n.csv")
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,2\n")
    with pytest.raises(ValueError, match="No edge names any of its ids, .* its column 'x': name"):
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
    (tmp_path / "e.csv").write_text("src,dst\n104,1\n1,2\n")
    said = r"2 such cells in this column\). Add|the only such cell in this column\). Add"
    with pytest.raises(ValueError, match=said):
        read_problem(tmp_path / "e.csv", tmp_path / "n.csv")
