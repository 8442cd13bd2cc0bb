"""What the commands say about columns that give the answer away, and about clean ones."""

import json

import numpy as np
import polars as pl
import pytest

from tests.support.people import fit_arguments, invoke, write_files

TREES = ("--model", "boosting", "--set", "n_rounds=20")
DOUBT = "NOT TO BE TRUSTED"


def about_columns(warnings):
    """Warnings without those about few labels and better baselines."""
    return [line for line in warnings if not line.startswith(("Only ", "the model "))]


def give_away(folder, elsewhere=None, **options):
    """Files with a column ``told``, which is the label where it is known."""
    write_files(folder, split=False, **options)
    nodes = pl.read_csv(folder / "nodes.csv")
    told = pl.col("label") if elsewhere is None else pl.col("label").fill_null(elsewhere)
    nodes.with_columns(told.alias("told")).write_csv(folder / "nodes.csv")
    return folder


def files_of(folder):
    return ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--target", "label")


def one_line(text):
    return " ".join(text.split())


@pytest.fixture(scope="module", params=["classes", "numbers"])
def told(request, tmp_path_factory):
    """Files that give the answer away, with a run on them and what it printed."""
    folder = give_away(tmp_path_factory.mktemp("told"), task=request.param)
    return folder, invoke(*fit_arguments(folder, "run", *TREES))


def test_fit_marks_the_score_and_shows_it_without_the_column(told, tmp_path):
    folder, said = told
    assert DOUBT in said
    assert "the same model, fitted again without 'told'" in said
    assert "warning: column 'told' gives the answer away" in said
    assert "--ignore told" in said
    found = json.loads((folder / "run" / "metrics.json").read_text())
    assert found["trusted"] is False
    assert [(c["column"], c["verdict"]) for c in found["suspicious_columns"]] == [
        ("told", "gives the answer away")
    ]
    assert found["score_without"]["columns"] == ["told"]
    # It is the score of a run that leaves the column out.
    out = tmp_path / "honest"
    arguments = ("fit", *files_of(folder), *TREES, "--ignore", "told", "--out", out, "--json")
    honest = json.loads(invoke(*arguments))
    assert found["score_without"]["score"] == honest["score"]
    assert honest["trusted"] is True
    assert honest["suspicious_columns"] == []
    assert about_columns(honest["warnings"]) == []
    assert honest["score_without"] is None
    told_score, score = found["score"]["value"], honest["score"]["value"]
    assert told_score < score if found["task"] == "regression" else told_score > score


