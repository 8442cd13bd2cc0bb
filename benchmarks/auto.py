"""AutoModel compared with tuned peers, on the same splits.

    python benchmarks/auto.py --data-dir DATA
    python benchmarks/auto.py --data-dir DATA --datasets pubmed --methods auto GCN --seeds 1

Splits are random, 6:2:2 of all labeled nodes (Minesweeper: the official ones). Results are appended
to ``--store``, and an interrupted run resumes from there. ``--write`` puts the table into
docs/results/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROOT, describe_machine, markdown, versions, write_between_markers

from labeltrick.evaluation.splits import split_nodes
from labeltrick.io import datasets

DATASETS = (
    "pubmed",
    "coauthor-cs",
    "amazon-photo",
    "cora-ml",
    "minesweeper",
    "county-2016",
    "house",
    "chameleon",
)


def make_problem(name: str, data_dir: str | None, seed: int) -> tuple[Any, Any]:
    from auto_peers import Problem

    official = name == "minesweeper"
    data = datasets.load(name, data_dir, split=seed if official else 0)
    split = data.split if official else split_nodes(data.y, random_state=seed)
    parts = (split.train, split.val, split.test)
    return Problem(data.X, data.y, data.graph.to_edge_index(), *parts, data.metric), data


def run_auto(problem: Any, data: Any, seed: int) -> tuple[Any, np.ndarray, str]:
    from labeltrick import AutoModel

    known = problem.y.copy()
    known[problem.test] = np.nan if problem.is_regression else -1
    model = AutoModel(task=data.task, metric=data.metric, random_state=seed, progress=False)
    model.fit(problem.X, known, graph=data.graph, validation=problem.val)
    return model, rows_of(problem, model), model.chosen_


def rows_of(problem: Any, model: Any, *inputs: Any) -> np.ndarray:
    if problem.is_regression:
        return model.predict(*inputs)[:, None]
    return model.predict_proba(*inputs)


def score_alone(problem: Any, model: Any) -> float:
    """The test score of predictions that have the labels of training nodes alone as inputs."""
    known = np.full_like(problem.y, np.nan if problem.is_regression else -1)
    known[problem.train] = problem.y[problem.train]
    return problem.score(rows_of(problem, model, problem.X, known), problem.test)


def run_one(name: str, method: str, seed: int, data_dir: str | None) -> dict[str, Any]:
    from auto_peers import PEERS

    problem, data = make_problem(name, data_dir, seed)
    begin, model = time.perf_counter(), None
    if method == "auto":
        model, rows, setting = run_auto(problem, data, seed)
    else:
        found = PEERS[method](problem, seed)
        rows, setting = found.rows, found.setting
    seconds = time.perf_counter() - begin
    alone = {} if model is None else {"test_alone": score_alone(problem, model)}
    return {
        "dataset": name,
        "method": method,
        "seed": seed,
        "val": problem.score(rows, problem.val),
        "test": problem.score(rows, problem.test),
        "seconds": seconds,
        "setting": setting,
        **alone,
    }


METHODS = ("auto", "GCN", "GraphSAGE", "C&S on an MLP", "LightGBM", "label propagation")
ALONE = "auto, training labels alone"  # validation labels are no inputs of its predictions


def stored(path: Path) -> Results:
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(line["dataset"], line["method"], line["seed"]): line for line in lines}


def with_alone(results: Results) -> Results:
    """Beside the results of auto those by training labels alone."""
    return results | {
        (name, ALONE, seed): {**found, "test": found["test_alone"]}
        for (name, _, seed), found in results.items()
        if "test_alone" in found
    }


Results = dict[tuple[str, str, int], dict[str, Any]]


def table(results: Results) -> str:
    """Mean test scores over the splits, the best in bold, and the seconds of the first split."""
    rows, every, results = [], (METHODS[0], ALONE, *METHODS[1:]), with_alone(results)
    for name in DATASETS:
        ran = [{k[2] for k in results if k[:2] == (name, method)} for method in every]
        # Of the splits that all methods have been run on, or means would not compare.
        shared = set.intersection(*[seeds for seeds in ran if seeds] or [set()])
        methods = [method for method, seeds in zip(every, ran, strict=True) if seeds]
        scores = {m: np.array([results[name, m, s]["test"] for s in shared]) for m in methods}
        if not shared:
            continue
        top = max(some.mean() for some in scores.values())
        cells = []
        for method in every:
            if method not in scores:
                cells.append("–")
                continue
            mean, spread = scores[method].mean(), scores[method].std()
            factor, digits = (1, 4) if mean < 0 else (100, 2)
            text = f"{abs(mean) * factor:.{digits}f} ± {spread * factor:.{digits}f}"
            text = f"**{text}**" if mean == top else text
            cells.append(f"{text} ({_seconds(results, name, method):.0f} s)")
        plural = "s" if len(shared) > 1 else ""
        rows.append([f"{name} ({len(shared)} split{plural})", *cells, _time_ratio(results, name)])
    return markdown(["", *every, "time of auto / both GNNs"], rows)


def _seconds(results: Results, name: str, method: str) -> float:
    first = min(key[2] for key in results if key[:2] == (name, method))
    return results[name, method, first]["seconds"]


def _time_ratio(results: Results, name: str) -> str:
    wanted = [(name, method, 0) for method in ("auto", "GCN", "GraphSAGE")]
    if not all(key in results for key in wanted):
        return "–"
    auto, *networks = [results[key]["seconds"] for key in wanted]
    return f"{auto / sum(networks):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", nargs="*", default=DATASETS)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--store", type=Path, default=ROOT / "results" / "auto.jsonl")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    given = parser.parse_args()
    results = stored(given.store)
    for name in given.datasets:
        for seed in range(given.seeds):
            for method in given.methods:
                if (name, method, seed) in results:
                    continue
                found = run_one(name, method, seed, given.data_dir)
                results[name, method, seed] = found
                print(
                    f"{name:14} {method:18} seed {seed}: val {found['val']:.4f} test "
                    f"{found['test']:.4f} in {found['seconds']:.1f} s ({found['setting']})",
                    flush=True,
                )
                given.store.parent.mkdir(parents=True, exist_ok=True)
                with given.store.open("a") as file:
                    file.write(json.dumps(found) + "\n")
    text = table(results)
    print(text)
    if given.write:
        note = (
            "Test accuracy in percent (minesweeper: area under the ROC curve; county, house and "
            "chameleon: root mean squared error, lower is better) as mean ± standard deviation "
            "over random 6:2:2 splits, and the seconds of the first split, including tuning. Each "
            "method is tuned on the validation nodes. Predictions of auto use their labels as "
            "inputs afterwards, those by training labels alone do not. The last column is the time "
            "of auto on the first split, divided by that of tuning both GNNs.\n\n"
            f"Table written on: {describe_machine()}. Versions: "
            f"{versions('torch', 'torch_geometric', 'lightgbm')}."
        )
        write_between_markers(
            ROOT / "docs" / "results" / "benchmarks.md", "auto", f"{text}\n{note}"
        )


if __name__ == "__main__":
    main()
