"""Several targets, from files to scores, through the command line."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from labeltrick import load_model
from labeltrick.app.cli import app
from labeltrick.app.runs.by_target import scores_by_target, table_by_target
from labeltrick.app.runs.evaluating import evaluate_run
from labeltrick.app.runs.labeling import nodes_to_label
from labeltrick.app.runs.predictions import joined
from labeltrick.app.runs.settings import read_settings
from tests.support.commands import run_command

GENRES = ("comedy", "drama", "horror")


def write_movies(folder, n=150, seed=0):
    """Movies with three labels and two numbers; half of the rows have labels."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    a, b = rng.integers(0, n, (2, 12 * n))
    near = (group[a] == group[b]) | (rng.random(12 * n) < 0.1)
    names = np.array([f"movie {k}" for k in range(n)])
    pl.DataFrame({"src": names[a[near]], "dst": names[b[near]]}).write_csv(folder / "edges.csv")
    bits = np.column_stack([group == 0, group != 1, rng.random(n) < 0.3])
    wrong = rng.random((n, 3)) < 0.05
    table = {"id": names, "x": group + rng.normal(size=n)}
    table |= dict(zip(GENRES, (bits ^ wrong).T.astype(int), strict=True))
    table["genres"] = ["; ".join(np.array(GENRES)[row]) or "[]" for row in bits ^ wrong]
    table |= {"length": 90 + 10 * group + rng.normal(size=n), "price": group / 10 + 0.01}
    frame = pl.DataFrame(table)
    frame.write_csv(folder / "truth.csv")
    shown = pl.Series(np.arange(n) % 2 == 0)
    blank = [pl.when(shown).then(pl.col(c)).otherwise(None).alias(c) for c in frame.columns[2:]]
    frame.with_columns(blank).write_csv(folder / "nodes.csv")
    return folder


@pytest.fixture(scope="module")
def movies(tmp_path_factory):
    return write_movies(tmp_path_factory.mktemp("movies"))


