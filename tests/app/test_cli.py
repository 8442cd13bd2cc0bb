import json
import subprocess
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import labeltrick
from labeltrick.app.cli import app
from labeltrick.app.quickstart import compare
from labeltrick.io.datasets import make_minesweeper

runner = CliRunner()


def labeltrick_command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "labeltrick", *arguments], capture_output=True, text=True
    )


def test_quickstart_shows_that_both_together_beat_either_alone(tmp_path):
    arguments = ["quickstart", "--size", "30", "--json", "--out", str(tmp_path / "q")]
    found = json.loads(runner.invoke(app, arguments).output)
    scores = {s["uses"]: s["auc"] for s in found["scores"]}
    again = {s.uses: s.auc for s in compare(make_minesweeper(30))}
    assert {name: scores[name] for name in again} == again
    assert abs(scores["own number"] - 0.5) < 0.1
    assert abs(scores["known mines, edges"] - 0.5) < 0.1
    both = scores.pop("numbers, known mines, edges")
    assert both > 0.9
    assert both > max(scores.values()) + 0.02
    assert (tmp_path / "q" / "run" / "report.html").samefile(found["report"])
    assert "plotly" in (tmp_path / "q" / "board.html").read_text().lower()


def test_quickstart_scores_hidden_labels_only():
    board = make_minesweeper(20, seed=3)
    assert not set(board.train) & set(board.test)
    assert len(board.train) + len(board.test) == len(board.y)
    spoiled = board.y.copy()
    spoiled[board.test] = 1 - spoiled[board.test]
    changed = replace(board, y=spoiled)
    for before, after in zip(compare(board), compare(changed), strict=True):
        # the predictions cannot follow labels they never see
        assert after.auc == pytest.approx(1 - before.auc)


def test_bad_input_is_one_line_and_exit_code_2():
    result = labeltrick_command("quickstart", "--label-share", "1.5")
    assert result.returncode == 2
    assert result.stderr == (
        "labeltrick: `label_share` must be strictly between 0 and 1; got 1.5.\n"
    )
    for arguments in (["--label-share", "0.0001"], ["--seed", "-1"]):
        poor = runner.invoke(app, ["quickstart", *arguments]).exception
        assert isinstance(poor, ValueError)
        assert "\n" not in str(poor)
    assert labeltrick_command("no-such-command").returncode == 2


COMMANDS = (
    "quickstart", "inspect", "fit", "predict", "evaluate", "compare", "sweep", "label-next",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_the_common_options(command):
    result = runner.invoke(app, [command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert f"labeltrick {command} " in result.output
    for part in ("Example", "--seed", "--json", "--quiet"):
        assert part in result.output


def test_help_shows_an_example_and_version():
    assert (
        "labeltrick quickstart --label-share" in runner.invoke(app, ["quickstart", "--help"]).output
    )
    assert labeltrick.__version__ in runner.invoke(app, ["--version"]).output


def test_quickstart_replaces_no_table_of_others(tmp_path):
    (tmp_path / "edges.csv").write_text("mine")
    error = runner.invoke(app, ["quickstart", "--out", str(tmp_path)]).exception
    assert isinstance(error, FileExistsError)
    assert "holds edges.csv. Choose another" in str(error)
    assert (tmp_path / "edges.csv").read_text() == "mine"
