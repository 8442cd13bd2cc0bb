"""Files as people have them: two communities, a few columns, some labels; commands on them."""

import numpy as np
import polars as pl

# Options of a fit that takes a moment.
QUICK = ("--set", "n_folds=2", "--budget", "2s")


def write_files(folder, *, n=150, seed=0, task="classes", split=True, noise=0.1):
    """edges.csv and nodes.csv; the truth in truth.csv. ``noise``: share of edges between groups
    that are kept."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    group = np.arange(n) % 3
    a, b = rng.integers(0, n, (2, 12 * n))
    near = (group[a] == group[b]) | (rng.random(12 * n) < noise)
    names = np.array([f"person {k}" for k in rng.permutation(n)])
    edges = pl.DataFrame({"from": names[a[near]], "to": names[b[near]]})
    value = group + 0.3 * rng.normal(size=n)
    label = np.array(["red", "green", "blue"])[group] if task == "classes" else value
    part = rng.choice(["train", "val", "test"], n, p=[0.5, 0.2, 0.3])
    truth = pl.DataFrame({"id": names, "label": label})
    nodes = pl.DataFrame(
        {
            "id": names,
            "height": np.where(rng.random(n) < 0.1, np.nan, group + rng.normal(size=n)),
            "town": rng.choice(["Ulm", "Bonn"], n),
            "label": label,
            "split": part,
        }
    ).with_columns(pl.col("height").fill_nan(None))
    if not split:
        hidden = pl.Series(part == "test")
        nodes = nodes.with_columns(
            pl.when(hidden).then(None).otherwise(pl.col("label")).alias("label")
        ).drop("split")
    edges.write_csv(folder / "edges.csv")
    nodes.write_csv(folder / "nodes.csv")
    truth.write_csv(folder / "truth.csv")
    return folder


def texts_and_dates(n, seed=0, first="2024-01-01"):
    """A table with a column of texts, one of dates with gaps, and a number."""
    rng = np.random.default_rng(seed)
    words = [f"{a}{b}{c}" for a in "bdfk" for b in "aeiou" for c in "mnprs"]
    texts = [" ".join(row) for row in rng.choice(words, (n, 6))]
    hours = [None if k % 7 == 0 else k for k in rng.integers(0, 20_000, n).tolist()]
    return pl.DataFrame({"text": texts, "hours": hours, "number": rng.normal(size=n)}).select(
        "text",
        (pl.lit(first).str.to_datetime() + pl.duration(hours="hours")).alias("when"),
        "number",
    )


def other_notes(problem):
    """The notes of a problem, without those that say how columns are used."""
    return [note for note in problem.notes if not note.startswith(("edges: ", "nodes: "))]


def fit_arguments(folder, out="run", *more):
    return [
        "fit", "--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--target",
        "label", "--out", folder / out, *more,
    ]  # fmt: skip


def invoke(*arguments):
    """In this process: much faster than a new one, and warnings and errors are the same."""
    from labeltrick.app.cli import app

    return invoke_app(app, *arguments)


def invoke_app(app, *arguments):
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, [str(part) for part in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    # With --json, lines about progress go to standard error if a command takes long.
    return result.stdout if "--json" in arguments else result.output
