"""Small worlds in which groups decide the labels, and commands that are run on their files."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from tests.support.commands import run_command
from tests.support.people import invoke

BOOSTING = ("--model", "boosting", "--set", "n_rounds=20")
PROPAGATION = ("--model", "label-propagation")


@dataclass(frozen=True)
class World:
    """Nodes in groups: most edges stay within a group, and ``hint`` tells a little about it."""

    group: np.ndarray
    source: np.ndarray
    target: np.ndarray
    hint: np.ndarray
    hidden: np.ndarray  # nodes whose label is not known
    rng: np.random.Generator

    def classes(self, *names):
        """The label of every node, and the labels that are known."""
        truth = np.array(names, dtype=object)[self.group]
        return truth, self.known(truth)

    def known(self, values):
        """A list of the values, with None where the label is not known."""
        pairs = zip(np.asarray(values).tolist(), self.hidden, strict=True)
        return [None if hidden else value for value, hidden in pairs]


def make_world(n, *, n_groups=2, seed=0, per_node=4, mixing=0.3):
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n) % n_groups)
    source = np.repeat(np.arange(n), per_node)
    near = np.array([rng.choice(np.flatnonzero(group == group[node])) for node in source])
    target = np.where(rng.random(len(source)) < mixing, rng.integers(0, n, len(source)), near)
    kept = source != target
    hidden = rng.random(n) < 0.4
    hint = group + rng.normal(size=n)
    return World(group, source[kept], target[kept], hint, hidden, rng)


@dataclass(frozen=True)
class Command:
    """A command that has ended: its exit code, its output, all that it said, its run folder."""

    code: int
    stdout: str
    said: str
    run: Path

    @cached_property
    def predictions(self):
        return pl.read_parquet(self.run / "predictions.parquet")

    @cached_property
    def metrics(self):
        return json.loads((self.run / "metrics.json").read_text())


def labeltrick(folder, *arguments, out="run"):
    """Run a command in a new process, in the folder of the files."""
    done = run_command(*arguments, cwd=folder, COLUMNS="200")
    said = " ".join((done.stdout + done.stderr).split())
    print(said)  # shown where a test fails
    return Command(done.returncode, done.stdout, said, folder / out)


def fit_files(folder, *arguments, out="run"):
    """Run `fit` in a new process; it must succeed."""
    done = labeltrick(folder, "fit", *arguments, "--out", out, out=out)
    assert done.code == 0, done.said
    return done


def fit_here(folder, nodes, edges, *options, out):
    """Fit in this process, which is faster; return the predictions."""
    said = invoke(
        "fit", "--nodes", folder / nodes, "--edges", folder / edges, *options, "--out", folder / out
    )
    assert (folder / out / "predictions.parquet").is_file(), said
    return pl.read_parquet(folder / out / "predictions.parquet")


def inspect_here(folder, nodes, edges, *options):
    """Inspect in this process; return what is said."""
    return " ".join(
        invoke("inspect", "--nodes", folder / nodes, "--edges", folder / edges, *options).split()
    )


def fit_plain(folder, nodes, edges, *options):
    """Fit the same data as plain tables (id, …, answer; source, target); return the predictions."""
    pl.DataFrame(nodes).write_csv(folder / "plain_nodes.csv")
    pl.DataFrame(edges).write_csv(folder / "plain_edges.csv")
    names = ("plain_nodes.csv", "plain_edges.csv")
    return fit_here(folder, *names, "--target", "answer", *options, out="plain")


def by_id(predictions):
    """The table with ids as strings in their order, under the name id."""
    name = predictions.columns[0]
    return predictions.rename({name: "id"}).with_columns(pl.col("id").cast(pl.String)).sort("id")


def assert_same(found, expected):
    """Equal predictions for each id; numbers equal up to rounding."""
    found, expected = by_id(found), by_id(expected)
    assert found.columns == expected.columns
    for name in found.columns:
        if found[name].dtype.is_float():
            np.testing.assert_allclose(found[name], expected[name], atol=1e-6, err_msg=name)
        else:
            assert found[name].to_list() == expected[name].to_list(), name


def answers(predictions, ids):
    """The predictions of the nodes with these ids."""
    found = by_id(predictions)
    table = dict(zip(found["id"], found["prediction"], strict=True))
    return np.array([table[str(node)] for node in ids], dtype=object)


def accuracy(predictions, ids, truth):
    return float(np.mean(answers(predictions, ids) == np.asarray(truth, dtype=object)))
