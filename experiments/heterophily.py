"""Graphs whose neighbors differ: weights shared by all hops compared with weights per hop.

    python -m experiments.heterophily --data-dir data            # 10 seeds
    python -m experiments.heterophily --write                    # docs/guides/label-propagation.md

Only labels and edges are used. Wikipedia chameleon has its traffic in five classes of equal size
(random 6:2:2 splits). Minesweeper has ten official splits; its mines are placed at random, so that
other mines are not informative, and a better score would be a leak.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from sklearn.metrics import roc_auc_score

from benchmarks.measure import markdown, write_between_markers
from labeltrick import LabelPropagation, TrainableLabelPropagation
from labeltrick.evaluation.splits import split_nodes
from labeltrick.io import datasets

ROOT = Path(__file__).resolve().parent.parent

METHODS: dict[str, Any] = {
    "label propagation": LabelPropagation(),
    "trainable, shared weights": TrainableLabelPropagation(),
    "trainable, weights per hop": TrainableLabelPropagation(weights="per_hop"),
    "trainable, weights per hop, row and column norms": TrainableLabelPropagation(
        weights="per_hop", norm=("row", "col")
    ),
}


def chameleon(method: Any, seed: int, data_dir: str | None) -> float:
    """Accuracy, %."""
    data = datasets.load("chameleon", data_dir)
    truth = np.digitize(data.y, np.quantile(data.y, [0.2, 0.4, 0.6, 0.8]))
    split = split_nodes(truth, random_state=seed)
    y = np.full(len(truth), -1)
    y[split.train] = truth[split.train]
    hit = method.fit(None, y, graph=data.graph).predict() == truth
    return 100 * float(hit[split.test].mean())


def minesweeper(method: Any, seed: int, data_dir: str | None) -> float:
    """Area under the ROC curve, %."""
    data = datasets.load("minesweeper", data_dir, split=seed % 10)
    y = np.full(len(data.y), -1)
    y[data.split.train] = data.y[data.split.train]
    proba = method.fit(None, y, graph=data.graph).predict_proba()[data.split.test, 1]
    return 100 * float(roc_auc_score(data.y[data.split.test], proba))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=os.environ.get("LABELTRICK_DATA"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    options = parser.parse_args()
    rows = []
    for name, method in METHODS.items():
        cells = [name]
        for measure in (chameleon, minesweeper):
            seeds = track(range(options.seeds), f"{name}, {measure.__name__}", transient=True)
            found = np.array([measure(method, seed, options.data_dir) for seed in seeds])
            cells.append(f"{found.mean():.1f} ± {found.std(ddof=1):.1f}")
        rows.append(cells)
    header = ["method", "chameleon, accuracy %", "Minesweeper, AUC %"]
    text = markdown(header, rows)
    print(text)
    if options.write:
        write_between_markers(
            ROOT / "docs" / "guides" / "label-propagation.md", "heterophily", text
        )


if __name__ == "__main__":
    main()
