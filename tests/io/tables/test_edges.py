"""Tables of edges."""

import polars as pl
import pytest

from labeltrick.io.tables import read_problem


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
