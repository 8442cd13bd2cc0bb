"""Classes that differ only in case or spaces are named, not scored as others."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from labeltrick.app.runs.spellings import warnings_on_new_classes
from labeltrick.io.tables.labels import Labels
from tests.support.people import invoke


def test_new_classes_are_named():
    values = np.array(["Yes", "No", "maybe", "maybe"], object)
    labels, rows = Labels("churn", "classification", values), np.arange(4)
    fitted = SimpleNamespace(task="classification", classes=np.array(["No", "Yes"]))
    (said,) = warnings_on_new_classes(labels, rows, fitted)
    assert said.endswith("of 'churn', so their rows count as wrong: 'maybe' (2)")
    assert warnings_on_new_classes(labels, rows[:2], fitted) == []


@pytest.mark.parametrize("how", [pl.col("label").str.to_uppercase(), pl.col("label") + " "])
def test_evaluate_and_predict_suggest_the_class_of_the_run(fitted, tmp_path, how):
    folder, _ = fitted
    truth = pl.read_csv(folder / "truth.csv")
    truth.with_columns(how).write_csv(tmp_path / "t.csv")
    said = r"column 'label' must hold classes of the .*Did you mean '(red|green|blue)'\?"
    with pytest.raises(ValueError, match=said):
        invoke("evaluate", folder / "run", "--nodes", tmp_path / "t.csv")
    with pytest.raises(ValueError, match=said):
        invoke("predict", folder / "run", "--labels", tmp_path / "t.csv", "--out",
               tmp_path / "p.csv")  # fmt: skip


def test_evaluate_warns_of_a_class_that_the_run_does_not_know(fitted, tmp_path):
    folder, _ = fitted
    truth = pl.read_csv(folder / "truth.csv")
    truth.with_columns(pl.col("label").replace("red", "pink")).write_csv(tmp_path / "t.csv")
    arguments = ("evaluate", folder / "run", "--nodes", tmp_path / "t.csv")
    assert "warning: the run does not know these classes of 'label'" in invoke(*arguments)
    few, said, other = json.loads(invoke(*arguments, "--json"))["warnings"]
    assert "labels other than in the fit" in other  # nodes that were red
    assert few.startswith("Only ")
    assert "labeled nodes were scored" in few
    assert "'pink'" in said
