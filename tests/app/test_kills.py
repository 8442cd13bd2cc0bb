"""A command that is killed with SIGKILL, at any moment, does no harm: run again it comes to the
same result, and nothing else is left on the disk."""

import os
import shutil

import numpy as np
import polars as pl
import pytest

from labeltrick import open_graph
from tests.support.kills import (
    contents,
    differences,
    finish,
    is_inside_fit,
    kill_after,
    start,
    tree,
    watch_build,
    watch_fit,
)
from tests.support.people import fit_arguments, write_files

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="no SIGKILL and no locks of this kind on this system"
)


def _fit_once_killed(folder, options, scratch, seconds, anywhere):
    """Fit, kill, resume; whether the kill fell inside the fit."""
    run = folder / "run"
    begun = None if anywhere else (run / ".unfinished" / "parts").exists
    process = start(*fit_arguments(folder, "run", *options), scratch=scratch)
    kill_after(process, seconds, begun, None if anywhere else run / "model")
    inside = is_inside_fit(run)
    if (run / ".unfinished").exists():
        finish("fit", "--out", run, "--resume", "--quiet", scratch=scratch)
    elif not (run / "metrics.json").exists():  # before anything was kept
        finish(*fit_arguments(folder, "run", *options), scratch=scratch)
    else:
        finish("evaluate", run, scratch=scratch)
    return inside


@pytest.mark.parametrize(
    ("n_inside", "n_anywhere", "budget"),
    [(2, 0, "0.5s"), pytest.param(24, 6, "2s", marks=pytest.mark.slow)],
)
def test_a_fit_killed_at_random_moments_resumes_to_the_same_result(
    tmp_path, n_inside, n_anywhere, budget
):
    options = ("--budget", budget, "--set", "n_folds=2", "--quiet")
    folder, scratch = write_files(tmp_path / "files", n=80, split=False), tmp_path / "scratch"
    process = start(*fit_arguments(folder, "whole", *options), scratch=scratch)
    learning = watch_fit(process, folder / "whole")
    expected = sorted([*tree(folder), *(f"run{n[5:]}" for n in tree(folder) if n[:5] == "whole")])
    rng = np.random.default_rng()
    n_moments = n_hit = 0
    while n_moments < n_anywhere or (n_hit < n_inside and n_moments < 4 * n_inside):
        anywhere = n_moments < n_anywhere
        seconds = rng.random() * (learning + 10 * anywhere)
        hit = _fit_once_killed(folder, options, scratch, seconds, anywhere)
        print(f"killed after {seconds:.2f} s, inside the fit: {hit}", flush=True)
        n_moments += 1
        n_hit += hit
        if not (hit or anywhere):  # the machine has become faster than it was
            learning *= 0.7
        assert differences(folder / "run", folder / "whole") == []
        assert tree(folder) == expected
        assert not [name for name in tree(scratch) if "labeltrick" in name]
        shutil.rmtree(folder / "run")
    print(f"{n_moments} moments, {n_hit} inside the fit, 0 differences, 0 leftovers")
    assert n_hit >= n_inside


@pytest.mark.parametrize(
    ("n_moments", "directed", "overwrite"),
    [
        (2, False, True),
        pytest.param(20, True, True, marks=pytest.mark.slow),
        pytest.param(20, True, False, marks=pytest.mark.slow),
    ],
)
def test_a_build_killed_at_random_moments_leaves_nothing(tmp_path, n_moments, directed, overwrite):
    rng, scratch = np.random.default_rng(), tmp_path / "scratch"
    ids = rng.integers(0, 10**9, 3000)[rng.integers(0, 3000, (2, 300_000))]
    folder = tmp_path / "graphs"
    folder.mkdir()
    pl.DataFrame({"src": ids[0], "dst": ids[1]}).write_csv(folder / "edges.csv")
    pl.DataFrame({"src": [1, 2], "dst": [2, 3]}).write_csv(folder / "old.csv")
    how = ["--max-memory", "4MB", "--quiet", *(["--directed"] if directed else [])]
    build = ["graph", "build", folder / "edges.csv", folder / "g.lt", *how]

    def begun():
        return any(folder.glob(".labeltrick-tmp-*"))

    building = watch_build(start(*build, scratch=scratch), begun)
    whole, expected = contents(folder / "g.lt"), tree(folder)
    n_hit = n_done = 0
    while n_done < n_moments or (n_hit < n_moments // 2 and n_done < 4 * n_moments):
        seconds = rng.random() * building
        shutil.rmtree(folder / "g.lt")
        if overwrite:
            finish("graph", "build", folder / "old.csv", folder / "g.lt", scratch=scratch)
        again = [*build, *(["--overwrite"] if overwrite else [])]
        kill_after(start(*again, scratch=scratch), seconds, begun)
        left = set(tree(folder)) - set(expected)
        n_done += 1
        n_hit += bool(left)
        if not left:  # the machine has become faster than it was
            building *= 0.7
        if overwrite:
            assert open_graph(folder / "g.lt", verify=True).n_nodes in (3, 3000)
        if overwrite or not (folder / "g.lt").exists():
            finish(*again, scratch=scratch)
        assert contents(folder / "g.lt") == whole
        assert tree(folder) == expected
        assert tree(scratch) == []
    print(f"{n_done} moments, {n_hit} inside the build, 0 differences, 0 leftovers")
    assert n_hit >= n_moments // 2
