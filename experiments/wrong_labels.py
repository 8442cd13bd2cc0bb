"""Which doubt is enough to look at a label: wrong labels are planted and then looked for.

    python -m experiments.wrong_labels --data-dir data           # 10 draws of wrong labels
    python -m experiments.wrong_labels --write                   # docs/how-to/find-wrong-labels.md

One label in twenty is replaced by another class, drawn at random. Labels that are above a cut-off
of `doubt` are listed. Mistakes that the data came with count as right labels, so that lists are
purer than the table says.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np
from rich.progress import track

from benchmarks.measure import markdown, write_between_markers
from experiments.record import ROOT
from labeltrick import LabelPropagation
from labeltrick.io import datasets

SHARE = 0.05  # of the labels that are made wrong
CUTOFFS = (0.0, 0.25, 0.5, 0.75)


def graphs(data_dir: str | None) -> dict[str, tuple[Any, np.ndarray]]:
    """Graphs and their labels, −1 where unlabeled."""
    digits = datasets.make_digits(label_share=0.4)
    found = {"digits": (digits.graph, digits.known)}
    for name in ("cora", "pubmed"):
        data = datasets.load(name, data_dir)
        found[name.capitalize()] = (data.graph, np.asarray(data.y))
    return found


def planted(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of which some are wrong, and the nodes of the wrong ones."""
    rng = np.random.default_rng(seed)
    labeled, n_classes = np.flatnonzero(y >= 0), int(y.max()) + 1
    wrong = rng.choice(labeled, round(SHARE * len(labeled)), replace=False)
    spoiled = y.copy()
    spoiled[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return spoiled, wrong


def shares(graph: Any, y: np.ndarray, seed: int) -> np.ndarray:
    """For each cut-off: labels listed, wrong labels found, wrong ones among the listed, in %."""
    spoiled, wrong = planted(y, seed)
    suspects = LabelPropagation(0.9).fit(None, spoiled, graph=graph).suspicious_labels()
    is_wrong = np.isin(suspects.nodes, wrong)
    rows = []
    for cutoff in CUTOFFS:
        listed = suspects.doubt > cutoff
        hits = (listed & is_wrong).sum()
        rows.append((listed.mean(), hits / len(wrong), hits / max(listed.sum(), 1)))
    return 100 * np.array(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=os.environ.get("LABELTRICK_DATA"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    options = parser.parse_args()
    rows = []
    for name, (graph, y) in graphs(options.data_dir).items():
        seeds = track(range(options.seeds), name, transient=True)
        mean = np.mean([shares(graph, y, seed) for seed in seeds], axis=0)
        for cutoff, row in zip(CUTOFFS, mean, strict=True):
            rows.append([name, f"{cutoff:g}", *(f"{share:.1f}" for share in row)])
    header = ["graph", "doubt above", "listed, %", "found, %", "wrong in the list, %"]
    text = markdown(header, rows)
    print(text)
    if options.write:
        page = ROOT / "docs" / "how-to" / "find-wrong-labels.md"
        write_between_markers(page, "wrong-labels", text)


if __name__ == "__main__":
    main()
