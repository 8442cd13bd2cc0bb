"""The table of predictions keeps the user's name of the id column."""

import json

import polars as pl
import pytest

from tests.support.people import fit_arguments, invoke, write_files


@pytest.mark.parametrize("name", ["customer", "p_red"])
def test_ids_keep_the_name_of_their_column(tmp_path, name):
    write_files(tmp_path, n=60)
    nodes = pl.read_csv(tmp_path / "nodes.csv").rename({"id": name})
    nodes.write_csv(tmp_path / "nodes.csv")
    edges = pl.read_csv(tmp_path / "edges.csv")
    pl.concat([edges, pl.DataFrame({"from": [nodes[name][0]], "to": ["stranger"]})]).write_csv(
        tmp_path / "edges.csv"
    )
    more = ["--unknown-nodes", "add", "--split-column", "split", "--model", "label-propagation"]
    invoke(*fit_arguments(tmp_path, "run", *more, "--id", name, "-q"))
    frame = pl.read_parquet(tmp_path / "run" / "predictions.parquet")
    # "id" where the table has a column of its own by that name
    assert frame.columns[0] == ("id" if name == "p_red" else name)
    assert frame.to_series(0).to_list() == [*nodes[name], "stranger"]
    truth = pl.read_csv(tmp_path / "truth.csv").rename({"id": name})
    truth.write_csv(tmp_path / "truth.csv")
    said = invoke("evaluate", tmp_path / "run", "--nodes", tmp_path / "truth.csv", "--json")
    assert json.loads(said)["nodes"] == int((nodes["split"] == "test").sum())
    invoke("label-next", tmp_path / "run", "--count", 3, "--out", tmp_path / "ask.csv", "-q")
    assert pl.read_csv(tmp_path / "ask.csv").columns[0] == name


def test_an_id_column_that_was_not_named_keeps_its_name(tmp_path):
    write_files(tmp_path, n=60)
    pl.read_csv(tmp_path / "nodes.csv").rename({"id": "customer"}).write_csv(tmp_path / "nodes.csv")
    invoke(*fit_arguments(tmp_path, "run", "--split-column", "split", "--model",
                          "label-propagation", "-q"))  # fmt: skip
    assert pl.read_parquet(tmp_path / "run" / "predictions.parquet").columns[0] == "customer"
    invoke("label-next", tmp_path / "run", "--count", 3, "--out", tmp_path / "ask.csv", "-q")
    assert pl.read_csv(tmp_path / "ask.csv").columns[0] == "customer"
