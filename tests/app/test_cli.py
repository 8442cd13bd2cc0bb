import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import labeltrick
from labeltrick.app.cli import app
from labeltrick.app.quickstart import compare, make_problem

runner = CliRunner()


def labeltrick_command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "labeltrick", *arguments], capture_output=True, text=True
    )


def test_quickstart_json_is_reproducible_and_above_chance(tmp_path):
    found = json.loads(
        runner.invoke(app, ["quickstart", "--json", "--out", str(tmp_path / "q")]).output
    )
    scores = {s["method"]: s["accuracy"] for s in found["scores"]}
    again = {s.method: s.accuracy for s in compare(make_problem())}
    assert {name: scores[name] for name in again} == again
    assert scores["label propagation"] > scores["logistic regression"] > 0.8
    assert scores["labeltrick fit"] > 0.95
    assert (tmp_path / "q" / "run" / "report.html").samefile(found["report"])


def test_quickstart_scores_hidden_labels_only():
    problem = make_problem(0.1, seed=3)
    assert not set(problem.train) & set(problem.test)
    assert len(problem.train) + len(problem.test) == len(problem.y)
    before = {s.method: s.accuracy for s in compare(problem)}
    spoiled = problem.y.copy()
    spoiled[problem.test] = np.random.default_rng(0).permutation(spoiled[problem.test])
    changed = type(problem)(problem.X, spoiled, problem.graph, problem.train, problem.test)
    after = {s.method: s.accuracy for s in compare(changed)}
    for method in before:
        # the predictions cannot follow labels they never see
        assert after[method] < 0.2 < before[method]


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
