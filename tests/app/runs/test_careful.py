"""Warnings that a careful colleague would give."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from labeltrick.app.runs.careful import (
    better_baselines,
    careful_warnings,
    unused_columns,
    unused_options,
)
from labeltrick.app.runs.scores import Score
from labeltrick.app.runs.settings import FitSettings
from labeltrick.app.runs.without_columns import takes_columns
from labeltrick.io.tables import Roles, read_problem
from tests.support.people import fit_arguments, invoke, write_files


def warnings_of(folder, y, task="auto"):
    n = len(y)
    pl.DataFrame({"src": range(n), "dst": [(k + 1) % n for k in range(n)]}).write_csv(
        folder / "e.csv"
    )
    pl.DataFrame({"id": range(n), "y": y}).write_csv(folder / "n.csv")
    problem = read_problem(folder / "e.csv", folder / "n.csv", Roles(target="y"), task=task)
    return careful_warnings(problem, problem.labels.known)


def test_plain_labels_have_no_warnings(tmp_path):
    assert warnings_of(tmp_path, ["a", "b"] * 30) == []
    assert warnings_of(tmp_path, np.random.default_rng(0).normal(size=60)) == []
    assert warnings_of(tmp_path, np.random.default_rng(0).integers(0, 10**6, 60)) == []
    assert warnings_of(tmp_path, np.arange(210) % 30) == []  # codes of 30 classes


def test_spellings(tmp_path):
    y = ["Yes"] * 12 + ["yes"] * 7 + ["no"] * 20 + [" no"] * 5
    first, second = warnings_of(tmp_path, y)
    assert "'Yes' (12) and 'yes' (7) of 'y' differ only in case or spaces" in first
    assert "'no' (20) and ' no' (5)" in second


@pytest.mark.parametrize("members", [1, 3, 4])
def test_small_classes(tmp_path, members):
    (said,) = warnings_of(tmp_path, ["a"] * 20 + ["b"] * 20 + ["rare"] * members)
    assert f"1 class has fewer than 5 labels: 'rare' ({members})" in said


def test_a_target_that_looks_like_an_id(tmp_path):
    assert any(
        "as in an id" in said for said in warnings_of(tmp_path, [f"C{k}" for k in range(60)])
    )
    rows = np.random.default_rng(0).permutation(60) + 100
    assert any("as in an id" in said for said in warnings_of(tmp_path, rows))


@pytest.mark.parametrize("word", ["unknown", " Not  known", "-1", "-", "***", "k.A."])
def test_classes_that_look_like_missing_labels(tmp_path, word):
    (said,) = warnings_of(tmp_path, ["no", "yes", word] * 20)
    assert f"the class {word!r} (20 labels) of 'y' looks like a missing label" in said


def test_minus_one_and_one_are_classes(tmp_path):
    assert warnings_of(tmp_path, ["+", "-"] * 20) == []
    assert warnings_of(tmp_path, [-1, 1] * 20) == []


def test_numbers_with_a_unit(tmp_path):
    degrees = [f"{k / 10} °C" for k in range(110, 150)] * 5
    (said,) = warnings_of(tmp_path, degrees)
    assert "40 different numbers with the unit '°C', such as '11.0 °C', which are taken as" in said
    assert warnings_of(tmp_path, ["1 star", "2 stars", "3 stars"] * 20) == []
    streets = [f"{k} {'Elm' if k % 2 else 'Oak'} street" for k in range(40)] * 5
    assert warnings_of(tmp_path, streets) == []


@pytest.mark.parametrize(
    "classes",
    [["drama|comedy", "comedy", "horror"], ["a; b", "b; c", "c; d"], ["red, blue", "blue", "red"]],
)
def test_lists_that_are_taken_as_classes(tmp_path, classes):
    (said,) = warnings_of(tmp_path, classes * 20)
    assert f"such as {classes[0]!r}, and are taken as one class each. Pass --task multi" in said


@pytest.mark.parametrize("classes", [["Lyon, France", "Nice, France"], ["a|b", "c|d"], ["|", ";"]])
def test_signs_in_names_of_classes(tmp_path, classes):
    assert warnings_of(tmp_path, classes * 20) == []


def test_numbers_and_classes(tmp_path):
    prices = np.random.default_rng(0).integers(10, 300, 600) * 5
    (said,) = [w for w in warnings_of(tmp_path, prices, "classification") if "regression" in w]
    assert "Pass --task regression if they are amounts" in said
    ages = np.random.default_rng(0).integers(20, 60, 600)
    assert any("--task regression" in said for said in warnings_of(tmp_path, ages))
    codes = np.arange(700) % 70
    (said,) = warnings_of(tmp_path, codes)
    assert "Pass --task classification if they are codes" in said


def test_baselines_that_are_better():
    score = Score("accuracy", 0.7, 0.6, 0.8, 200)
    others = {"majority": Score("accuracy", 0.5, 0.4, 0.6, 200),
              "label propagation": Score("accuracy", 0.75, 0.6, 0.8, 200)}  # fmt: skip
    (said,) = better_baselines(score, others)
    assert "label propagation (75.0%)" in said
    assert "majority" not in said
    error = Score("rmse", 1.0, 0.9, 1.1, 200)
    assert better_baselines(error, {"mean": Score("rmse", 2.0, 1.9, 2.1, 200)}) == []
    assert better_baselines(error, {"mean": Score("rmse", 0.5, 0.4, 0.6, 200)})


def test_options_without_effect_are_reported():
    assert unused_options(FitSettings("e.csv")) == []
    said = unused_options(FitSettings("e.csv", id="id", ignore=("x",), model="sgc", budget="5m"))
    assert said == ["not used, because there is no --nodes: --id, --ignore",
                    "not used by --model sgc: --budget"]  # fmt: skip
    alone = FitSettings("e.csv", nodes="n.csv", labels="more.csv")
    assert unused_options(alone) == ["not used, because there is no --target: --labels"]


def test_warnings_are_in_inspect_fit_metrics_and_report(tmp_path):
    folder = write_files(tmp_path)
    nodes = pl.read_csv(folder / "nodes.csv")
    spelled = pl.when(pl.int_range(pl.len()) % 7 == 0).then(pl.col("label").str.to_uppercase())
    nodes.with_columns(spelled.otherwise(pl.col("label")).alias("label")).write_csv(
        folder / "nodes.csv"
    )
    more = nodes.select("id", label=pl.lit("blue")).head(20)
    more.write_csv(folder / "more.csv")
    given = ["--labels", folder / "more.csv", "--model", "label-propagation", "--budget", "9s"]
    arguments = fit_arguments(folder, "run", *given)
    said = invoke(*arguments)
    metrics = json.loads((folder / "run" / "metrics.json").read_text())
    report = (folder / "run" / "report.html").read_text()
    seen = json.loads(invoke("inspect", *arguments[1:7], "--labels", folder / "more.csv", "--json"))
    for warnings in (metrics["warnings"], seen["warnings"]):
        (spellings,) = [w for w in warnings if "'red'" in w and "'RED'" in w]
        (against,) = [w for w in warnings if "contradict the node table" in w]
        assert "those in more.csv are used" in against
        assert "→ blue" in against
    unused = "not used by --model label-propagation: "
    for text in ("differ only in case or spaces", "contradict the node table", "edges: from → to",
                 f"{unused}--budget", f"{unused}columns "):  # fmt: skip
        assert text in said
        assert text in report
    assert spellings in said
    assert any("target label" in n and n.startswith("nodes: id id") for n in metrics["notes"])


def test_options_of_other_models_and_without_a_target_are_reported():
    given = {"learners": ("trees",), "exclude": ("linear",), "seed": 3}
    said = unused_options(FitSettings("e.csv", "n.csv", "y", model="label-propagation", **given))
    assert said[0] == "not used by --model label-propagation: --learners, --exclude"
    assert "--seed changes only the confidence intervals" in said[1]
    assert unused_options(FitSettings("e.csv", "n.csv", "y", **given)) == []
    alone = FitSettings("e.csv", task="regression", unknown_nodes="add")
    assert unused_options(alone) == ["not used, because there is no --nodes: --unknown-nodes",
                                     "not used, because there is no --target: --task"]  # fmt: skip


def test_text_options_without_text_files_are_reported():
    files = ("e.parquet", "book.xlsx#Sheet", "y")
    said = unused_options(FitSettings(*files, encoding="utf-8", decimal=","))
    assert said == ["not used, because no file is a text table: --encoding, --decimal"]
    assert unused_options(FitSettings("e.parquet", "n.csv.gz", "y", decimal=",")) == []


def test_columns_that_a_model_does_not_use_are_reported(tmp_path):
    problem = FitSettings(*sorted(write_files(tmp_path).glob("[en]*.csv")), target="label").read()
    plain = FitSettings("e.csv", "n.csv", "label", model="label-propagation")
    (said,) = unused_columns(problem, plain)
    assert said.startswith("not used by --model label-propagation: columns ")
    assert all(name in said for name in problem.X.columns)
    learned = replace(plain, model="trainable-label-propagation", set={"edge_weights": "learned"})
    for settings in (FitSettings("e.csv", "n.csv", "label"), learned):
        assert takes_columns(settings)
        assert unused_columns(problem, settings) == []


def test_a_task_that_the_target_contradicts(tmp_path):
    numbers = [f"{value:.2f}" for value in np.random.default_rng(0).normal(size=60)]
    said = " ".join(warnings_of(tmp_path, numbers, "classification"))
    assert "different numbers, such as " in said
    assert "Pass --task regression if they are amounts" in said
    days = [f"2024-{k % 12 + 1:02}-{k % 28 + 1:02}" for k in range(60)]
    said = " ".join(warnings_of(tmp_path, days))
    assert "different dates, which are taken as classes" in said
    (said,) = warnings_of(tmp_path, ["red", "blue"] * 30, "multilabel")
    assert "'y' is taken as lists of labels, but no cell holds more than one label" in said
    said = warnings_of(tmp_path, [f"{k},5" for k in range(60)], "multilabel")[0]
    assert "all labels are numbers" in said
    for y, held in ((["red", "blue"] * 30, "texts"), (days, "dates")):
        with pytest.raises(ValueError, match=f"`--task regression` must have.*, but {held}"):
            warnings_of(tmp_path, y, "regression")


def test_no_unknown_nodes(tmp_path):
    write_files(tmp_path, n=40, split=False)
    given = fit_arguments(tmp_path, "run")[1:7]
    note = "not used: --unknown-nodes add, because all ends of edges are in the node table"
    assert note in " ".join(invoke("inspect", *given, "--unknown-nodes", "add").split())
    assert "--unknown-nodes" not in invoke("inspect", *given)
