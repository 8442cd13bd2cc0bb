"""The command line: help, exit codes, and one line for every error, foreseen or not."""

import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import labeltrick
from labeltrick.app import cli
from labeltrick.app.cli import app
from labeltrick.models.auto.budget import Budget, running
from tests.support.commands import run_command
from tests.support.people import fit_arguments, write_files

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
    "doctor",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_the_common_options(command):
    result = runner.invoke(app, [command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert f"  labeltrick {command}" in result.output
    for part in ("Example", "--json", "--quiet"):
        assert part in result.output
    random = command in ("quickstart", "fit", "compare", "sweep")
    assert ("--seed" in result.output) == random  # an option that does nothing would mislead


@pytest.mark.parametrize("group", ["datasets", "graph"])
def test_groups_of_commands_and_what_is_in_them_have_examples(group):
    inner = get_command(app).commands[group].commands
    for path in ([group], *([group, name] for name in inner)):
        output = runner.invoke(app, [*path, "--help"], env={"COLUMNS": "200"}).output
        assert f"  labeltrick {' '.join(path)}" in output, path


def test_help_shows_an_example_and_version():
    assert (
        "labeltrick quickstart --label-share" in runner.invoke(app, ["quickstart", "--help"]).output
    )
    assert labeltrick.__version__ in runner.invoke(app, ["--version"]).output


# -- errors that nobody foresaw, and machines that are too small ---------------------------------
ANY = re.compile(r"Traceback \(most recent")


BREAK = """
import labeltrick.app.runs.inspecting as module
class Panic(BaseException): pass
def fail(*_, **__): raise {error}
module.inspect_files = module.read_problem = module.FitSettings = fail
import labeltrick.app.runs.settings as settings
settings.FitSettings = fail
"""


@pytest.mark.parametrize(
    "error",
    [
        "KeyError('gone')",
        "ZeroDivisionError()",
        "RecursionError('deep')",
        "RuntimeError('two\\nlines')",
        "Panic('in Rust')",
    ],
)
def test_an_unforeseen_error_is_one_line_with_a_trace_in_a_file(tmp_path, error):
    files = ("inspect", "--edges", "edges.csv")
    done = run_command(*files, code=BREAK.format(error=error), TMPDIR=str(tmp_path))
    assert done.returncode == 3, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("labeltrick: unexpected error, a bug in labeltrick: ")
    place = Path(re.search(r"The traceback is in '([^']+)'", line)[1])
    assert place.parent == tmp_path
    assert ANY.search(place.read_text())


def test_a_trace_that_cannot_be_written_is_still_one_line(tmp_path):
    code = (
        BREAK.format(error="KeyError('gone')") + "\nimport tempfile; tempfile.tempdir = '/nowhere'"
    )
    done = run_command("inspect", "--edges", "edges.csv", code=code)
    assert done.returncode == 3
    assert "could not be written" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "error",
    [
        "MemoryError()",
        "RuntimeError('[enforce fail] DefaultCPUAllocator: can\\'t allocate memory')",
    ],
)
def test_used_up_memory_is_one_line(error):
    done = run_command("inspect", "--edges", "edges.csv", code=BREAK.format(error=error))
    assert done.returncode == 1
    assert done.stderr.startswith("labeltrick: out of memory.")
    assert len(done.stderr.splitlines()) == 1


def test_little_address_space_is_refused_before_libraries_abort(tmp_path):
    write_files(tmp_path, n=60, split=False)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))

    command = [sys.executable, "-m", "labeltrick", *map(str, fit_arguments(tmp_path, "run"))]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 1
    assert "at least 2 GiB of address space; the limit is 1.4 GiB" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_kernels_run_where_their_cache_has_no_room(tmp_path):
    """No file may grow beyond zero bytes: as on a full disk, every write fails."""
    code = """
import resource
import signal
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from labeltrick import Graph
print(Graph.from_edges([0, 1], [1, 2]).n_edges)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "LABELTRICK_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr[-400:]
    assert done.stdout.strip() == "2"


def test_help_says_nothing_of_traces():
    done = labeltrick_command("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "trace" not in done.stdout.lower()


def test_the_first_interruption_asks_the_running_fit_to_finish(capsys):
    budget = Budget(60)
    with running(budget):
        cli._interrupt(signal.SIGINT, None)
        assert budget.hurried
        assert "press Ctrl-C again to stop" in capsys.readouterr().err
        with pytest.raises(cli._Interrupted):
            cli._interrupt(signal.SIGINT, None)
    with pytest.raises(cli._Interrupted):
        cli._interrupt(signal.SIGTERM, None)
