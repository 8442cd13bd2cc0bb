"""A run that several tests look at."""

import json

import pytest

from tests.support.commands import run_command
from tests.support.people import QUICK, fit_arguments, write_files


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A finished run, made by the command line in a process of its own."""
    folder = write_files(tmp_path_factory.mktemp("people"))
    command = fit_arguments(folder, "run", "--split-column", "split", *QUICK, "--json")
    result = run_command(*command)
    assert result.returncode == 0, result.stderr
    return folder, json.loads(result.stdout)
