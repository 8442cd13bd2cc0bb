"""Shared by the table experiments: one fit and its scores, stored results, and tables."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import commit, markdown, write_between_markers
from experiments.rows import has_own_features, read_results
from labeltrick.app.runs.settings import tomllib
from labeltrick.evaluation import metrics
from labeltrick.evaluation.splits import split_nodes
from labeltrick.io import datasets

ROOT = Path(__file__).resolve().parent.parent

__all__ = [
    "OFFICIAL",
    "ROOT",
    "Outcome",
    "append",
    "arguments",
    "chosen",
    "commit",
    "done",
    "fit_and_score",
    "load",
    "markdown",
    "node_split",
    "settings",
    "stored",
    "table",
    "write_between_markers",
    "write_line",
]

SETTINGS = Path(__file__).resolve().parent / "settings"
OFFICIAL = ("ogbn-arxiv", "ogbn-products")  # the others have random 6:2:2 splits


@dataclass(frozen=True)
class Outcome:
    """One fit: accuracies and expected calibration error in percent."""

    dataset: str
    method: str
    seed: int
    val: float
    test: float
    ece: float
    seconds: float
    split_rate: float | None
    features: str = ""  # "own" of the dataset, or "guesses" used instead
    commit: str = ""  # commit of the code
    chosen: dict[str, Any] | None = None  # settings chosen on the validation nodes

    def __str__(self) -> str:
        return (
            f"{self.dataset:14} {self.method:26} seed {self.seed}: val {self.val:.2f} "
            f"test {self.test:.2f} ECE {self.ece:.1f} in {self.seconds:.1f} s"
        )


def settings(experiment: str) -> dict[str, dict[str, Any]]:
    """Hyperparameters of an experiment, {section: {name: value}}. Each must have a source in its
    file."""
    found = tomllib.loads((SETTINGS / f"{experiment}.toml").read_text(encoding="utf-8"))
    for section, entries in found.items():
        for name, entry in entries.items():
            if section != "underspecified" and not entry.get("source"):
                raise ValueError(f"{experiment}.toml must give the source of {section}.{name}.")
    return {
        section: {name: entry["value"] for name, entry in entries.items()}
        for section, entries in found.items()
        if section != "underspecified"
    }


def load(name: str, data_dir: str | None) -> Any:
    """The dataset, or None with a printed line if it is absent."""
    try:
        return datasets.load(name, data_dir)
    except (ValueError, FileNotFoundError) as error:
        print(f"{name}: data absent ({str(error).splitlines()[0]})", flush=True)
        return None


def node_split(data: Any, seed: int) -> Any:
    return data.split if data.name in OFFICIAL else split_nodes(data.y, random_state=seed)


def fit_and_score(
    model: Any, data: Any, X: Any, method: str, seed: int, *, takes_validation: bool = True
) -> Outcome:
    """Fit on the split of a seed. Test labels are used only for the score."""
    split, truth = node_split(data, seed), np.asarray(data.y)
    y = np.full(len(truth), -1)
    y[split.train] = truth[split.train]
    options = {}
    if takes_validation:
        y[split.val] = truth[split.val]
        options["validation"] = split.val
    begin = time.perf_counter()
    model.fit(X, y, graph=data.graph, **options)
    seconds = time.perf_counter() - begin
    proba = model.predict_proba()
    hit = model.classes_[proba.argmax(axis=1)] == truth
    known = split.test[np.isin(truth[split.test], model.classes_)]
    codes = np.searchsorted(model.classes_, truth[known])
    inner = getattr(model, "best_estimator_", model)
    return Outcome(
        data.name,
        method,
        seed,
        100 * float(hit[split.val].mean()),
        100 * float(hit[split.test].mean()),
        100 * metrics.expected_calibration_error(proba[known], codes),
        seconds,
        getattr(inner, "split_rate_", None),
        features="own" if data.X is not None else "guesses",
    )


def stored(store: Path, kind: type = Outcome) -> list[Any]:
    """Results of earlier runs; the latest of several equal ones counts."""
    return [kind(**row) for row in read_results(store)]


def done(store: Path, data: Any) -> set[tuple[str, int]]:
    """(method, seed) that were run on a dataset, with its own features if these are available."""
    rows = [row for row in read_results(store) if row["dataset"] == data.name]
    return {(row["method"], row["seed"]) for row in rows if data.X is None or has_own_features(row)}


def append(store: Path, outcome: Any) -> None:
    """Save a result at once, so that an interrupted run can resume."""
    outcome = replace(outcome, commit=commit())
    write_line(store, asdict(outcome))
    print(outcome, flush=True)


def write_line(store: Path, row: dict[str, Any]) -> None:
    """Append a line, on a new line if the last one was left unfinished by an interruption."""
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write((json.dumps(row) + "\n").encode())


def table(
    outcomes: Iterable[Outcome], names: Iterable[str], methods: Iterable[str], paper: Any
) -> str:
    """Mean ± standard deviation over seeds; ``paper(dataset, method)`` gives the paper's cell."""
    outcomes, methods = list(outcomes), list(methods)
    rows = []
    for name in names:
        for method in methods:
            some = [o for o in outcomes if o.dataset == name and o.method == method]
            if not some:
                continue
            test = np.array([o.test for o in some])
            rows.append(
                [
                    name,
                    method,
                    paper(name, method),
                    f"{test.mean():.2f} ± {test.std(ddof=1) if len(test) > 1 else 0:.2f}",
                    f"{np.mean([o.val for o in some]):.2f}",
                    f"{np.mean([o.ece for o in some]):.1f}",
                    f"{np.mean([o.seconds for o in some]):.1f}",
                    str(len(some)),
                ]
            )
    header = ["dataset", "method", "paper", "test, %", "validation, %", "ECE, %", "s", "seeds"]
    return markdown(header, rows)


def chosen(methods: Iterable[str], options: Any) -> list[str]:
    """Methods selected by the options."""
    words = options.methods or [""]
    return [
        method
        for method in methods
        if any(word in method for word in words)
        and not any(word in method for word in options.without)
    ]


def arguments(description: str | None, names: Iterable[str], store: str) -> argparse.ArgumentParser:
    """The options shared by all table experiments."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=os.environ.get("LABELTRICK_DATA"))
    parser.add_argument("--datasets", nargs="+", default=list(names))
    parser.add_argument("--methods", nargs="+", help="run methods whose name contains one of these")
    parser.add_argument(
        "--without", nargs="+", default=[], help="omit methods whose name contains one of these"
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--store", type=Path, default=ROOT / "results" / store, help="file of results"
    )
    parser.add_argument(
        "--again", action="store_true", help="run what is stored again; the latest result counts"
    )
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    return parser
