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