def test_the_report_marks_the_score(told):
    folder, _ = told
    text = (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "This score is not to be trusted" in text
    assert 'class="wide alarm"' in text
    assert "Suspicious columns" in text
    assert "No leak was found" not in text
    assert "does not look at columns" in text


def test_evaluate_repeats_the_mark(told):
    folder, _ = told
    said = invoke("evaluate", folder / "run")
    assert DOUBT in said
    assert "fitted again without 'told'" in said
    assert "warning: column 'told' gives the answer away" in said


def test_inspect_compare_and_sweep_say_it_too(told):
    folder, _ = told
    files = files_of(folder)
    found = json.loads(invoke("inspect", *files, "--json"))
    assert found["suspicious_columns"][0]["verdict"] == "gives the answer away"
    assert [w for w in found["warnings"] if w.startswith("column 'told' gives the answer away")]
    models = ("--models", "boosting,label-propagation", "--repeats", 2)
    found = json.loads(invoke("compare", *files, *models, "--json"))
    entries = {entry["name"]: entry for entry in found["models"]}
    assert list(entries) == ["boosting", "label-propagation", "boosting without 'told'"]
    assert [entry["trusted"] for entry in entries.values()] == [False, True, True]
    assert found["reference"] == "boosting without 'told'"
    assert entries["boosting without 'told'"]["difference"] is None
    honest = json.loads(invoke("compare", *files, *models, "--ignore", "told", "--json"))
    assert entries["boosting without 'told'"]["scores"] == honest["models"][0]["scores"]
    assert entries["label-propagation"]["difference"] == honest["models"][1]["difference"]
    assert about_columns(honest["warnings"]) == []
    text = one_line(invoke("compare", *files, "--models", "boosting", "--repeats", 1))
    assert "warning: column 'told' gives" in text
    sweep = ("sweep", *files, *TREES, "--parameter", "learning_rate", "--values", "0.1")
    assert DOUBT in invoke(*sweep)


def test_a_model_without_columns_is_not_doubted(told, tmp_path):
    folder, _ = told
    arguments = ("fit", *files_of(folder), "--model", "label-propagation", "--out", tmp_path / "lp")
    said = invoke(*arguments)
    assert DOUBT not in said
    assert "The model does not use columns, but the baseline “features alone” does" in said
    found = json.loads((tmp_path / "lp" / "metrics.json").read_text())
    assert found["trusted"] is True
    assert found["score_without"] is None


def test_the_only_column_is_replaced_by_label_propagation(tmp_path):
    folder = give_away(tmp_path)
    pl.read_csv(folder / "nodes.csv").drop("height", "town").write_csv(folder / "nodes.csv")
    said = invoke(*fit_arguments(folder, "run", *TREES))
    assert "label propagation, without 'told': no other columns are left" in said
    found = json.loads((folder / "run" / "metrics.json").read_text())
    assert found["score_without"]["model"] == "label-propagation"
    assert found["score_without"]["score"] == found["baselines"]["label propagation"]


def test_auto_with_a_constant_elsewhere_and_several_columns(tmp_path):
    folder = give_away(tmp_path, elsewhere="unknown", n=300)
    nodes = pl.read_csv(folder / "nodes.csv")
    nodes.with_columns(pl.col("label").alias("again")).write_csv(folder / "nodes.csv")
    quick = ("--set", "n_folds=2", "--budget", "2s")
    found = json.loads(invoke(*fit_arguments(folder, "run", *quick, "--json")))
    assert found["trusted"] is False
    assert sorted(found["score_without"]["columns"]) == ["again", "told"]
    assert found["score"]["value"] > found["score_without"]["score"]["value"]
    assert not (folder / "run" / ".unfinished").exists()


def test_a_test_part_with_labels_does_not_hide_it(tmp_path):
    """The column is filled in wherever a label is: a test score of 100 % says nothing."""
    folder = write_files(tmp_path, n=240, noise=0.6)
    nodes = pl.read_csv(folder / "nodes.csv")
    blank = pl.int_range(pl.len()) % 4 == 0
    nodes = nodes.with_columns(
        pl.when(blank).then(None).otherwise(name).alias(name) for name in ("label", "split")
    )
    nodes.with_columns(pl.col("label").alias("told")).write_csv(folder / "nodes.csv")
    arguments = fit_arguments(folder, "run", "--split-column", "split", *TREES, "--json")
    found = json.loads(invoke(*arguments))
    assert found["scored_on"] == "test nodes"
    assert found["score"]["value"] > 0.99
    assert found["trusted"] is False
    assert found["score_without"]["score"]["value"] < 0.99


def test_a_date_of_entry_gives_the_answer_away_unless_it_is_ignored(tmp_path):
    folder = write_files(tmp_path, split=False)
    nodes = pl.read_csv(folder / "nodes.csv")
    code = {"red": 0, "green": 60, "blue": 120}
    late = pl.int_range(pl.len()) % 28
    day = pl.date(2024, 1, 1) + pl.duration(days=pl.col("label").replace_strict(code) + late)
    nodes.with_columns(day.alias("entered")).write_csv(folder / "nodes.csv")
    for more in ((), ("--time", "entered")):
        found = json.loads(invoke("inspect", *files_of(folder), *more, "--json"))
        (entry,) = found["suspicious_columns"]
        assert (entry["column"], entry["verdict"]) == ("entered", "gives the answer away")
    found = json.loads(invoke("inspect", *files_of(folder), "--ignore", "entered", "--json"))
    assert found["suspicious_columns"] == []


def test_a_text_that_was_written_with_the_label(tmp_path):
    folder = write_files(tmp_path, split=False)
    nodes = pl.read_csv(folder / "nodes.csv")
    number = pl.int_range(pl.len()).cast(pl.String)
    said = pl.format("case {} was found to be {}", number, "label")
    nodes.with_columns(said.alias("letter")).write_csv(folder / "nodes.csv")
    found = json.loads(invoke("inspect", *files_of(folder), "--json"))
    (entry,) = found["suspicious_columns"]
    assert (entry["column"], entry["verdict"]) == ("letter", "gives the answer away")


def test_nodes_without_a_row_are_not_compared(tmp_path):
    """Nodes that only edges name have no columns and no label: an honest column is blank there."""
    folder = write_files(tmp_path, n=240)
    nodes = pl.read_csv(folder / "nodes.csv").drop("split", "town")
    code = {"red": 0.0, "green": 5.0, "blue": 9.0}
    noise = pl.Series(np.random.default_rng(0).normal(size=240))
    strong = (pl.col("label").replace_strict(code) + noise).alias("strong")
    nodes.with_columns(strong).head(120).write_csv(folder / "nodes.csv")
    found = json.loads(invoke("inspect", *files_of(folder), "--unknown-nodes", "add", "--json"))
    assert "gives the answer away" not in [c["verdict"] for c in found["suspicious_columns"]]


@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize("split", [True, False])
def test_clean_files_are_not_accused(tmp_path, task, split):
    folder = write_files(tmp_path, task=task, split=split)
    more = ("--split-column", "split") if split else ()
    said = invoke(*fit_arguments(folder, "run", *TREES, *more))
    assert DOUBT not in said
    assert "warning: column" not in said
    found = json.loads((folder / "run" / "metrics.json").read_text())
    assert found["trusted"] is True
    assert found["suspicious_columns"] == []
    assert about_columns(found["warnings"]) == []
    assert "not to be trusted" not in (folder / "run" / "report.html").read_text(encoding="utf-8")


def test_an_honest_strong_column_is_a_note_and_no_mark(tmp_path):
    folder = write_files(tmp_path, split=False)
    nodes, truth = (pl.read_csv(folder / f"{name}.csv") for name in ("nodes", "truth"))
    code = {"red": 0.0, "green": 5.0, "blue": 9.0}
    noise = 0.3 * np.random.default_rng(0).normal(size=150)
    strong = truth["label"].replace_strict(code) + pl.Series(noise)
    nodes.with_columns(strong.alias("strong")).write_csv(folder / "nodes.csv")
    said = invoke(*fit_arguments(folder, "run", *TREES))
    assert DOUBT not in said
    assert "warning: column 'strong' is worth a look" in said
    assert "An honest column can be that good" in said
    found = json.loads((folder / "run" / "metrics.json").read_text())
    assert found["trusted"] is True
    assert found["score_without"] is None
