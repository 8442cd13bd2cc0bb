"""Texts and dates from files to predictions: only they tell the class, and edges are random."""

import json

import numpy as np
import polars as pl
import pytest

from tests.support.people import fit_arguments, invoke

N = 240
TREES = ("--model", "boosting", "--set", "n_rounds=40", "--set", "label_hops=0")
TOPICS = {"cook": ["salt", "oven", "flour", "taste"], "sail": ["wind", "mast", "harbor", "wave"]}
COMMON = ["the", "of", "new", "some", "way", "day", "about", "again"]


def write_cases(folder, column, seed=0, first=0):
    """edges.csv and nodes.csv with a text ("title") or a date ("seen") that tells the class."""
    rng = np.random.default_rng(seed)
    label = np.array(list(TOPICS))[rng.integers(0, 2, N)]
    if column == "title":
        of_topic = [[*rng.choice(TOPICS[name], 2), *rng.choice(COMMON, 5)] for name in label]
        values = [" ".join(rng.permutation(words)) for words in of_topic]
    else:  # one class on weekends, over three years
        day = 2 + 7 * rng.integers(0, 150, N) + np.where(label == "sail", 0, rng.integers(2, 7, N))
        values = np.datetime64("2021-01-01") + day + rng.integers(0, 2, N) * (label == "sail")
        values = values.astype(str)
    ids = [f"case {k + first}" for k in range(N)]
    nodes = pl.DataFrame({"id": ids, column: values, "label": label})
    a, b = rng.integers(0, N, (2, N // 8))
    pl.DataFrame({"src": np.array(ids)[a], "dst": np.array(ids)[b]}).write_csv(folder / "edges.csv")
    hidden = pl.int_range(pl.len()) % 3 == 0
    shown = pl.when(hidden).then(None).otherwise(pl.col("label")).alias("label")
    nodes.with_columns(shown).write_csv(folder / "nodes.csv")
    return nodes


# A linear model cannot tell weekends from the number of a day.
@pytest.mark.parametrize(
    ("column", "more"),
    [("title", TREES), ("seen", TREES), ("title", ("--model", "regression"))],
    ids=["text", "date", "text as numbers"],
)
def test_only_they_tell_the_class(tmp_path, column, more):
    nodes = write_cases(tmp_path, column)
    found = json.loads(invoke(*fit_arguments(tmp_path, "run", *more, "--json")))
    majority = found["baselines"]["majority"]["value"]
    assert found["score"]["value"] > majority + 0.3
    (note,) = [note for note in found["notes"] if repr(column) in note]
    assert note.startswith("text is used as words" if column == "title" else "dates are used as")
    kept = pl.read_parquet(tmp_path / "run" / "predictions.parquet")
    unknown = (~kept["labeled"]).to_numpy()
    right = (kept["prediction"] == nodes["label"]).to_numpy()
    assert right[unknown].mean() > 0.8
    # The stored words and dates give the same predictions of the same rows in another file.
    out = tmp_path / "again.parquet"
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    invoke("predict", tmp_path / "run", "--replace", *files, "--out", out)
    again = pl.read_parquet(out)
    assert again["prediction"].to_list() == kept["prediction"].to_list()


@pytest.mark.parametrize("column", ["title", "seen"])
def test_other_rows_are_predicted_with_what_was_stored(tmp_path, column):
    write_cases(tmp_path, column)
    invoke(*fit_arguments(tmp_path, "run", *TREES, "--json"))
    other = tmp_path / "other"
    other.mkdir()
    truth = write_cases(other, column, seed=1, first=1000)
    few = truth.head(12).drop("label")  # so few that the texts look like categories
    few.write_csv(other / "nodes.csv")
    (other / "edges.csv").write_text("src,dst\ncase 1000,case 1001\n")
    files = ("--edges", other / "edges.csv", "--nodes", other / "nodes.csv")
    invoke("predict", tmp_path / "run", "--replace", *files, "--out", other / "p.parquet")
    found = pl.read_parquet(other / "p.parquet")
    assert (found["prediction"] == truth["label"].head(12)).mean() > 0.7


def test_inspect_says_what_they_become(tmp_path):
    nodes = write_cases(tmp_path, "title")
    day = pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(pl.len()))
    code = pl.format("x-{}", pl.int_range(pl.len()) * 37)
    more = nodes.with_columns(day.alias("day"), code.alias("code"))
    more.write_csv(tmp_path / "nodes.csv")
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    found = json.loads(invoke("inspect", *files, "--target", "label", "--json"))
    notes = {entry["name"]: entry["note"] for entry in found["columns"]}
    assert notes["title"] == "text → 16 columns of words"
    assert notes["day"] == "date → age in days, month, day of week"
    assert notes["code"] == "codes, 240 different values"


def test_the_time_of_a_run_does_not_start_again_in_other_files(tmp_path):
    """A file with only late rows: their days are counted from the same day as in the fit."""
    rng = np.random.default_rng(0)
    label = np.array(["early", "late"])[np.arange(N) // (N // 2)]
    day = np.datetime64("2021-01-01") + np.arange(N)
    nodes = pl.DataFrame({"id": np.arange(N), "seen": day.astype(str), "label": label})
    nodes.with_columns(noise=pl.Series(rng.normal(size=N))).write_csv(tmp_path / "nodes.csv")
    (tmp_path / "edges.csv").write_text("src,dst\n0,1\n5,6\n")
    for name, more in (("time", ("--time", "seen")), ("dates", ())):
        invoke(*fit_arguments(tmp_path, name, *TREES, *more, "--json"))
        late = nodes.tail(20).drop("label").with_columns(noise=0.0)
        late.write_csv(tmp_path / "late.csv")
        (tmp_path / "e2.csv").write_text("src,dst\n230,231\n")
        files = ("--edges", tmp_path / "e2.csv", "--nodes", tmp_path / "late.csv")
        invoke(
            "predict", tmp_path / name, "--replace", *files, "--out", tmp_path / f"{name}.parquet"
        )
        found = pl.read_parquet(tmp_path / f"{name}.parquet")
        assert set(found["prediction"]) == {"late"}
