"""Mistakes, interruptions and settings: what a run leaves on the disk."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from people import fit_arguments, invoke, run_command, write_files

from labeltrick import metrics
from labeltrick.runs.comparing import paired
from labeltrick.runs.folder import RunFolder
from labeltrick.runs.scores import score_rows
from labeltrick.runs.settings import FitSettings, parse_seconds, parse_set, read_settings

BAD = {
    "no edges": (["fit", "--out", "r"], "`--edges` must be given"),
    "no target": (["--out", "r"], "`--target` must name"),
    "wrong target": (["--target", "lable", "--out", "r"], "Did you mean 'label'?"),
    "wrong model": (["--target", "label", "--model", "boosted", "--out", "r"], "'boosting'"),
    "wrong set": (["--target", "label", "--set", "n_fold=2", "--out", "r"], "'n_folds'"),
    "bad set": (["--target", "label", "--set", "n_folds", "--out", "r"], "key=value"),
    "bad budget": (["--target", "label", "--budget", "soon", "--out", "r"], "60s"),
    "no resume": (["--target", "label", "--resume", "--out", "r"], "unfinished run"),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_one_line_and_leave_nothing_behind(tmp_path, monkeypatch, case):
    folder = write_files(tmp_path, n=40)
    monkeypatch.chdir(tmp_path)
    arguments, said = BAD[case]
    if arguments[0] != "fit":
        files = ["--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv"]
        arguments = ["fit", *files, *arguments]
    with pytest.raises((ValueError, FileExistsError)) as caught:
        invoke(*arguments)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "r").exists()
    if case == "wrong target":  # once through the executable
        result = run_command(*arguments, cwd=tmp_path)
        assert result.returncode == 2
        assert result.stderr == f"labeltrick: {caught.value}\n"


def _wait_for_parts(folder, process, n):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if len(list((folder / "run" / ".unfinished" / "parts").glob("*/model.json"))) >= n:
            return
        time.sleep(0.05)
    pytest.fail(f"the fit ended or hung before it was interrupted: {process.poll()}")


@pytest.mark.parametrize("how", ["SIGKILL", pytest.param("SIGINT", marks=pytest.mark.slow)])
def test_an_interrupted_fit_resumes_to_the_same_result(tmp_path, how):
    folder = write_files(tmp_path, n=80, split=False)
    options = ("--budget", "3s", "--set", "n_folds=2")
    command = [sys.executable, "-m", "labeltrick.cli",
               *map(str, fit_arguments(folder, "run", *options))]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait_for_parts(folder, process, 3)
    process.send_signal(getattr(signal, how))
    _, stderr = process.communicate(timeout=60)
    run = folder / "run"
    assert [p.name for p in run.iterdir()] == [".unfinished"]
    if how == "SIGINT":
        assert process.returncode == 1
        assert stderr.strip().splitlines()[-1].startswith("labeltrick: interrupted")
        return
    with pytest.raises(ValueError, match="--resume"):
        invoke("predict", run, "--out", tmp_path / "p.csv")
    with pytest.raises(FileExistsError, match="--resume"):
        invoke(*fit_arguments(folder, "run"))
    result = run_command("fit", "--out", run, "--resume", "--quiet")
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert not (run / ".unfinished").exists()
    invoke(*fit_arguments(folder, "whole", *options, "--quiet"))
    a, b = (pl.read_parquet(folder / name / "predictions.parquet") for name in ("run", "whole"))
    assert a.equals(b)


def test_small_parts():
    assert parse_seconds("90") == 90
    assert parse_seconds("1.5h") == 5400
    assert parse_set(["a=[1, 2]", "b=None", "c=x=y"]) == {"a": [1, 2], "b": None, "c": "x=y"}
    settings = FitSettings(
        "e.csv", target='a "quoted" name', ignore=("x", "y"), set={"k": [1, "z"]}
    )
    assert 'a \\"quoted\\" name' in settings.to_toml()
    gap = paired([0.9, 0.8, 0.95], [0.8, 0.75, 0.85])
    assert gap["mean"] == pytest.approx(0.25 / 3)
    assert 0 < gap["p_value"] < 1
    assert paired([0.5], [0.4])["p_value"] is None
    rng = np.random.default_rng(0)
    Y = np.eye(2)[rng.integers(0, 2, 400)]
    rows = np.where(rng.random((400, 1)) < 0.8, Y, 1 - Y)
    score = score_rows("accuracy", Y, rows)
    assert 0.03 < score.high - score.low < 0.12


def test_a_class_that_no_training_label_has_is_never_right():
    nobody = np.zeros((1, 2))
    assert metrics.measure("accuracy", nobody, np.array([[0.9, 0.1]])) == 0
    assert np.isfinite(metrics.measure("log_loss", nobody, np.array([[0.9, 0.1]])))


def test_metrics_of_another_task_and_missing_models_are_refused(tmp_path):
    write_files(tmp_path, n=60, task="numbers", split=False)
    with pytest.raises(ValueError, match="`metric` must be one of 'rmse'"):
        invoke(*fit_arguments(tmp_path, "run", "--metric", "accuracy"))
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    with pytest.raises(ValueError, match="`--models` must name"):
        invoke("compare", *files, "--target", "label", "--models", ",")


def test_a_parameter_that_is_none_and_an_id_of_another_name(tmp_path):
    write_files(tmp_path, n=60, split=False)
    nodes = pl.read_csv(tmp_path / "nodes.csv").rename({"id": "person"})
    nodes.write_csv(tmp_path / "nodes.csv")
    invoke(*fit_arguments(tmp_path, "run", "--model", "label-propagation", "--id", "person",
                          "--set", "n_steps=None", "--quiet"))  # fmt: skip
    assert read_settings(tmp_path / "run" / "config.toml").set == {"n_steps": None}
    invoke("label-next", tmp_path / "run", "--count", 2, "--out", tmp_path / "ask.csv", "-q")
    asked = pl.read_csv(tmp_path / "ask.csv")
    assert asked.columns[0] == "person"
    asked.with_columns(pl.lit("red").alias("label")).write_csv(tmp_path / "filled.csv")
    nodes.drop("label").write_csv(tmp_path / "bare.csv")
    for table in ("nodes.csv", "bare.csv"):  # also where the table has no column of labels
        out = tmp_path / f"{table}.parquet"
        invoke("predict", tmp_path / "run", "--nodes", tmp_path / table, "--labels",
               tmp_path / "filled.csv", "--out", out, "-q")  # fmt: skip
        found = pl.read_parquet(out)
        labelled = found.filter(pl.col("labelled"))["id"].to_list()
        assert set(asked["person"]) <= set(labelled)


def test_settings_come_back_from_toml(tmp_path):
    settings = FitSettings(
        str(tmp_path / "e.csv"), str(tmp_path / "n.csv"), target='a "b" ü', ignore=("x",),
        directed=True, set={"damping": 0.5, "k": [1, "z"]}, seed=3,
    )  # fmt: skip
    (tmp_path / "c.toml").write_text(settings.to_toml(), encoding="utf-8")
    assert read_settings(tmp_path / "c.toml") == settings
    (tmp_path / "d.toml").write_text("nonsense = 1\n")
    with pytest.raises(ValueError, match=r"config.toml of a run; it has 'nonsense'"):
        read_settings(tmp_path / "d.toml")


def test_a_folder_cut_off_before_anything_was_kept_is_no_obstacle(tmp_path):
    folder = RunFolder(tmp_path / "run")
    (folder / ".unfinished").mkdir(parents=True)
    folder.start("a = 1\n", resume=False, overwrite=False)
    assert folder.is_unfinished
    with pytest.raises(FileExistsError, match="unfinished run"):
        folder.start("a = 1\n", resume=False, overwrite=False)


def test_what_is_no_number_is_null_in_files(tmp_path):
    path = RunFolder(tmp_path).write_json("x.json", {"a": [float("nan"), 1.5, float("inf")]})
    assert json.loads(path.read_text()) == {"a": [None, 1.5, None]}


def test_settings_come_back_whatever_columns_are_called(tmp_path):
    name = "a\x7f\x1b\x85\u2028\u202e\"'\\ é 👩"
    settings = FitSettings("/e.csv", "/n.csv", target=name, ignore=(name, "b"), set={name: name})
    (tmp_path / "config.toml").write_text(settings.to_toml(), encoding="utf-8")
    assert read_settings(tmp_path / "config.toml") == settings
