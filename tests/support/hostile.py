"""Names that try to be more than text, and files that are full of them."""

from types import SimpleNamespace

import numpy as np
import polars as pl

NAMES = [
    "<!--<script>",
    "</script><img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    "&lt;b&gt; <b>bold</b><br>&#60;i&#62;",
    "constructor",
    "{{7*7}} %{x} %{y} %{customdata} ${1}",
    "long " * 100 + "A",
    "long " * 100 + "B",
    "\u202egnp.exe\x1b[31m\u2028\x9b2J",
    "[/bold] [red]x[/red] :smile: [link=https://example.org]y[/link]",
    "=HYPERLINK(\"http://example.org\",\"x\")",
    "'=1+1",
]  # fmt: skip


def write_hostile(folder, *, n=144, seed=0):
    """edges.parquet and nodes.parquet, where ids, columns, categories, classes and the target are
    named like that."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    group = np.arange(n) % len(NAMES)
    a, b = rng.integers(0, n, (2, 12 * n))
    near = (group[a] == group[b]) | (rng.random(12 * n) < 0.05)
    ids = np.array([f"{NAMES[k % len(NAMES)]} {k}" for k in range(n)], dtype=object)
    edges = {"src": ids[a[near]], "dst": ids[b[near]]}
    columns = {f"{name} column": group + rng.normal(size=n) for name in NAMES}
    kinds = {"[/bold] kind": [NAMES[k] for k in (group + rng.integers(0, 2, n)) % len(NAMES)]}
    label = [NAMES[k] if known else None for k, known in zip(group, rng.random(n) < 0.7,
                                                             strict=True)]  # fmt: skip
    nodes = {"id": ids, **columns, **kinds, TARGET: label}
    pl.DataFrame(edges).write_parquet(folder / "edges.parquet")
    pl.DataFrame(nodes).write_parquet(folder / "nodes.parquet")
    return folder


TARGET = "=</script><b>label</b>[/bold]\x1b[2J"


def fit_hostile(folder, *more):
    """Arguments of a fit on these files."""
    return [
        "fit", "--edges", folder / "edges.parquet", "--nodes", folder / "nodes.parquet",
        "--target", TARGET, "--out", folder / "[red]run[", *more,
    ]  # fmt: skip


def found_by_sweep(values):
    points = [
        {"value": value, "score": {"metric": "accuracy", "value": 0.5 + k / 100, "low": 0.4,
                                   "high": 0.7, "n": 9}}
        for k, value in enumerate(values)
    ]  # fmt: skip
    return {"model": NAMES[0], "parameter": NAMES[2], "metric": NAMES[1], "points": points,
            "best": 1, "scored_on": NAMES[3]}  # fmt: skip


def all_figures():
    from labeltrick.app.report import figures

    n = len(NAMES)
    share = np.linspace(0.1, 0.9, n)
    Y = np.eye(n)
    score = SimpleNamespace(metric=NAMES[2], value=0.5, low=0.4, high=0.6)
    return {
        "scores": figures.score_bars(NAMES, [score] * n),
        "confusion": figures.confusion(np.tile(Y, (3, 1)), np.tile(Y[::-1], (3, 1)), NAMES),
        "homophily": figures.homophily(NAMES, share, share / 2),
        "importances": figures.importances([(name, "own", 0.1 + k / 100)
                                            for k, name in enumerate(NAMES)]),
        "curve": figures.curve(NAMES, share.tolist(), NAMES[2], NAMES[1]),
        "numbers": figures.curve([0.1, 0.9], [0.5, 0.7], NAMES[2], NAMES[1]),
    }  # fmt: skip
