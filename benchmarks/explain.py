"""Are explanations faithful, and how long do they take?

    python benchmarks/explain.py --data-dir DATA            # about an hour on one core
    python benchmarks/explain.py --data-dir DATA --write    # tables into docs/results/benchmarks.md
    python benchmarks/explain.py --data-dir DATA --part fidelity --datasets county-2016 --nodes 10

Fidelity: the three labels with the largest effects on a node are deleted, and the node is predicted
again by the same model; then the three with the largest effects in one direction, as effects of
both signs cancel; beside it, three labeled neighbors that are drawn at random are deleted.
Nodes are unlabeled and have at least five labeled neighbors. Half of the labels are known.

Time: 100 nodes of ogbn-arxiv are explained at once, without edges.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROOT, Section, run_parts, write_between_markers

from labeltrick import AutoModel, GraphBoosting, LabelFeatureRegression, LabelPropagation
from labeltrick.io import datasets

DATASETS = ("pubmed", "amazon-photo", "county-2016")
QUICK: dict[str, Any] = {"progress": False}
MODELS: dict[str, Callable[[], Any]] = {
    "LabelPropagation": lambda: LabelPropagation(0.9, norm="row"),
    "LabelFeatureRegression": lambda: LabelFeatureRegression(**QUICK),
    "GraphBoosting": lambda: GraphBoosting(n_rounds=200, **QUICK),
    "AutoModel": lambda: AutoModel(budget=120, exclude=["graph network"], **QUICK),
}
SHARE = 0.5
N_DELETED, LEAST_NEIGHBORS = 3, 5


def missing(y: np.ndarray) -> Any:
    return np.nan if y.dtype.kind == "f" else -1


def some_labels(y: np.ndarray, seed: int) -> np.ndarray:
    """Half of the labels; the others are missing."""
    hidden = np.random.default_rng(seed).random(len(y)) >= SHARE
    return np.where(hidden, missing(y), y)


def is_known(y: np.ndarray) -> np.ndarray:
    return ~np.isnan(y) if y.dtype.kind == "f" else y >= 0


def prediction(model: Any, node: int, output: Any, y: np.ndarray) -> float:
    """The score of a node from given labels."""
    if output is None:
        return float(model.predict(None, y)[node])
    return float(model.predict_proba(None, y)[node, list(model.classes_).index(output)])


def filled(X: Any) -> Any:
    """Features without gaps, which some of the models do not take."""
    if not isinstance(X, np.ndarray):
        return X
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def without(y: np.ndarray, nodes: Any) -> np.ndarray:
    found = y.copy()
    found[list(nodes)] = missing(y)
    return found


def fidelity_of(name: str, method: str, n_nodes: int, data_dir: str | None) -> list[str]:
    """A row of the table: mean movement by explained and by random labels."""
    moved = np.array(movements(name, method, n_nodes, data_dir))
    largest, one_way, random = moved.mean(axis=0)
    cells = [f"{value:.4f}" for value in (largest, one_way, random)]
    cells += [f"{value / random:.1f}×" if random else "–" for value in (largest, one_way)]
    for k in (0, 1):
        differ = moved[moved[:, k] != moved[:, 2]]
        share = np.mean(differ[:, k] > differ[:, 2]) if len(differ) else float("nan")
        cells.append(f"{100 * share:.0f}")
    return [name, method, str(len(moved)), *cells]


def one_direction(labels: list[Any]) -> list[Any]:
    """The labels with the largest effects of one sign, that with the larger sum."""
    signs = [[each for each in labels if each.effect * sign > 0][:N_DELETED] for sign in (1, -1)]
    return max(signs, key=lambda some: sum(abs(each.effect) for each in some))


def movements(name: str, method: str, n_nodes: int, data_dir: str | None) -> list[list[float]]:
    """How far each node moves without three labels: the largest, of one sign, random."""
    data = datasets.load(name, data_dir)
    y, graph = some_labels(data.y, 0), data.graph.with_names(None)
    model = MODELS[method]().fit(filled(data.X), y, graph=graph)
    known, rng = is_known(y), np.random.default_rng(1)
    n_near = np.array([known[graph.neighbors(k)].sum() for k in range(graph.n_nodes)])
    nodes = rng.permutation(np.flatnonzero(~known & (n_near >= LEAST_NEIGHBORS)))[:n_nodes]
    explained = model.explain(nodes, top=4 * N_DELETED, edges=False)
    moved = []
    for item in explained:
        near = graph.neighbors(item.node)
        drawn = rng.choice(near[known[near]], N_DELETED, replace=False)
        labels = [each for each in item.contributions if each.kind == "label"]
        told = [[each.source for each in some]
                for some in (labels[:N_DELETED], one_direction(labels))]  # fmt: skip
        before = prediction(model, item.node, item.output, y)
        after = [prediction(model, item.node, item.output, without(y, some))
                 for some in (*told, drawn)]  # fmt: skip
        moved.append([abs(before - value) for value in after])
    return moved


def fidelity(names: list[str], methods: list[str], n_nodes: int, data_dir: str | None) -> Section:
    rows = []
    for name in names:
        for method in methods:
            rows.append(fidelity_of(name, method, n_nodes, data_dir))
            print(*rows[-1], flush=True)
    header = ["data", "model", "nodes", "largest", "of one sign", "random"]
    header += ["largest / random", "of one sign / random"]
    header += ["largest move more, % of nodes", "of one sign move more, % of nodes"]
    note = (
        "Mean movement of the probability of the predicted class, or of the number (county), when "
        "three labels are deleted: the largest effects, the largest of one sign (those of both "
        "signs cancel), or random neighbors. The last columns leave out nodes where both move "
        "alike. Half of the labels are known; nodes are unlabeled and have at least "
        f"{LEAST_NEIGHBORS} labeled neighbors."
    )
    return "Deleting explained labels", header, rows, note


def seconds_of(model: Any, data: Any, known: np.ndarray, n_nodes: int) -> list[str]:
    """A row of the table of times."""
    begin = time.perf_counter()
    model.fit(data.X, known, graph=data.graph.with_names(None))
    fitted = time.perf_counter()
    model.calibration_  # noqa: B018  # every prediction of probabilities needs it
    nodes = np.random.default_rng(0).choice(len(known), n_nodes, replace=False)
    ready = time.perf_counter()
    model.explain(nodes, edges=False)
    seconds = time.perf_counter() - ready
    chosen = getattr(model, "chosen_", "")
    name = f"{type(model).__name__} ({chosen})" if chosen else type(model).__name__
    return [name, f"{fitted - begin:.0f}", f"{n_nodes}", f"{seconds:.1f}"]


def times(budget: float, n_nodes: int, data_dir: str | None) -> Section:
    data = datasets.load("ogbn-arxiv", data_dir)
    known = np.full(len(data.y), -1)
    known[data.split.train] = data.y[data.split.train]
    models = [
        LabelPropagation(0.6, self_loops=True),
        AutoModel(budget=budget, exclude=["graph network", "deep graph network"], **QUICK),
    ]
    rows = [seconds_of(model, data, known, n_nodes) for model in models]
    header = ["model", "fit, s", "explanations", "explain, s"]
    note = f"{data.graph.n_nodes:,} nodes, {data.graph.n_edges:,} edges, edges are not removed."
    return "Time of explanations on ogbn-arxiv", header, rows, note


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir")
    parser.add_argument("--part", choices=["fidelity", "times"])
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--methods", nargs="*", default=list(MODELS), choices=MODELS)
    parser.add_argument("--nodes", type=int, default=50, help="nodes whose labels are deleted")
    parser.add_argument("--timed", type=int, default=100, help="nodes whose explanation is timed")
    parser.add_argument("--budget", type=float, default=600, help="seconds of AutoModel's fit")
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    given = parser.parse_args()
    parts: dict[str, Callable[[], Section]] = {
        "fidelity": partial(fidelity, given.datasets, given.methods, given.nodes, given.data_dir),
        "times": partial(times, given.budget, given.timed, given.data_dir),
    }
    sections, footer = run_parts(parts, given.part, ["numpy", "lightgbm", "numba"])
    if given.write:
        path: Path = ROOT / "docs" / "results" / "benchmarks.md"
        write_between_markers(path, "explain", "\n".join([*sections, footer]))


if __name__ == "__main__":
    main()
