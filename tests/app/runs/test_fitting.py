"""Fitting a run, by its command and in processes of their own where it matters."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from labeltrick import load_model
from labeltrick.app.runs.settings import read_settings
from tests.support.commands import Command, run_command
from tests.support.people import QUICK, fit_arguments, invoke, write_files

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
    options = ("--budget", "0.5s", "--set", "n_folds=2")
    process = Command(*fit_arguments(folder, "run", *options))
    _wait_for_parts(folder, process, 2)
    process.send_signal(getattr(signal, how))
    if how == "SIGINT":  # the first one asks the fit to finish
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    run = folder / "run"
    assert [p.name for p in run.iterdir()] == [".unfinished"]
    if how == "SIGINT":
        assert process.returncode == 1
        assert stderr.strip().splitlines()[-1] == (
            "labeltrick: interrupted; what was finished is kept. Resume with: labeltrick fit --out "
            f"{run} --resume"
        )
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


def test_metrics_of_another_task_and_missing_models_are_refused(tmp_path):
    write_files(tmp_path, n=60, task="numbers", split=False)
    with pytest.raises(ValueError, match="`metric` must be one of 'rmse'"):
        invoke(*fit_arguments(tmp_path, "run", "--metric", "accuracy"))
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    with pytest.raises(ValueError, match="`--models` must name"):
        invoke("compare", *files, "--target", "label", "--models", ",")


def test_fit_writes_a_whole_folder(fitted):
    folder, said = fitted
    run = folder / "run"
    assert sorted(p.name for p in run.iterdir()) == [
        "checksums.json", "config.toml", "inputs", "metrics.json", "model", "predictions.parquet",
        "report.html",
    ]  # fmt: skip
    names = sorted(p.name for p in (run / "inputs").iterdir())
    assert names == ["edges.parquet", "inputs.json", "nodes.parquet"]
    frame = pl.read_parquet(run / "predictions.parquet")
    assert frame.columns == [
        "id", "prediction", "p_blue", "p_green", "p_red", "labeled", "reached", "test",
    ]  # fmt: skip
    nodes = pl.read_csv(folder / "nodes.csv")
    assert frame["test"].to_list() == (nodes["split"] == "test").to_list()
    assert frame["id"].to_list() == nodes["id"].to_list()
    assert frame["labeled"].to_list() == nodes["split"].is_in(["train", "val"]).to_list()
    test = nodes["split"] == "test"
    right = (frame["prediction"] == nodes["label"]).filter(test).mean()
    assert said["score"]["value"] == pytest.approx(right)
    assert said["score"]["low"] <= right <= said["score"]["high"]
    assert said["scored_on"] == "test nodes"
    assert set(said["baselines"]) >= {"majority", "label propagation"}
    assert said["leaks"] is False
    assert right > 0.85
    assert (run / "report.html").stat().st_size < 6e6


def test_test_labels_change_nothing_but_the_score(fitted, tmp_path):
    folder, _ = fitted
    nodes = pl.read_csv(folder / "nodes.csv")
    spoiled = nodes.with_columns(
        pl.when(pl.col("split") == "test").then(pl.lit("red")).otherwise("label").alias("label")
    )
    spoiled.write_csv(tmp_path / "nodes.csv")
    (tmp_path / "edges.csv").write_bytes((folder / "edges.csv").read_bytes())
    invoke(*fit_arguments(tmp_path, "run", "--split-column", "split", *QUICK, "--quiet"))
    a, b = (pl.read_parquet(f / "run" / "predictions.parquet") for f in (folder, tmp_path))
    assert a.equals(b)


def test_the_saved_model_gives_the_same_bits_in_a_fresh_process(fitted, tmp_path):
    folder, _ = fitted
    code = (
        "import sys, numpy as np; from labeltrick import load_model; "
        "np.save(sys.argv[2], load_model(sys.argv[1]).predict_proba())"
    )
    out = tmp_path / "p.npy"
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "LABELTRICK")}
    subprocess.run(
        [sys.executable, "-c", code, str(folder / "run" / "model"), str(out)],
        check=True,
        env={**os.environ, **threads},  # as many as it likes: the bits are the same
    )
    frame = pl.read_parquet(folder / "run" / "predictions.parquet")
    np.testing.assert_array_equal(np.load(out), frame.select("^p_.*$").to_numpy())


def test_run_again_from_its_config(fitted, tmp_path):
    folder, _ = fitted
    invoke("fit", "--config", folder / "run" / "config.toml", "--out", tmp_path / "again", "-q")
    a, b = (
        pl.read_parquet(f / "predictions.parquet") for f in (folder / "run", tmp_path / "again")
    )
    assert a.equals(b)
    plans = [read_settings(f / "config.toml").plan for f in (folder / "run", tmp_path / "again")]
    assert "trees" in plans[0]["learners"]
    assert plans[0] == plans[1]
    changed = ("--model", "label-propagation", "--set", "damping=0.5")
    invoke(
        "fit", "--config", folder / "run" / "config.toml", "--out", tmp_path / "lp", "-q", *changed
    )
    assert load_model(tmp_path / "lp" / "model").damping == 0.5
    assert read_settings(tmp_path / "lp" / "config.toml").target == "label"
    assert read_settings(tmp_path / "lp" / "config.toml").plan == {}


def test_numbers(tmp_path):
    write_files(tmp_path, task="numbers", split=False)
    said = json.loads(invoke(*fit_arguments(tmp_path, "run", *QUICK, "--json")))
    assert said["task"] == "regression"
    assert said["score"]["metric"] == "rmse"
    assert said["score"]["value"] < said["baselines"]["mean"]["value"]
    frame = pl.read_parquet(tmp_path / "run" / "predictions.parquet")
    assert frame.columns == ["id", "prediction", "low", "high", "labeled", "reached"]
    truth = pl.read_csv(tmp_path / "truth.csv")["label"]
    hidden = ~frame["labeled"]
    inside = (truth >= frame["low"]) & (truth <= frame["high"])
    assert inside.filter(hidden).mean() > 0.7
    assert "rmse" in invoke("evaluate", tmp_path / "run", "--nodes", tmp_path / "truth.csv")
    invoke("label-next", tmp_path / "run", "--count", 3, "--out", tmp_path / "next.csv", "-q")


def test_a_folder_that_holds_something_is_not_overwritten(fitted, tmp_path):
    folder, _ = fitted
    before = (folder / "run" / "metrics.json").read_bytes()
    with pytest.raises(FileExistsError, match="finished run"):
        invoke(*fit_arguments(folder, "run"))
    assert (folder / "run" / "metrics.json").read_bytes() == before
    write_files(tmp_path, n=40)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for more in ((), ("--overwrite",)):
        with pytest.raises(FileExistsError, match="other files"):
            invoke(*fit_arguments(tmp_path, "mine", *more))
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["county", "minesweeper"])
def test_public_files_from_start_to_end(data_dir, tmp_path, name):
    if name == "county":
        files = ("--edges", data_dir / "county" / "edges.csv", "--nodes", tmp_path / "n.csv")
        table = pl.read_csv(data_dir / "county" / "county_2016.csv", infer_schema_length=None)
        table.with_row_index("row").write_csv(tmp_path / "n.csv")
        more = ("--target", "UnemploymentRate", "--ignore", "FIPS", "--id", "row")
    else:
        files, more = ("--edges", data_dir / "heterophilous" / "minesweeper.npz"), ()
    said = json.loads(invoke("fit", *files, *more, "--model", "boosting", "--set", "n_rounds=60",
                             "--out", tmp_path / "run", "--json"))  # fmt: skip
    best = min(s["value"] for s in said["baselines"].values())
    assert said["score"]["value"] < best if name == "county" else said["score"]["value"] > 0.8


def test_a_wrong_setting_leaves_no_unfinished_run(tmp_path):
    pytest.importorskip("torch_geometric")
    write_files(tmp_path, n=60)
    wrong = fit_arguments(tmp_path, "run", "--model", "gnn", "--set", "backbone=sagee")
    with pytest.raises(ValueError, match="`backbone` must be one of"):
        invoke(*wrong)
    assert not (tmp_path / "run").exists()
