"""Scores on labels that have become known since a run was fitted."""

import json

import polars as pl
import pytest

from tests.support.people import fit_arguments, invoke, write_files


def test_evaluate_on_what_became_known(fitted, tmp_path):
    folder, said = fitted
    found = json.loads(
        invoke("evaluate", folder / "run", "--nodes", folder / "truth.csv", "--json")
    )
    nodes = pl.read_csv(folder / "nodes.csv")
    assert found["nodes"] == int((nodes["split"] == "test").sum())  # val rows chose the model
    assert 0.8 < found["scores"]["accuracy"]["value"] <= 1
    assert "accuracy" in invoke("evaluate", folder / "run")
    assert json.loads(invoke("evaluate", folder / "run", "--json"))["score"] == said["score"]
    assert found["notes"] == []
    truth = pl.read_csv(folder / "truth.csv")
    strangers = pl.DataFrame({"id": ["new 1", "new 2"], "label": ["red", "blue"]})
    pl.concat([truth, strangers]).write_csv(tmp_path / "more.csv")
    said = invoke("evaluate", folder / "run", "--nodes", tmp_path / "more.csv")
    assert "2 rows are not nodes of the run and not scored: new 1, new 2" in said
    nodes.filter(pl.col("split") == "train").write_csv(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="did not know"):
        invoke("evaluate", folder / "run", "--nodes", tmp_path / "t.csv")


def test_evaluate_what_was_predicted_later(fitted, tmp_path):
    folder, _ = fitted
    nodes = pl.read_csv(folder / "nodes.csv")
    red = nodes.filter((pl.col("label") == "red") & (pl.col("split") == "train"))["id"][:4]
    new = nodes[:2].with_columns(pl.Series("id", ["new 1", "new 2"])).drop("label", "split")
    new.write_csv(tmp_path / "n.csv")
    pl.DataFrame({"from": ["new 1", "new 2"] * 4, "to": red.to_list() * 2}).write_csv(
        tmp_path / "e.csv"
    )
    pl.DataFrame({"id": new["id"], "label": ["red", "blue"]}).write_csv(tmp_path / "t.csv")
    asked = ("evaluate", folder / "run", "--nodes", tmp_path / "t.csv")
    with pytest.raises(ValueError, match="pass the file that predict wrote with --predictions"):
        invoke(*asked)
    given = ("--nodes", tmp_path / "n.csv", "--edges", tmp_path / "e.csv")
    for name in ("p.csv", "all.parquet"):
        every = ("--all",) if name.startswith("all") else ()
        invoke("predict", folder / "run", *given, "--out", tmp_path / name, *every)
        found = json.loads(invoke(*asked, "--predictions", tmp_path / name, "--json"))
        assert found["nodes"] == 2
        frame = pl.read_csv(tmp_path / "p.csv")
        right = (frame["prediction"] == pl.Series(["red", "blue"])).mean()
        assert found["scores"]["accuracy"]["value"] == right
    # Labels that the run knew are not scored, whatever the file of predictions says.
    nodes.select("id", "label").write_csv(tmp_path / "known.csv")
    asked = ("evaluate", folder / "run", "--nodes", tmp_path / "known.csv", "--json")
    found = json.loads(invoke(*asked, "--predictions", tmp_path / "all.parquet"))
    assert found["nodes"] == int((nodes["split"] == "test").sum())
    with pytest.raises(ValueError, match=r"n.csv` must hold predictions of this run"):
        invoke(*asked, "--predictions", tmp_path / "n.csv")


def test_classes_that_look_like_missing_labels_are_named(fitted, tmp_path):
    folder, _ = fitted
    truth = pl.read_csv(folder / "truth.csv")
    truth = truth.with_columns(pl.col("label").replace("red", "not known"))
    truth.write_csv(tmp_path / "t.csv")
    asked = ("evaluate", folder / "run", "--nodes", tmp_path / "t.csv")
    said = " ".join(invoke(*asked).split())
    assert "looks like a missing label, but is scored like any other class" in said
    assert "pass --missing 'not known'" in said
    assert "looks like a missing label" not in invoke(*asked, "--missing", "not known")


def test_labels_other_than_in_the_fit_are_named(fitted, tmp_path):
    folder, _ = fitted
    truth = pl.read_csv(folder / "truth.csv")
    known = pl.read_csv(folder / "nodes.csv").filter(pl.col("split") == "train")["id"][:2]
    other = pl.when(pl.col("label") == "red").then(pl.lit("blue")).otherwise(pl.lit("red"))
    wrong = pl.when(pl.col("id").is_in(known.implode())).then(other).otherwise("label")
    truth.with_columns(label=wrong).write_csv(tmp_path / "t.csv")
    asked = ("evaluate", folder / "run", "--nodes", tmp_path / "t.csv")
    said = " ".join(invoke(*asked).split())
    assert "2 nodes have labels other than in the fit: " in said
    assert all(name in said.partition("in the fit: ")[2] for name in known)
    assert "They are not scored" in said
    same = json.loads(invoke("evaluate", folder / "run", "--nodes", folder / "truth.csv", "--json"))
    assert not any("other than in the fit" in warning for warning in same["warnings"])


def test_numbers_other_than_in_the_fit_are_named(tmp_path):
    write_files(tmp_path, task="numbers", split=False)
    invoke(*fit_arguments(tmp_path, "run", "--model", "label-propagation", "-q"))
    truth = pl.read_csv(tmp_path / "truth.csv")
    seen = pl.read_csv(tmp_path / "nodes.csv").drop_nulls("label")["id"][0]
    moved = pl.when(pl.col("id") == seen).then(pl.col("label") + 1).otherwise("label")
    truth.with_columns(label=moved).write_csv(tmp_path / "t.csv")
    said = " ".join(invoke("evaluate", tmp_path / "run", "--nodes", tmp_path / "t.csv").split())
    assert f"1 node has a label other than in the fit: {seen}. It is not scored" in said


def test_a_column_without_a_class_of_the_run_is_doubted(fitted):
    folder, _ = fitted
    asked = ("evaluate", folder / "run", "--nodes", folder / "nodes.csv", "--target", "town")
    said = " ".join(invoke(*asked).split())
    assert "It knows none: name the column of the labels with --target" in said


def test_what_was_decided_about_a_file_of_labels_is_reported(fitted, tmp_path):
    folder, _ = fitted
    truth = pl.read_csv(folder / "truth.csv").with_row_index("")
    truth = truth.with_columns(pl.col("label").replace("red", "NA"))
    truth.write_csv(tmp_path / "t.csv")
    found = json.loads(invoke("evaluate", folder / "run", "--nodes", tmp_path / "t.csv", "--json"))
    n = int((truth["label"] == "NA").sum())
    assert f"cells of column 'label' are read as missing: 'NA' ({n})" in found["notes"]
    assert any("columns that are not used: (no name)" in note for note in found["notes"])
