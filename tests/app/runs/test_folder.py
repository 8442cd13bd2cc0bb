"""Mistakes, interruptions and settings: what a run leaves on the disk."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from labeltrick import load_model
from labeltrick._utils.temporary_folders import Temporary
from labeltrick.app.runs.comparing import paired
from labeltrick.app.runs.folder import RunFolder
from labeltrick.app.runs.scores import score_rows
from labeltrick.app.runs.settings import FitSettings, parse_seconds, parse_set, read_settings
from labeltrick.evaluation import metrics
from tests.support.people import fit_arguments, invoke, run_command, write_files

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
    command = [sys.executable, "-m", "labeltrick",
               *map(str, fit_arguments(folder, "run", *options))]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait_for_parts(folder, process, 2)
    process.send_signal(getattr(signal, how))
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
        labeled = found.filter(pl.col("labeled"))["id"].to_list()
        assert set(asked["person"]) <= set(labeled)


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


def test_folders_that_are_not_ours_are_left_untouched(tmp_path):
    """Names that other programs use too."""
    cases = {
        "unfinished": {".unfinished/config.toml": "a = 1", ".unfinished/work.txt": "keep"},
        "metrics": {"metrics.json": '{"loss": 1}', "predictions.parquet": "keep"},
        "files": {"thesis.txt": "keep"},
    }
    for case, files in cases.items():
        for name, text in files.items():
            (tmp_path / case / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / case / name).write_text(text)
        for overwrite in (False, True):
            with pytest.raises(FileExistsError, match="not created by|other files"):
                RunFolder(tmp_path / case).start("a = 1\n", resume=False, overwrite=overwrite)
        found = [p for p in (tmp_path / case).rglob("*") if p.is_file()]
        assert {str(p.relative_to(tmp_path / case)): p.read_text() for p in found} == files


def test_a_run_that_is_in_the_making_is_left_alone(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.start("a = 1\n", resume=False, overwrite=False)
    for options in ({"resume": True, "overwrite": False}, {"resume": False, "overwrite": True}):
        with pytest.raises(FileExistsError, match="a fit is running in"):
            RunFolder(tmp_path / "run").start("a = 2\n", **options)
    assert (folder / ".unfinished" / "config.toml").read_text() == "a = 1\n"
    folder.abandon()
    assert not (tmp_path / "run").exists()
    (tmp_path / "mine").mkdir()
    folder = RunFolder(tmp_path / "mine")
    folder.start("a = 1\n", resume=False, overwrite=False)
    folder.abandon()
    assert list((tmp_path / "mine").iterdir()) == []  # the folder was there before


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    folder = write_files(tmp_path_factory.mktemp("sealed"), n=60, split=False)
    invoke(*fit_arguments(folder, "run", "--model", "label-propagation", "--quiet"))
    return folder


@pytest.mark.parametrize(
    "name",
    ["predictions.parquet", "metrics.json", "config.toml", "model/model.json", "model/arrays.npz",
     "checksums.json"],
)  # fmt: skip
def test_a_changed_file_of_a_run_is_found_on_opening(small_run, name):
    path = small_run / "run" / name
    whole = path.read_bytes()
    ask = ("predict", small_run / "run", "--out", small_run / "p.csv", "--overwrite")
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    try:
        for content in (changed, whole[:-20], None):
            path.unlink() if content is None else path.write_bytes(content)
            with pytest.raises((ValueError, FileNotFoundError)) as caught:
                invoke(*ask)
            assert "\n" not in str(caught.value)
            if name != "checksums.json" or content is not changed:  # there it names another file
                assert name.split("/")[-1] in str(caught.value)
            if not name.startswith("model/"):
                with pytest.raises((ValueError, FileNotFoundError)):
                    invoke("evaluate", small_run / "run")
        if name == "predictions.parquet":  # once through the executable
            result = run_command(*ask)
            assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    finally:
        path.write_bytes(whole)
    invoke(*ask, "--quiet")


def test_a_remark_in_the_report_does_no_harm(small_run):
    with (small_run / "run" / "report.html").open("a") as report:
        report.write("<!-- looks good -->")
    assert "accuracy" in invoke("evaluate", small_run / "run")


def test_the_model_comes_back_after_a_kill_while_it_was_replaced(small_run):
    run = small_run / "run"
    aside = run / ".labeltrick-tmp-0123456789abcdef"
    aside.mkdir()
    with Temporary(run / "model", sweeps=False) as other:  # as a process writes it
        (aside / "owner").write_bytes((other / "owner").read_bytes())
    (run / "model").rename(aside / "old")
    invoke("evaluate", run)
    assert load_model(run / "model").targets_ is not None
    assert not aside.exists()


def test_what_is_no_number_is_null_in_files(tmp_path):
    path = RunFolder(tmp_path).write_json("x.json", {"a": [float("nan"), 1.5, float("inf")]})
    assert json.loads(path.read_text()) == {"a": [None, 1.5, None]}


def test_settings_come_back_whatever_columns_are_called(tmp_path):
    name = "a\x7f\x1b\x85\u2028\u202e\"'\\ é 👩"
    settings = FitSettings("/e.csv", "/n.csv", target=name, ignore=(name, "b"), set={name: name})
    (tmp_path / "config.toml").write_text(settings.to_toml(), encoding="utf-8")
    assert read_settings(tmp_path / "config.toml") == settings