def here(*arguments):
    """A command in this process, which need not import everything again."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return SimpleNamespace(returncode=result.exit_code, stdout=result.stdout, stderr=result.output)


def fit(folder, out, *options, ignore=(), command=here):
    given = [option for name in ignore for option in ("--ignore", name)]
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv")
    return command("fit", *files, *options, *given, "--out", folder / out)


@pytest.fixture(scope="module")
def bits(movies):
    others = ("genres", "length", "price")
    options = ("--target", ",".join(GENRES), "--model", "boosting", "--set", "n_rounds=20")
    done = fit(movies, "bits", *options, ignore=others)
    assert done.returncode == 0, done.stderr
    return movies / "bits", done.stdout


@pytest.fixture(scope="module")
def lists(movies):
    others = (*GENRES, "length", "price")
    options = ("--target", "genres", "--task", "multilabel", "--model", "label-propagation")
    done = fit(movies, "lists", *options, ignore=others)
    assert done.returncode == 0, done.stderr
    return movies / "lists", done.stdout


@pytest.fixture(scope="module")
def numbers(movies):
    options = ("--target", "length", "--target", "price", "--model", "label-propagation")
    done = fit(movies, "numbers", *options, ignore=("genres", *GENRES), command=run_command)
    assert done.returncode == 0, done.stderr
    return movies / "numbers", done.stdout


def test_labels_in_columns(bits):
    folder, said = bits
    summary = json.loads((folder / "metrics.json").read_text())
    assert (summary["task"], summary["target"]) == ("multilabel", list(GENRES))
    assert [entry["name"] for entry in summary["by_target"]["targets"]] == list(GENRES)
    assert {"f1_macro", "f1_micro", "roc_auc_macro"} <= set(summary["by_target"]["averages"])
    assert summary["by_target"]["targets"][1]["roc_auc"] > 0.8
    assert summary["leaks"] is False
    for words in ("comedy", "macro average", "average_precision", "label propagation"):
        assert words in said
    frame = pl.read_parquet(folder / "predictions.parquet")
    p = frame.select(f"p_{name}" for name in GENRES).to_numpy()
    assert frame["prediction"].to_list() == joined(GENRES, p > 0.5)
    assert "Scores of each target" in (folder / "report.html").read_text()
    assert load_model(folder / "model").targets_.columns == GENRES
    assert read_settings(folder / "config.toml").target == GENRES


def test_labels_in_lists(lists):
    folder, said = lists
    assert "note: 'genres' holds 3 labels (split at ';'): 'comedy', 'drama', 'horror'" in said
    assert load_model(folder / "model").targets_.columns == GENRES
    assert read_settings(folder / "config.toml").target == "genres"


def test_several_numbers(numbers):
    folder, said = numbers
    summary = json.loads((folder / "metrics.json").read_text())
    assert (summary["task"], summary["score"]["metric"]) == ("regression", "r2")
    by_target = summary["by_target"]
    assert by_target["averages"]["r2"] == pytest.approx(summary["score"]["value"])
    assert by_target["targets"][0]["rmse"] > 10 * by_target["targets"][1]["rmse"]
    frame = pl.read_parquet(folder / "predictions.parquet")
    for name in ("length", "price"):
        inside = frame[f"prediction_{name}"].is_between(frame[f"low_{name}"], frame[f"high_{name}"])
        assert inside.all()
    assert "average" in said
    assert "Predicted and true values of “price”" in (folder / "report.html").read_text()


@pytest.mark.parametrize("run", ["bits", "lists", "numbers"])
def test_runs_are_applied_and_evaluated(movies, tmp_path, run, request):
    folder, _ = request.getfixturevalue(run)
    files = ("--edges", movies / "edges.csv", "--nodes", movies / "nodes.csv")
    command = run_command if run == "numbers" else here
    done = command("predict", folder, *files, "--out", tmp_path / "p.parquet")
    assert done.returncode == 0, done.stderr
    found = pl.read_parquet(tmp_path / "p.parquet")
    stored = pl.read_parquet(folder / "predictions.parquet")
    assert found.columns == stored.columns
    numbers = found.select(pl.col(pl.Float64)).to_numpy()
    np.testing.assert_allclose(numbers, stored.select(pl.col(pl.Float64)).to_numpy(), atol=1e-6)
    done = command("evaluate", folder, "--nodes", movies / "truth.csv", "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert scores["nodes"] == 75
    assert len(scores["by_target"]["targets"]) == (2 if run == "numbers" else 3)


@pytest.mark.parametrize(
    ("run", "columns"),
    [
        ("bits", ["prediction", "uncertainty", "reach", *GENRES]),
        ("lists", ["prediction", "uncertainty", "reach", "genres"]),
        ("numbers", ["prediction_length", "prediction_price", "uncertainty", "reach", "length",
                     "price"]),
    ],
)  # fmt: skip
def test_nodes_to_label_have_a_blank_per_target(run, columns, request):
    frame = nodes_to_label(request.getfixturevalue(run)[0], 5)
    assert frame.columns == ["id", *columns]
    assert frame["uncertainty"].is_between(0, 1).all()


def test_labels_that_the_run_does_not_know_count_as_errors(lists, tmp_path):
    (tmp_path / "t.csv").write_text("id,genres\nmovie 1,western\nmovie 3,comedy|western\n")
    found = evaluate_run(lists[0], tmp_path / "t.csv", None)
    assert found["scores"]["subset_accuracy"].value == 0
    western = found["by_target"]["targets"][-1]
    assert (western["name"], western["positives"], western["f1"]) == ("western", 2, 0.0)


def test_mixed_targets_are_refused_in_one_line(movies):
    done = fit(movies, "none", "--target", "drama,length", command=run_command)
    assert (done.returncode, done.stdout) == (2, "")
    assert "got 'drama' (0/1), 'length' (numbers). Pass --task regression" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (movies / "none").exists()


def test_tables_of_targets():
    Y, rows = np.array([[1.0, 0], [0, 0]]), np.array([[0.9, 0.1], [0.2, 0.1]])
    found = scores_by_target("multilabel", ("a", "b"), Y, rows)
    header, table = table_by_target(found, 1)
    assert header == ["label", "nodes", "roc_auc", "average_precision", "f1"]
    assert table[0] == ["a", "1", "100.0%", "100.0%", "100.0%"]
    assert table[1][0] == "… 1 more, see metrics.json"
    assert scores_by_target("classification", (), Y, rows) is None


def test_labels_are_joined_by_a_sign_that_none_contains():
    both = np.array([[1, 1], [0, 0]])
    assert joined(("a", "b"), both) == ["a|b", ""]
    assert joined(("a|x", "b"), both) == ["a|x;b", ""]
