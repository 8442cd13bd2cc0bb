"""Ways to keep a node's own label out of its label inputs: accuracy, time and memory.

    python benchmarks/self_exclusion.py           # ogbn-arxiv, a few minutes
    python benchmarks/self_exclusion.py --write   # also update docs/results/benchmarks.md

Partitions are the scheme of Echoless label propagation (AAAI 2026) in its plain form: the nodes of
a part see the labels of the other parts (`fold_view`). An explicit matrix without its diagonal is
what that paper compares with; its size is estimated from a sample of columns. ogbn-arxiv is read
from LABELTRICK_DATA or --data-dir.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import (
    ROOT,
    Section,
    peak_memory_gib,
    run_in_fresh_process,
    run_parts,
    write_between_markers,
)

from labeltrick import Hops, fold_view, label_matrix, self_excluded
from labeltrick.io import datasets

N_STEPS, N_SAMPLED = 3, 256
METHODS = {
    "own label included": None,
    "2 partitions": 2,
    "5 partitions": 5,
    "10 partitions": 10,
    "50 partitions": 50,
    "self-excluded, exact": 0,
}


def load(data_dir: str | None) -> Any:
    return datasets.load("ogbn-arxiv", data_dir=data_dir)


def views_of(method: str, P: Hops, Y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Label inputs of all nodes, one block of classes per hop from the first on."""
    parts = METHODS[method]
    if parts is None:
        masked = np.zeros_like(Y)
        masked[train] = Y[train]
        found = P.apply(masked, progress=False)
    elif parts == 0:
        found = self_excluded(P, Y, train, progress=False)
    else:
        found = fold_view(P, Y, train, parts, 0, progress=False)
    return found[:, Y.shape[1] :]  # the zeroth hop is a node's own label


def worker(method: str, data_dir: str | None) -> None:
    """One method in a process of its own; prints its figures as JSON."""
    from sklearn.linear_model import RidgeClassifier

    data = load(data_dir)
    P = Hops(data.graph, N_STEPS, norm="row", self_loops=True)
    Y = label_matrix(data.y).astype(np.float32)
    train, validation, test = data.split.train, data.split.val, data.split.test
    P.apply(np.zeros((data.graph.n_nodes, 1), np.float32), progress=False)  # compiles
    before, begin = peak_memory_gib(), time.perf_counter()
    X = views_of(method, P, Y, train)
    seconds, memory = time.perf_counter() - begin, peak_memory_gib()
    model = RidgeClassifier(alpha=1e-2).fit(X[train], data.y[train])
    scores = [
        float((model.predict(X[at]) == data.y[at]).mean()) for at in (train, validation, test)
    ]
    found = {"seconds": seconds, "memory": memory, "before": before, "scores": scores}
    print(json.dumps(found))


def explicit_gib(data_dir: str | None) -> float:
    """Estimated size of S, S², S³ as CSR matrices: 12 bytes for each node that a node reaches."""
    graph = load(data_dir).graph
    nodes = np.random.default_rng(0).choice(graph.n_nodes, N_SAMPLED, replace=False)
    unit = np.zeros((graph.n_nodes, N_SAMPLED), np.float32)
    unit[nodes, np.arange(N_SAMPLED)] = 1
    hops = Hops(graph, N_STEPS, norm="row", self_loops=True).apply(unit, progress=False)
    reached = np.count_nonzero(hops[:, N_SAMPLED:]) / N_SAMPLED
    return 12 * reached * graph.n_nodes / 2**30


def compare(data_dir: str | None) -> Section:
    rows = []
    for method in METHODS:
        arguments = ["--worker", method] + (["--data-dir", data_dir] if data_dir else [])
        printed = run_in_fresh_process(Path(__file__), *arguments)
        found = json.loads(printed.splitlines()[-1])
        scores = [f"{100 * score:.2f}" for score in found["scores"]]
        rows.append([method, *scores, f"{found['seconds']:.1f} s", f"{found['memory']:.2f} GiB"])
    rows.append(
        ["explicit matrices (size only)", "", "", "", "", f"{explicit_gib(data_dir):.0f} GiB"]
    )
    note = (
        f"ogbn-arxiv, labels of {N_STEPS} hops as inputs of a ridge classifier, accuracy in "
        "percent. The time is that of the label inputs; the memory is the peak of the process, "
        "data included. In training nodes, inputs with the own label are not those of test nodes: "
        "a high training score with a low test score is the leak."
    )
    header = ["label inputs", "training", "validation", "test", "time", "memory"]
    return "Self-exclusion and partitions", header, rows, note


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", help="folder with ogbn-arxiv/; default LABELTRICK_DATA")
    parser.add_argument("--write", action="store_true", help="update the table in the docs")
    parser.add_argument("--worker", choices=METHODS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.data_dir)
        return
    parts = {"compare": lambda: compare(options.data_dir)}
    sections, footer = run_parts(parts, None, ["numpy", "scikit-learn"])
    if options.write:
        text = "\n".join([*sections, footer])
        write_between_markers(ROOT / "docs" / "results" / "benchmarks.md", "self-exclusion", text)


if __name__ == "__main__":
    main()
