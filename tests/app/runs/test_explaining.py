"""``labeltrick explain``: sentences, files, JSON, and errors on one line."""

import json

import polars as pl
import pytest

from labeltrick.app.runs.explaining import explain_run
from tests.support.commands import run_command
from tests.support.people import invoke, write_files
from tests.support.runs import bare_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = write_files(tmp_path_factory.mktemp("explained"))
    return bare_run(
        folder / "run",
        edges=(str(folder / "edges.csv"),),
        nodes=(str(folder / "nodes.csv"),),
        target="label",
        split_column="split",
        model="label-propagation",
    )


def test_nodes_of_a_run_are_explained(run):
    frame = pl.read_parquet(run / "predictions.parquet")
    rows = frame.filter(~pl.col("labeled")).head(2)
    ids = rows["id"].to_list()
    found = explain_run(run, ids, target=None, top=3, edges=False)
    assert [item.node for item in found] == ids
    for item, row in zip(found, rows.iter_rows(named=True), strict=True):
        assert item.prediction == row["prediction"]
        assert item.score == pytest.approx(row[f"p_{item.output}"], abs=1e-5)
    said = invoke("explain", run, "--node", ids[0], "--node", ids[1], "--top", 3, "--no-edges")
    assert said.splitlines() == [str(item) for item in found]


def test_contributions_are_written(run, tmp_path):
    id = pl.read_parquet(run / "predictions.parquet")["id"][0]
    out = tmp_path / "why.csv"
    made = json.loads(invoke("explain", run, "--node", id, "--out", out, "--json"))
    frame = pl.read_csv(out)
    assert frame["name"].unique().to_list() == [id]
    assert {"kind", "source", "value", "effect", "adds_up"} <= set(frame.columns)
    (item,) = made["explanations"]
    assert item["node"] == id
    assert item["text"].startswith(f"{id}: predicted ")
    assert made["out"] == str(out)


def test_another_class_is_explained(run):
    id = pl.read_parquet(run / "predictions.parquet")["id"][0]
    said = invoke("explain", run, "--node", id, "--target", "green", "--no-edges")
    assert "green (" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--node", "persom 7"], "no node is called 'persom 7'. Did you mean 'person "),
        (["--node", "x"], "no node is called 'x'. The first node is called 'person "),
        (["--node", "{id}", "--target", "Green"], "got 'Green'. Did you mean 'green'?"),
        (["--node", "{id}", "--target", "loud"], "must be one of 'blue', 'green', 'red'; got"),
        (["--node", "{id}", "--top", "0"], "`top` must be"),
        (["--node", "{id}", "--out", "{run}/predictions.parquet"], "must be a new file"),
    ],
)
def test_wrong_options_are_one_line(run, options, message):
    id = pl.read_parquet(run / "predictions.parquet")["id"][0]
    options = [option.replace("{id}", id).replace("{run}", str(run)) for option in options]
    done = run_command("explain", run, *options)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("labeltrick: ")
    assert message in line


def test_ids_that_are_numbers(tmp_path):
    (tmp_path / "edges.csv").write_text("from,to\n70,80\n80,90\n90,100\n")
    (tmp_path / "nodes.csv").write_text("id,label\n70,a\n80,\n90,\n100,b\n")
    run = bare_run(
        tmp_path / "run",
        edges=(str(tmp_path / "edges.csv"),),
        nodes=(str(tmp_path / "nodes.csv"),),
        target="label",
        model="label-propagation",
    )
    found = explain_run(run, ["80"], target=None, top=3, edges=False)
    assert (found[0].node, found[0].prediction) == (80, "a")
    with pytest.raises(ValueError, match="no node is called '81'"):
        explain_run(run, ["81"], target=None, top=3, edges=False)
    with pytest.raises(ValueError, match="no node is called 'ann'. The first node is called 70."):
        explain_run(run, ["ann"], target=None, top=3, edges=False)
