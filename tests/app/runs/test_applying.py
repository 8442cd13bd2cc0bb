"""A run on files that stand alone, and on new labels."""

import json

import polars as pl
import pytest

from labeltrick import load_model
from tests.support.people import invoke


def test_predict_with_new_nodes_edges_and_labels(fitted, tmp_path):
    folder, _ = fitted
    nodes, edges = (pl.read_csv(folder / f"{name}.csv") for name in ("nodes", "edges"))
    same = tmp_path / "same.parquet"
    invoke("predict", folder / "run", "--replace", "--edges", folder / "edges.csv", "--nodes",
           folder / "nodes.csv", "--out", same, "--quiet")  # fmt: skip
    stored = pl.read_parquet(folder / "run" / "predictions.parquet")
    assert pl.read_parquet(same).equals(
        stored.drop("test")
    )  # scored rows are no inputs here either
    red = nodes.filter(pl.col("label") == "red")["id"].to_list()[:5]
    new = nodes.head(1).with_columns(id=pl.lit("newcomer"), label=None, split=None)
    pl.concat([nodes.drop("split"), new.drop("split")]).write_csv(tmp_path / "n.csv")
    pl.concat([edges, pl.DataFrame({"from": ["newcomer"] * 5, "to": red})]).write_csv(
        tmp_path / "e.csv"
    )
    out = tmp_path / "new.csv"
    said = invoke("predict", folder / "run", "--replace", "--edges", tmp_path / "e.csv", "--nodes",
                  tmp_path / "n.csv", "--out", out, "--json")  # fmt: skip
    assert json.loads(said)["nodes"] == nodes.height + 1
    found = pl.read_csv(out)
    assert found["id"][-1] == "newcomer"
    assert found["prediction"][-1] == "red"
    with pytest.raises(FileExistsError, match="--overwrite"):
        invoke("predict", folder / "run", "--out", out)
    nodes.drop("height").write_csv(tmp_path / "less.csv")
    with pytest.raises(ValueError, match="'height' is missing"):
        invoke("predict", folder / "run", "--replace", "--edges", folder / "edges.csv", "--nodes",
               tmp_path / "less.csv", "--out", tmp_path / "x.csv")  # fmt: skip


def test_labels_that_were_filled_in_are_inputs_without_a_new_fit(fitted, tmp_path):
    folder, _ = fitted
    truth = dict(pl.read_csv(folder / "truth.csv").iter_rows())
    invoke("label-next", folder / "run", "--count", 30, "--out", tmp_path / "ask.csv", "--quiet")
    asked = pl.read_csv(tmp_path / "ask.csv")
    filled = asked.with_columns(pl.col("id").replace_strict(truth).alias("label"))
    filled.write_csv(tmp_path / "filled.csv")
    out = tmp_path / "p.parquet"
    more = ("--labels", tmp_path / "filled.csv", "--out")
    said = json.loads(invoke("predict", folder / "run", *more, out, "--json"))
    assert "30 labels came from filled.csv" in said["notes"]
    now, before = pl.read_parquet(out), pl.read_parquet(folder / "run" / "predictions.parquet")
    assert now["labeled"].sum() == before["labeled"].sum() + 30
    assert not now["p_red"].equals(before["p_red"])
    invoke("fit", "--config", folder / "run" / "config.toml", *more, tmp_path / "refit", "-q")
    refit = load_model(tmp_path / "refit" / "model")
    assert len(refit.labeled_) + len(refit.validation_) == now["labeled"].sum()
    # Labels that are given later add to those of the fit's own file.
    known = set(now.filter("labeled")["id"])
    one = next(name for name in truth if name not in known)
    pl.DataFrame({"id": [one], "label": [truth[one]]}).write_csv(tmp_path / "one.csv")
    later = tmp_path / "later.parquet"
    invoke("predict", tmp_path / "refit", "--labels", tmp_path / "one.csv", "--out", later, "-q")
    assert pl.read_parquet(later)["labeled"].sum() == now["labeled"].sum() + 1
    filled.with_columns(pl.lit("stranger").alias("id")).head(1).write_csv(tmp_path / "bad.csv")
    out.unlink()
    with pytest.raises(ValueError, match="row 2, column 'id' .* got 'stranger', which"):
        invoke("predict", folder / "run", "--labels", tmp_path / "bad.csv", "--out", out)


def test_new_nodes_with_a_blank_label_column(fitted, tmp_path):
    folder, _ = fitted
    nodes = pl.read_csv(folder / "nodes.csv").with_columns(
        pl.lit(None, pl.String).alias("label"), pl.lit(None, pl.String).alias("split")
    )
    nodes.write_csv(tmp_path / "nodes.csv")
    out = tmp_path / "found.parquet"
    invoke("predict", folder / "run", "--replace", "--edges", folder / "edges.csv", "--nodes",
           tmp_path / "nodes.csv", "--out", out)  # fmt: skip
    assert len(pl.read_parquet(out)) == len(nodes)


def test_new_nodes_with_placeholders_in_a_column_of_numbers(fitted, tmp_path):
    folder, _ = fitted
    nodes = pl.read_csv(folder / "nodes.csv")
    nodes.with_columns(height=pl.lit("-")).write_csv(tmp_path / "n.csv")
    said = invoke("predict", folder / "run", "--replace", "--edges", folder / "edges.csv",
                  "--nodes", tmp_path / "n.csv", "--out", tmp_path / "p.csv", "--json")  # fmt: skip
    assert any("'height'" in note and "'-' (150)" in note for note in json.loads(said)["notes"])


def test_notes_name_the_columns_that_the_model_uses(fitted, tmp_path):
    folder, _ = fitted
    nodes = pl.read_csv(folder / "nodes.csv")
    features = [c for c in nodes.columns if c not in ("id", "label", "split")]
    new = nodes.with_columns(height=pl.lit(1.5), shoe=pl.int_range(pl.len()) % 7)
    new.write_csv(tmp_path / "n.csv")
    said = json.loads(invoke("predict", folder / "run", "--replace", "--edges", folder /
                             "edges.csv", "--nodes", tmp_path / "n.csv", "--out",
                             tmp_path / "p.csv", "--json"))  # fmt: skip
    (note,) = [note for note in said["notes"] if note.startswith("nodes: ")]
    assert f"{len(features)} features" in note  # height has one value only here
    assert note.endswith("not used: shoe (not in the fit)")
