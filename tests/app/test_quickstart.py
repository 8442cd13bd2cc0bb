"""The quickstart."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from labeltrick.app.cli import app
from labeltrick.app.quickstart import compare
from labeltrick.io.datasets import make_minesweeper
from tests.support.commands import run_command

runner = CliRunner()


def test_quickstart_shows_that_both_together_beat_either_alone(tmp_path):
    arguments = ["quickstart", "--size", "30", "--json", "--out", str(tmp_path / "q")]
    found = json.loads(run_command(*arguments).stdout)
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


def test_quickstart_replaces_no_table_of_others(tmp_path):
    (tmp_path / "edges.csv").write_text("mine")
    error = runner.invoke(app, ["quickstart", "--out", str(tmp_path)]).exception
    assert isinstance(error, FileExistsError)
    assert "holds edges.csv. Choose another" in str(error)
    assert (tmp_path / "edges.csv").read_text() == "mine"
