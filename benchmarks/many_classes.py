"""Trees of AutoModel in a share of their time, as when the budget is short, against all rounds.

    python benchmarks/many_classes.py --data-dir DATA
    python benchmarks/many_classes.py --data-dir DATA --datasets coauthor-cs --share 0.25 --seeds 1

A round grows one tree for each class, so that trees are the first to be short of time. They then
take fewer and larger steps, each on a part of the rows. Both forms are fitted on the same splits.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from auto_scale_problem import arxiv
from measure import describe_machine, show

from labeltrick import AutoModel
from labeltrick.evaluation.splits import split_nodes
from labeltrick.io import datasets
from labeltrick.models.auto.learners.trees import TreesLearner

DATASETS = ("amazon-photo", "coauthor-cs", "ogbn-arxiv")


def problem_of(name: str, data_dir: str | None, seed: int) -> tuple[Any, Any, np.ndarray, Any]:
    """(graph, X, labels of all nodes, split)."""
    if name == "ogbn-arxiv":  # one official split
        found = arxiv(data_dir)
        return found.graph, found.X, found.y, found
    data = datasets.load(name, data_dir)
    return data.graph, data.X, np.asarray(data.y), split_nodes(data.y, random_state=seed)


def accuracies(name: str, given: argparse.Namespace, seed: int, share: float) -> list[float]:
    """[validation, test, seconds] of a fit."""
    graph, X, y, split = problem_of(name, given.data_dir, seed)
    known = np.array(y)
    known[split.test] = -1
    learner = TreesLearner("trees", options={"share": share} if share < 1 else {})
    options: dict[str, Any] = {"random_state": seed, "exclude": ["features alone"]}
    begin = time.perf_counter()
    model = AutoModel(learners=[learner], progress=False, **options)
    model.fit(X, known, graph=graph, validation=split.val)
    seconds = time.perf_counter() - begin
    right = model.predict() == y
    return [float(right[split.val].mean()), float(right[split.test].mean()), seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", nargs="*", default=DATASETS, choices=DATASETS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.5, help="of the usual time")
    given = parser.parse_args()
    rows = []
    for name in given.datasets:
        for seed in range(1 if name == "ogbn-arxiv" else given.seeds):
            few = accuracies(name, given, seed, given.share)
            every = accuracies(name, given, seed, 1.0)
            cells = [f"{100 * one[k]:.2f}" for k in range(2) for one in (few, every)]
            gain = f"{100 * (few[1] - every[1]):+.2f}"
            rows.append([f"{name} {seed}", *cells, gain, f"{few[2]:.0f} s", f"{every[2]:.0f} s"])
            print(*rows[-1], flush=True)
    header = ["", "val, few", "val, all", "test, few", "test, all", "few − all", "few", "all"]
    show(f"Rounds of trees with many classes. {describe_machine()}", header, rows)


if __name__ == "__main__":
    main()
