"""AutoModel without a setting against the best published figures, on their splits.

    python benchmarks/published.py --data-dir DATA
    python benchmarks/published.py --data-dir DATA --rows minesweeper --splits 2

Each split is one fit: the training labels are inputs and targets, the validation nodes choose, and
the test labels are only read for the score. Scores are compared by training labels alone, as those
of the published methods are; by default, predictions use validation labels as inputs too, and their
scores stand beside. Results are appended to ``--store``, and an interrupted
run resumes from there. ``--write`` puts the table into docs/results/benchmarks.md. Results of other
commits are kept apart by the column "commit".
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROOT, commit, describe_machine, markdown, versions, write_between_markers
from published_rows import ROWS, Row

from labeltrick.evaluation import metrics

OLD_TABLE = ROOT / "results" / "auto.jsonl"  # peers that were tuned here
PAGE = ROOT / "docs" / "results" / "benchmarks.md"


@dataclass(frozen=True)
class Reference:
    """The figure to beat, where more is better."""

    method: str
    mean: float
    std: float
    source: str


def fit_and_score(row: Row, split_number: int, data_dir: str | None, seed: int) -> dict[str, Any]:
    from labeltrick import AutoModel

    data, X, split = row.problem(split_number, data_dir)
    known = np.array(data.y, copy=True)
    known[split.test] = np.nan if data.task == "regression" else -1
    begin = time.perf_counter()
    model = AutoModel(task=data.task, metric=data.metric, random_state=seed, progress=False)
    model.fit(X, known, graph=data.graph, validation=split.val)
    seconds = time.perf_counter() - begin
    found = {"row": row.name, "split": split_number, "seconds": seconds}
    alone = known.copy()  # the labels of training nodes alone
    alone[split.val] = known[split.test[0]]
    rows, more = rows_of(model, data.task, X, alone), rows_of(model, data.task)
    if data.task == "regression":
        truth = np.asarray(data.y, float)[:, None]
        found |= {"ece": None}
    else:
        truth = (np.asarray(data.y)[:, None] == model.classes_).astype(float)
        codes = np.searchsorted(model.classes_, np.asarray(data.y)[split.test])
        found |= {"ece": metrics.expected_calibration_error(rows[split.test], codes)}
    labeled = model.labeled_
    for name, at, some in (
        ("val", split.val, rows[split.val]),
        ("test", split.test, rows[split.test]),
        ("test_more", split.test, more[split.test]),
        ("oof", labeled, model.oof_rows_),
    ):
        value = metrics.measure(data.metric, truth[at], some)
        found[name] = -value if data.metric == "rmse" else value
    return found | {"chosen": model.chosen_, "commit": commit()}


def rows_of(model: Any, task: str, *inputs: Any) -> np.ndarray:
    """Probabilities or numbers of all nodes."""
    if task == "regression":
        return model.predict(*inputs)[:, None]
    return model.predict_proba(*inputs)


def best_peer(dataset: str) -> Reference | None:
    """The best peer that was tuned on the same kind of splits in benchmarks/auto.py."""
    lines = [json.loads(line) for line in OLD_TABLE.read_text().splitlines()]
    tests: dict[str, list[float]] = {}
    for line in lines:
        if line["dataset"] == dataset and line["method"] != "auto":
            tests.setdefault(line["method"], []).append(line["test"])
    if not tests:
        return None
    name = max(tests, key=lambda method: float(np.mean(tests[method])))
    scores = np.array(tests[name])
    return Reference(f"{name}, tuned here", scores.mean(), scores.std(), "benchmarks/auto.py")


def reference_of(row: Row) -> Reference | None:
    if row.published is None:
        return best_peer(row.dataset)
    factor = 1 if row.is_error else 0.01
    return Reference(row.method, row.published * factor, row.spread * factor, row.source)


def verdict(scores: np.ndarray, reference: Reference | None) -> str:
    """Ours against the figure, in standard errors of our mean where there are several splits."""
    if reference is None:
        return "no figure"
    gain = scores.mean() - reference.mean
    error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    if abs(gain) <= 2 * error:
        return "equal within two errors"
    return "better" if gain > 0 else "below"


def table(results: list[dict[str, Any]]) -> str:
    lines = []
    for row in ROWS:
        mine = [one for one in results if one["row"] == row.name]
        if not mine:
            continue
        scores = np.array([one["test"] for one in mine])
        more = np.array([one["test_more"] for one in mine])
        reference = reference_of(row)
        ece = [one["ece"] for one in mine if one["ece"] is not None]
        gap = np.mean([one["oof"] - one["test"] for one in mine])
        lines.append(
            [
                f"{row.name} ({len(mine)} of {row.n_splits})",
                row.protocol,
                "–" if reference is None else f"{reference.method}: {_shown(row, reference)}",
                "" if reference is None else reference.source,
                _number(row, scores.mean(), scores.std()),
                _number(row, more.mean(), more.std()),
                _number(row, gap),
                f"{np.mean(ece):.3f}" if ece else "–",
                f"{np.mean([one['seconds'] for one in mine]):.0f}",
                verdict(scores, reference),
            ]
        )
    header = [
        "set",
        "protocol",
        "to beat",
        "source",
        "ours",
        "… with validation labels as inputs",
        "out of fold − test",
        "ECE",
        "seconds",
    ]
    return markdown([*header, "verdict"], lines)


def _shown(row: Row, reference: Reference) -> str:
    return _number(row, reference.mean, reference.std)


def _number(row: Row, mean: float, spread: float | None = None) -> str:
    factor, digits = (1, 3) if row.is_error else (100, 2)
    sign = -1 if row.is_error and spread is not None else 1
    text = f"{sign * mean * factor:.{digits}f}"
    return text if spread is None else f"{text} ± {spread * factor:.{digits}f}"


def stored(path: Path) -> list[dict[str, Any]]:
    """The last result of each row and split."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return list({(line["row"], line["split"]): line for line in lines}.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--rows", nargs="*", default=[row.name for row in ROWS])
    parser.add_argument("--splits", type=int, help="only the first ones of each row")
    parser.add_argument("--again", action="store_true", help="run what is stored, too")
    parser.add_argument("--store", type=Path, default=ROOT / "results" / "published.jsonl")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    given = parser.parse_args()
    done = set() if given.again else {(one["row"], one["split"]) for one in stored(given.store)}
    for row in ROWS:
        wanted = range(min(given.splits or row.n_splits, row.n_splits))
        for number in wanted if row.name in given.rows else ():
            if (row.name, number) in done:
                continue
            found = fit_and_score(row, number, given.data_dir, number)
            print(
                f"{row.name:24} split {number}: val {found['val']:.4f} test {found['test']:.4f} "
                f"in {found['seconds']:.0f} s ({found['chosen']})",
                flush=True,
            )
            given.store.parent.mkdir(parents=True, exist_ok=True)
            with given.store.open("a") as file:
                file.write(json.dumps(found) + "\n")
    text = table(stored(given.store))
    print(text)
    if given.write:
        note = (
            "Accuracy in percent (minesweeper: area under the ROC curve; county, house and "
            "chameleon: root mean squared error, lower is better) as mean ± standard deviation "
            "over splits; in parentheses, how many of the protocol's splits were run. Settings are "
            "the defaults. ECE is the calibration error on the test nodes. The seconds are "
            "the mean of one fit.\n\n"
            f"Table written on: {describe_machine()}. Versions: {versions('torch', 'lightgbm')}."
        )
        write_between_markers(PAGE, "published", f"{text}\n{note}")


if __name__ == "__main__":
    main()
