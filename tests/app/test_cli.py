import subprocess
import sys

import pytest
from typer.testing import CliRunner

import labeltrick
from labeltrick.app.cli import app

runner = CliRunner()


def labeltrick_command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "labeltrick", *arguments], capture_output=True, text=True
    )


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
