"""The command graph."""

import json

import numpy as np
import polars as pl

from labeltrick import open_graph
from labeltrick.io.tables import build_graph_folder
from labeltrick.propagation.engine.placing import estimated_bytes
from tests.support.commands import run_command
from tests.support.people import invoke


def edges(n=50, m=300, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, m) / 2 if weighted else None
    return rng.integers(0, n, m), rng.integers(0, n, m), weights


def test_the_command_builds_and_reports(tmp_path):
    pl.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}).write_parquet(tmp_path / "e.parquet")
    done = run_command("graph", "build", tmp_path / "e.parquet", tmp_path / "g.lt", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["nodes"], facts["edges"]) == (4, 3)
    assert facts["bytes_in_memory"] == estimated_bytes(open_graph(tmp_path / "g.lt"))
    reported = run_command("graph", "info", tmp_path / "g.lt")
    assert "to propagate in memory" in reported.stdout
    wrong = run_command("graph", "build", tmp_path / "e.parquet", tmp_path / "g.lt")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("labeltrick: ")
    assert len(wrong.stderr.splitlines()) == 1


def test_a_graph_folder_serves_as_edges_of_a_problem(tmp_path):
    rng = np.random.default_rng(0)
    n = 60
    group = np.arange(n) % 3
    source, target = rng.integers(0, n, (2, 900))
    kept = group[source] == group[target]
    names = np.array([f"n{k}" for k in range(n)])
    pl.DataFrame({"src": names[source[kept]], "dst": names[target[kept]]}).write_csv(
        tmp_path / "e.csv"
    )
    label = [None if k % 4 == 0 else f"g{group[k]}" for k in range(n)]
    pl.DataFrame({"id": names, "label": label}).write_csv(tmp_path / "nodes.csv")
    build_graph_folder(tmp_path / "e.csv", tmp_path / "g.lt")
    options = ("--nodes", tmp_path / "nodes.csv", "--target", "label", "--quiet")
    options += ("--model", "label-propagation")
    invoke("fit", "--edges", tmp_path / "e.csv", *options, "--out", tmp_path / "a")
    options += ("--set", "engine=disk", "--set", "max_memory=1MB")
    done = run_command("fit", "--edges", tmp_path / "g.lt", *options, "--out", tmp_path / "b")
    assert done.returncode == 0, done.stderr
    found = [
        pl.read_parquet(tmp_path / out / "predictions.parquet").sort("id") for out in ("a", "b")
    ]
    assert found[0]["id"].to_list() == found[1]["id"].to_list()
    probabilities = [column for column in found[0].columns if found[0][column].dtype.is_float()]
    assert probabilities
    for column in probabilities:
        np.testing.assert_allclose(found[0][column], found[1][column], atol=2e-6)
