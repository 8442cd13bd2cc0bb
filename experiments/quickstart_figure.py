"""The picture and the table of the README: a Minesweeper board, predicted four ways.

python -m experiments.quickstart_figure --write
"""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.measure import markdown, write_between_markers
from experiments.record import ROOT
from labeltrick import AutoModel
from labeltrick.app.quickstart import BUDGET, compare, score_of
from labeltrick.app.runs.settings import parse_seconds
from labeltrick.io.datasets import Example, make_minesweeper


def draw(board: Example, probability: np.ndarray) -> plt.Figure:
    size = round(len(board.y) ** 0.5)
    known = np.full(len(board.y), np.nan)
    known[board.train] = board.y[board.train]
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.5), layout="constrained")
    colors = plt.get_cmap("Reds").copy()
    colors.set_bad("#d9dee5")
    titles = ("known: half of the cells", "predicted: probability of a mine", "truth")
    for axis, title, values in zip(axes, titles, (known, probability, board.y), strict=True):
        axis.imshow(np.asarray(values, float).reshape(size, size), cmap=colors, vmin=0, vmax=1)
        axis.set_title(title, fontsize=11)
        axis.set_xticks([])
        axis.set_yticks([])
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into README.md and docs/figures")
    given = parser.parse_args()
    board = make_minesweeper()
    rows = [[score.uses, f"{score.auc:.3f}"] for score in compare(board)]
    best = score_of(board, predict(board))
    rows.append(["numbers, known mines, edges: `labeltrick fit`", f"{best:.3f}"])
    table = markdown(["what is used", "AUC"], rows)
    print(table)
    if given.write:
        small = make_minesweeper(30)  # cells that are large enough to be seen
        path = ROOT / "docs" / "figures" / "minesweeper.png"
        draw(small, predict(small)).savefig(path, dpi=150)
        write_between_markers(ROOT / "README.md", "quickstart", table)


def predict(board: Example) -> np.ndarray:
    """Probabilities of mines, like the quickstart's."""
    model = AutoModel(metric="roc_auc", budget=parse_seconds(BUDGET), progress=False)
    return model.fit(board.X, board.known, graph=board.graph).predict_proba()[:, 1]


if __name__ == "__main__":
    main()
