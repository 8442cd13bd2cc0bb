"""After `labeltrick doctor --warm`, commands compile nothing."""

import os
import subprocess
import sys

import pytest

from tests.support.people import fit_arguments, write_files


@pytest.mark.slow
def test_commands_after_warming_compile_nothing(tmp_path):
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
    done = run(*fit_arguments(tmp_path))
    assert "compiling" not in done.stderr
    assert variants() == before
    for weight in ("", ",weight"):  # ids that are node numbers already
        rows = [f"{k},{(k + 1) % 50}{weight and ',2.5'}" for k in range(50)]
        (tmp_path / "ring.csv").write_text("\n".join([f"source,target{weight}", *rows]) + "\n")
        run("inspect", "--edges", tmp_path / "ring.csv")
        run("graph", "build", tmp_path / "ring.csv", tmp_path / f"ring{weight}.lt")
    run("quickstart", "--out", tmp_path / "quickstart")
    assert variants() == before
