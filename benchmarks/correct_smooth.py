"""Correct & Smooth compared with PyTorch Geometric's, in one run.

    python benchmarks/correct_smooth.py --data-dir data  # some minutes
    python benchmarks/correct_smooth.py --data-dir data --write  # docs/results/benchmarks.md

The settings are those of the original on ogbn-arxiv: correct with λ = 0.979 and smooth with
λ = 0.756, 50 steps each, autoscale, clamps, and symmetric normalization as in PyG; then the limits
without clamps. Base predictions are not part of the time: they are ranked guesses of the class on
ogbn-arxiv, and a logistic regression elsewhere. Each time is the best of several runs.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import ROOT, best_time, describe_machine, markdown, versions, write_between_markers
from torch_geometric.nn.models import CorrectAndSmooth as PygCorrectAndSmooth

from labeltrick import Spread
from labeltrick.evaluation.splits import split_nodes
from labeltrick.io import datasets
from labeltrick.models.correct_smooth.steps import correction, smoothed

CORRECT, SMOOTH, N_STEPS = 0.979, 0.756, 50


def load(name: str, data_dir: str | None) -> tuple[Any, np.ndarray, Any]:
    """(dataset, base predictions, split)."""
    data = datasets.load(name, data_dir)
    split = data.split if name == "ogbn-arxiv" else split_nodes(data.y, random_state=0)
    if data.X is None:
        rows = datasets.rank_features(data.extra["llm_ranked_classes"], data.n_classes) + 0.01
        return data, (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32), split
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=500).fit(data.X[split.train], data.y[split.train])
    return data, model.predict_proba(data.X).astype(np.float32), split


def ours(
    base: np.ndarray, Y: np.ndarray, train: np.ndarray, graph: Any, n_steps: int | None
) -> np.ndarray:
    steps = [Spread(lam, n_steps, clamp=n_steps is not None) for lam in (CORRECT, SMOOTH)]
    rows = base + correction(base, Y, train, graph, steps[0])
    return smoothed(rows, Y, train, graph, steps[1])


def theirs(base: np.ndarray, y: np.ndarray, train: np.ndarray, edges: torch.Tensor) -> np.ndarray:
    model = PygCorrectAndSmooth(N_STEPS, CORRECT, N_STEPS, SMOOTH)
    mask, labels = torch.from_numpy(train), torch.from_numpy(y[train])
    rest = (labels, mask, edges)
    rows = model.correct(torch.from_numpy(base), *rest)
    return model.smooth(rows, *rest).numpy()


def compare(name: str, data_dir: str | None, repeats: int) -> list[list[str]]:
    data, base, split = load(name, data_dir)
    train = np.zeros(data.n_nodes, bool)
    train[split.train] = True
    Y = np.eye(base.shape[1], dtype=np.float32)[data.y]
    edges = data.graph.to_edge_index("torch")
    peer = theirs(base, data.y, train, edges)
    there = best_time(lambda: theirs(base, data.y, train, edges), max(1, repeats // 3))
    rows = [[name, "PyG, 50 + 50 steps", f"{there:.2f}", "1×", *scores(peer, peer, data, split)]]
    for label, n_steps in (("50 + 50 steps, clamps", N_STEPS), ("limits, no clamps", None)):
        found = ours(base, Y, train, data.graph, n_steps)
        here = best_time(lambda k=n_steps: ours(base, Y, train, data.graph, k), repeats)
        result = scores(found, peer, data, split)
        rows.append([name, f"labeltrick, {label}", f"{here:.2f}", f"{there / here:.0f}×", *result])
    for row in rows:
        print(row, flush=True)
    return rows


def scores(found: np.ndarray, peer: np.ndarray, data: Any, split: Any) -> list[str]:
    """(largest difference to the peer, share of the same predictions, test accuracy)."""
    same = (found.argmax(axis=1) == peer.argmax(axis=1)).mean()
    right = (found.argmax(axis=1) == data.y)[split.test].mean()
    gap = np.abs(found - peer).max()
    return [f"{gap:.0e}", f"{100 * same:.2f}", f"{100 * right:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=os.environ.get("LABELTRICK_DATA"))
    parser.add_argument("--datasets", nargs="+", default=["ogbn-arxiv", "pubmed"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    options = parser.parse_args()
    rows = [
        row for name in options.datasets for row in compare(name, options.data_dir, options.repeats)
    ]
    text = (
        markdown(HEADER, rows)
        + f"\nMeasured on: {describe_machine()}. "
        + f"Versions: {versions('numpy', 'torch', 'torch_geometric')}.\n"
    )
    print(text)
    if options.write:
        write_between_markers(
            Path(ROOT) / "docs" / "results" / "benchmarks.md", "correct-smooth", text
        )


HEADER = ["dataset", "implementation", "seconds", "speedup", "largest difference to PyG"]
HEADER += ["same class as PyG, %", "test accuracy, %"]

if __name__ == "__main__":
    main()
