"""Predictions of a run: computed once, and the same as the model's own."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from labeltrick.app.report import write_report
from labeltrick.app.runs.fitting import fit_run
from labeltrick.app.runs.folder import RunFolder
from labeltrick.app.runs.scores import NodeScores, few_nodes_warning, score_rows
from labeltrick.app.runs.settings import FitSettings
from labeltrick.models.auto import AutoModel
from tests.support.people import write_files


def settings_of(folder, **others):
    paths = {name: str(folder / f"{name}.csv") for name in ("edges", "nodes")}
    return FitSettings(**paths, target="label", budget="2s", set={"n_folds": 2}, **others)


@pytest.mark.parametrize(
    ("split_column", "n_evaluations"),
    [(None, 1), ("split", 2)],  # the calibration needs scores of the validation nodes
)
def test_a_run_evaluates_its_model_once(tmp_path, monkeypatch, split_column, n_evaluations):
    evaluated = []
    original = AutoModel.scores_of

    def counting(self, inputs):
        if inputs.targets is self.targets_:  # not the changed labels of the leakage check
            evaluated.append(inputs)
        return original(self, inputs)

    monkeypatch.setattr(AutoModel, "scores_of", counting)
    ignore = () if split_column else ("split",)
    settings = settings_of(write_files(tmp_path), split_column=split_column, ignore=ignore)
    run = fit_run(settings, RunFolder(tmp_path / "run"), progress=False)
    write_report(run, tmp_path / "report.html")
    assert len(evaluated) <= n_evaluations
    assert run.leakage is not None


@pytest.mark.parametrize("target", ["label", "height"])
def test_the_table_holds_what_the_model_predicts(tmp_path, target):
    settings = settings_of(write_files(tmp_path), ignore=("split",))
    settings = replace(settings, target=target, model="boosting", set={"n_rounds": 5})
    run = fit_run(settings, RunFolder(tmp_path / "run"), progress=False)
    model, frame = run.model, run.predictions
    if target == "label":
        assert frame["prediction"].to_list() == model.predict().tolist()
        proba = frame.select(pl.col("^p_.*$")).to_numpy()
        np.testing.assert_array_equal(proba, model.predict_proba())
    else:
        np.testing.assert_array_equal(frame["prediction"].to_numpy(), model.predict())
        interval = frame.select("low", "high").to_numpy()
        np.testing.assert_array_equal(interval, model.predict_interval(coverage=0.9))
    assert NodeScores.of(model).inputs.targets is model.targets_


def test_few_labels_are_reported_with_the_score():
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([1, 1], 400)
    Y = np.eye(2)[rng.integers(0, 2, 400)]
    assert few_nodes_warning(score_rows("accuracy", Y, rows)) == []
    (warning,) = few_nodes_warning(score_rows("accuracy", Y[:30], rows[:30]))
    assert "Only 30 labeled nodes were scored" in warning
    assert "%" in warning


def test_a_run_with_few_labels_says_so(tmp_path):
    folder = write_files(tmp_path)
    nodes = pl.read_csv(folder / "nodes.csv", infer_schema=False)
    few = pl.when(pl.int_range(pl.len()) < 60).then(pl.col("label")).alias("label")
    nodes.with_columns(few).write_csv(folder / "nodes.csv")
    run = fit_run(
        settings_of(folder, ignore=("split",)), RunFolder(tmp_path / "run"), progress=False
    )
    assert any("labeled nodes were scored" in line for line in run.summary["warnings"])
    write_report(run, tmp_path / "report.html")
    assert "labeled nodes were scored" in (tmp_path / "report.html").read_text()
