"""Comparing models and sweeping parameters."""

import json

import polars as pl
import pytest

from tests.support.people import invoke, write_files


def test_compare_and_sweep(tmp_path):
    write_files(tmp_path, n=90)
    files = (
        "--edges",
        tmp_path / "edges.csv",
        "--nodes",
        tmp_path / "nodes.csv",
        "--target",
        "label",
    )
    names = "label-propagation,trainable-label-propagation"
    found = json.loads(invoke("compare", *files, "--ignore", "split", "--models", names,
                              "--repeats", 3, "--json"))  # fmt: skip
    first, second = found["models"]
    assert first["difference"] is None
    gap = second["difference"]["mean"]
    assert gap == pytest.approx(second["mean"] - first["mean"])
    sweep = ("sweep", *files, "--split-column", "split", "--parameter", "damping", "--values",
             "0.1,0.5,0.9")  # fmt: skip
    curve = json.loads(invoke(*sweep, "--out", tmp_path / "c.svg", "--json"))
    assert [point["value"] for point in curve["points"]] == [0.1, 0.5, 0.9]
    assert curve["scored_on"] == "validation nodes"
    assert (tmp_path / "c.svg").read_text().count("<circle") == 3
    invoke(*sweep, "--out", tmp_path / "c.html", "-q")
    assert "Plotly.newPlot" in (tmp_path / "c.html").read_text()
    with pytest.raises(ValueError, match=r"must end in .html or .svg"):
        invoke(*sweep, "--out", tmp_path / "c.doc")


def test_what_compare_does_not_use_is_reported(tmp_path):
    write_files(tmp_path, n=90)
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    said = invoke("compare", *files, "--target", "label", "--models", "label-propagation",
                  "--repeats", 1, "--budget", "9s")  # fmt: skip
    assert "not used by --models label-propagation: --budget" in said
    assert "not used by --model label-propagation: columns " in said
    assert "1 random split, " in said
    assert "± 0.0000" not in said  # one split has no deviation
    assert "test nodes in each split: " in said


def test_the_warnings_of_a_fit_are_those_of_compare_and_sweep(tmp_path):
    write_files(tmp_path, n=120, split=False)
    nodes = pl.read_csv(tmp_path / "nodes.csv")
    known = pl.int_range(pl.len()).over(pl.col("label").is_null())
    label = pl.col("label")
    odd = pl.when(label.is_null()).then(None).when(known < 8).then(pl.lit("Red")).when(
        known < 16).then(pl.lit("unknown")).when(known < 19).then(pl.lit("rare"))  # fmt: skip
    nodes = nodes.with_columns(label=odd.otherwise(label))
    nodes.write_csv(tmp_path / "nodes.csv")
    first = nodes.drop_nulls("label").select("id", "label")[:1]
    first.with_columns(label=pl.lit("blue")).write_csv(tmp_path / "more.csv")
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--labels",
             tmp_path / "more.csv", "--target", "label")  # fmt: skip
    model = ("--model", "label-propagation")
    for command in (
        ("fit", *files, *model, "--out", tmp_path / "run"),
        ("compare", *files, "--models", "label-propagation", "--repeats", 1),
        ("sweep", *files, *model, "--parameter", "damping", "--values", "0.5"),
    ):
        said = " ".join(invoke(*command).split())
        assert "of 'label' differ only in case or spaces and are different classes" in said
        assert "the class 'unknown' (8 labels) of 'label' looks like a missing label" in said
        assert "1 class has fewer than 5 labels: 'rare' (3)" in said
        assert "1 label in more.csv contradicts the node table" in said


@pytest.mark.parametrize(
    ("labels", "options", "warning"),
    [
        ([f"c{k}" for k in range(90)], (), "labels of 'label' are different, as in an id"),
        ([50 + 10 * (k // 2 % 40) for k in range(90)], ("--task", "classification"),
         "different whole numbers from 50 to 440, which are taken as classes"),
    ],
)  # fmt: skip
def test_a_doubtful_target_is_a_warning_of_each_command(tmp_path, labels, options, warning):
    write_files(tmp_path, n=90)
    nodes = pl.read_csv(tmp_path / "nodes.csv").with_columns(label=pl.Series(labels))
    nodes.drop("split").write_csv(tmp_path / "nodes.csv")
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--target",
             "label", *options)  # fmt: skip
    model = ("--model", "label-propagation")
    for command in (
        ("fit", *files, *model, "--out", tmp_path / "run"),
        ("compare", *files, "--models", "label-propagation", "--repeats", 1),
        ("sweep", *files, *model, "--parameter", "damping", "--values", "0.5"),
    ):
        assert warning in " ".join(invoke(*command).split())
