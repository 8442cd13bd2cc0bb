import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import labeltrick
from labeltrick.cli import app
from labeltrick.quickstart import compare, make_problem

runner = CliRunner()


def labeltrick_command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "labeltrick.cli", *arguments], capture_output=True, text=True
    )


def test_quickstart_prints_a_table():
    result = runner.invoke(app, ["quickstart"])
    assert result.exit_code == 0
    for part in ("logistic regression", "label propagation", "accuracy", "180 labelled"):
        assert part in " ".join(result.output.split())


def test_quickstart_json_is_reproducible_and_above_chance():
    runs = [json.loads(runner.invoke(app, ["quickstart", "--json"]).output) for _ in range(2)]
    scores = [{s["method"]: s["accuracy"] for s in run} for run in runs]
    assert scores[0] == scores[1]
    assert scores[0]["label propagation"] > scores[0]["logistic regression"] > 0.8


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
        poor = labeltrick_command("quickstart", *arguments)
        assert poor.returncode == 2
        assert poor.stderr.startswith("labeltrick: `")
        assert poor.stderr.count("\n") == 1
    assert labeltrick_command("no-such-command").returncode == 2


@pytest.mark.parametrize("arguments", [["--help"], ["quickstart", "--help"]])
def test_help(arguments):
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0
    assert "Usage" in result.output


def test_help_shows_an_example_and_version():
    assert (
        "labeltrick quickstart --label-share" in runner.invoke(app, ["quickstart", "--help"]).output
    )
    assert labeltrick.__version__ in runner.invoke(app, ["--version"]).output
