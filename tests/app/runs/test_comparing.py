"""Comparing models and sweeping parameters."""

import json

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
