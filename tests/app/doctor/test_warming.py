"""After `labeltrick doctor --warm`, a fit compiles nothing."""

import os
import subprocess
import sys

import pytest

from tests.support.people import fit_arguments, write_files


@pytest.mark.slow
def test_a_fit_after_warming_compiles_nothing(tmp_path):
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "LABELTRICK_QUIET": ""}

    def run(*arguments):
        command = [sys.executable, "-m", "labeltrick", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    def variants():
        return {path.name for path in cache.rglob("*.nbc")}

    assert "Kernels are compiled" in run("doctor", "--warm").stdout
    before = variants()
    assert len(before) > 50
    write_files(tmp_path)
    done = run("fit", *fit_arguments(tmp_path), "--out", tmp_path / "run")
    assert "compiling" not in done.stderr
    assert variants() == before
