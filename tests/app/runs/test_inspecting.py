"""What inspect says about files."""

import json

import polars as pl

from tests.support.people import invoke, write_files


def test_inspect_warns_of_columns_that_give_the_answer_away(tmp_path):
    folder = write_files(tmp_path)
    nodes = pl.read_csv(folder / "nodes.csv")
    code = {"red": 3, "green": 1, "blue": 2}
    nodes.with_columns(pl.col("label").replace_strict(code).alias("grade")).write_csv(
        folder / "nodes.csv"
    )
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--target", "label")
    found = json.loads(invoke("inspect", *files, "--split-column", "split", "--json"))
    assert [w for w in found["warnings"] if "'grade'" in w and "--ignore grade" in w]
    assert not [w for w in found["warnings"] if "'height'" in w]
    assert found["graph"]["nodes"] == 150
    assert found["labels"]["homophily"] > 0.7
    assert "Suggested" in invoke("inspect", *files)


def test_one_of_something_is_not_called_several(tmp_path):
    (tmp_path / "e.csv").write_text("from,to\na,b\n")
    (tmp_path / "n.csv").write_text("id,label,tags\na,x,p|q\nb,,\n")
    said = invoke("inspect", "--edges", tmp_path / "e.csv")
    assert said.startswith("2 nodes, 1 edge\n")
    given = ("--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--target", "label")
    assert "1 nodes" not in invoke("inspect", *given)
    (tmp_path / "self.csv").write_text("from,to\na,a\n")
    said = invoke("inspect", "--edges", tmp_path / "self.csv")
    assert said.startswith("1 node, 1 edge\n")
    assert "1 of 1 node has no edge: it is predicted only from its own columns" in said
