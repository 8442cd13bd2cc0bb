"""Mistakes, interruptions and settings: what a run leaves on the disk."""

import json

import numpy as np
import pytest

from labeltrick import load_model
from labeltrick._utils.temporary_folders import Temporary
from labeltrick.app.runs.comparing import paired
from labeltrick.app.runs.folder import RunFolder
from labeltrick.app.runs.scores import score_rows
from labeltrick.app.runs.settings import FitSettings, parse_seconds, parse_set
from tests.support.commands import run_command
from tests.support.people import fit_arguments, invoke, write_files


def test_small_parts():
    assert parse_seconds("90") == 90
    assert parse_seconds("1.5h") == 5400
    assert parse_seconds("none") is None
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
     "inputs/inputs.json", "checksums.json"],
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


@pytest.mark.parametrize("command", [["evaluate"], ["predict", "--out", "p.csv"]])
def test_a_run_that_does_not_exist_is_said_not_to_exist(tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *more = command
    with pytest.raises(FileNotFoundError, match="finished run; it does not exist"):
        invoke(name, tmp_path / "nowhere", *more)
    assert not list(tmp_path.iterdir())
    (tmp_path / "run").write_text("")
    with pytest.raises(FileNotFoundError, match="finished run; it is a file"):
        invoke(name, tmp_path / "run", *more)
