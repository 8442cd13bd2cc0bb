"""Models that are trained on one graph and predict another, with few labels there or none.

    python benchmarks/inductive.py --data-dir DATA            # about ten minutes on one core
    python benchmarks/inductive.py --data-dir DATA --write    # tables into docs/guides/inductive.md

The nodes of a dataset are divided at random into two halves. Each half with the edges inside it is
a graph. Models are fitted to the first graph and 600 of its labels, or all, and predict the second:
once without labels, and once with a tenth of its labels, scored on the other nodes. The features,
graph and labels are the same for all models. Number of labels, budget and folds were settled on
division 0, whose results are therefore not in the tables. Results are appended to ``--store``, and
an interrupted run resumes from there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from measure import ROOT, commit, describe_machine, markdown, versions, write_between_markers
from sklearn.decomposition import TruncatedSVD

from labeltrick import GNN, SIGN, AutoModel, Graph, Hops
from labeltrick.io import datasets

# Number of labels of the first graph; None: all of them.
DATASETS = {"cora-ml": 600, "pubmed": 600, "amazon-photo": 600, "cora-ml, all labels": None}
FIRST_SEED = 1
KNOWN = 0.1  # share of the labels of the second graph
QUICK: dict[str, Any] = {"progress": False}
# Without a budget: its clock would let the result depend on what else the machine does.
AUTO: dict[str, Any] = {"budget": None, "n_folds": 2, **QUICK}


class NeighborTrees:
    """Plain LightGBM on 64 components of the words: a node's own, and their means one and two steps
    away."""

    def __init__(self, seed: int) -> None:
        self.components = TruncatedSVD(64, random_state=seed)
        self.trees = LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1, random_state=seed)

    def columns(self, X: Any, graph: Graph) -> np.ndarray:
        spread = Hops(graph, 2, norm="row").apply(self.components.transform(X))
        return np.asarray(spread).reshape(len(spread), -1)

    def fit(self, X: Any, y: np.ndarray, *, graph: Graph) -> None:
        self.components.fit(X)
        known = np.flatnonzero(y >= 0)
        self.trees.fit(self.columns(X, graph)[known], y[known])

    def predict(self, X: Any, y: np.ndarray, *, graph: Graph) -> np.ndarray:
        return np.asarray(self.trees.predict(self.columns(X, graph)))


MODELS: dict[str, Callable[[int], Any]] = {
    "AutoModel()": lambda seed: AutoModel(**AUTO, random_state=seed),
    "AutoModel(label_dropout=0.9)": lambda seed: AutoModel(
        label_dropout=0.9, **AUTO, random_state=seed
    ),
    "AutoModel(label_dropout=1)": lambda seed: AutoModel(
        label_dropout=1, **AUTO, random_state=seed
    ),
    "LightGBM": lambda seed: NeighborTrees(seed),
    "SIGN()": lambda seed: SIGN(**QUICK, random_state=seed),
    'SIGN(label_trick="stochastic", split_rate=0.1)': lambda seed: SIGN(
        label_trick="stochastic", split_rate=0.1, **QUICK, random_state=seed
    ),
    "SIGN(label_trick=None)": lambda seed: SIGN(label_trick=None, **QUICK, random_state=seed),
    "GNN()": lambda seed: GNN(**QUICK, random_state=seed),
    "GNN(split_rate=0.1)": lambda seed: GNN(split_rate=0.1, **QUICK, random_state=seed),
    "GNN(label_trick=None)": lambda seed: GNN(label_trick=None, **QUICK, random_state=seed),
}
Results = dict[tuple[str, str, int], dict[str, Any]]


def halves(data: Any, seed: int) -> list[tuple[Graph, Any, np.ndarray]]:
    """(graph, features, labels) of two random halves of the nodes."""
    order = np.random.default_rng(seed).permutation(data.graph.n_nodes)
    A, found = data.graph.to_scipy().tocsr(), []
    for nodes in (np.sort(order[::2]), np.sort(order[1::2])):
        found.append((Graph.from_scipy(A[nodes][:, nodes]), data.X[nodes], data.y[nodes]))
    return found


def some_labels(y: np.ndarray, n_known: int | None, seed: int) -> np.ndarray:
    """The labels of random nodes; −1 elsewhere."""
    labeled = np.flatnonzero(y >= 0)
    known = np.random.default_rng([seed, 1]).permutation(labeled)[:n_known]
    found = np.full(len(y), -1)
    found[known] = y[known]
    return found


def run_one(name: str, method: str, seed: int, data_dir: str | None) -> dict[str, Any]:
    first, (graph, X, y) = halves(datasets.load(name.split(",")[0], data_dir), seed)
    begin = time.process_time()
    model = MODELS[method](seed)
    model.fit(first[1], some_labels(first[2], DATASETS[name], seed), graph=first[0])
    seconds = time.process_time() - begin
    tenth = some_labels(y, round(KNOWN * len(y)), seed)
    scored = (y >= 0) & (tenth < 0)  # the same nodes, with and without labels
    right = {}
    for case, given in (("none", np.full(len(y), -1)), ("tenth", tenth)):
        right[case] = float((model.predict(X, given, graph=graph) == y)[scored].mean())
    promised = float(model.oof_score_) if isinstance(model, AutoModel) else None
    found = {"dataset": name, "method": method, "seed": seed, **right}
    return {**found, "oof": promised, "seconds": seconds, "commit": commit()}


def table(results: Results, case: str) -> str:
    """Mean accuracy in percent over the seeds, and its standard deviation if there are several."""
    rows = []
    for method in MODELS:
        cells = []
        for name in DATASETS:
            each = [r[case] for (d, m, _), r in results.items() if (d, m) == (name, method)]
            each = [100 * value for value in each if value is not None]
            spread = f" ± {np.std(each):.1f}" if len(each) > 1 else ""
            cells.append(f"{np.mean(each):.1f}{spread}" if each else "–")
        if set(cells) != {"–"}:
            rows.append([f"`{method}`" if "(" in method else method, *cells])
    return markdown(["", *DATASETS], rows)


def gain(results: Results) -> str:
    """What label inputs gain on a graph without labels, by pairs of fits on the same division."""
    with_labels, without = "AutoModel(label_dropout=0.9)", "AutoModel(label_dropout=1)"
    cells = []
    for name in DATASETS:
        pairs = [
            100 * (found["none"] - results[name, without, seed]["none"])
            for (dataset, method, seed), found in results.items()
            if (dataset, method) == (name, with_labels) and (name, without, seed) in results
        ]
        if len(pairs) > 1:
            error = np.std(pairs, ddof=1) / np.sqrt(len(pairs))
            cells.append(f"{name} {np.mean(pairs):+.1f} ± {error:.1f}")
    return "; ".join(cells)


def report(results: Results) -> str:
    n_seeds = len({seed for _, _, seed in results})
    commits = ", ".join(sorted({found.get("commit", "not recorded") for found in results.values()}))
    return (
        f"No labels on the second graph:\n\n{table(results, 'none')}\n"
        f"`label_dropout=0.9` minus `label_dropout=1` there, mean ± standard error of the paired "
        f"differences: {gain(results)}.\n\n"
        f"A tenth of its labels known:\n\n{table(results, 'tenth')}\n"
        f"What the model itself says before it sees the second graph, `oof_score_`:\n\n"
        f"{table(results, 'oof')}\n"
        f"Accuracy in percent; {n_seeds} random division{'s' if n_seeds > 1 else ''}, as mean ± "
        "standard deviation if there are several; of the same 90 % of the second graph's nodes in "
        "the first two tables. 600 labels of the first graph are known unless all are. `AutoModel` "
        "has "
        f"`budget={AUTO['budget']}` and `n_folds={AUTO['n_folds']}`. LightGBM has 64 components of "
        "a node's words and their means one and two steps away. All fits took "
        f"{sum(found['seconds'] for found in results.values()) / 60:.0f} minutes of processor "
        f"time. Commit of the code: {commits}; table written on: {describe_machine()}. "
        f"Versions: {versions('numpy', 'torch', 'lightgbm')}."
    )


def stored(path: Path) -> Results:
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {
        (line["dataset"], line["method"], line["seed"]): line
        for line in lines
        if line["seed"] >= FIRST_SEED
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", nargs="*", default=DATASETS)
    parser.add_argument("--methods", nargs="*", default=MODELS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--store", type=Path, default=ROOT / "results" / "inductive.jsonl")
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    given = parser.parse_args()
    results = stored(given.store)
    for seed in range(FIRST_SEED, FIRST_SEED + given.seeds):
        for name in given.datasets:
            for method in given.methods:
                if (name, method, seed) in results:
                    continue
                found = run_one(name, method, seed, given.data_dir)
                results[name, method, seed] = found
                print(json.dumps(found), flush=True)
                given.store.parent.mkdir(parents=True, exist_ok=True)
                with given.store.open("a") as file:
                    file.write(json.dumps(found) + "\n")
    text = report(results)
    print(text)
    if given.write:
        write_between_markers(ROOT / "docs" / "guides" / "inductive.md", "inductive", text)


if __name__ == "__main__":
    main()
