"""Figures that explain the label trick: a small graph step by step, and training against test
accuracy with the own label among the inputs, with random splits, and self-excluded.

    python -m experiments.label_trick_figures                # writes docs/figures/label-trick-*.svg
    python -m experiments.label_trick_figures --format png   # any format of matplotlib
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from labeltrick import Graph, Resolvent, label_matrix, self_excluded, split_labels, stochastic_view

ROOT = Path(__file__).resolve().parent.parent
BLUE, ORANGE, GRAY, RED = "#0071bc", "#e08214", "#8c8c8c", "#c1272d"
PLACES = np.array(
    [(0, 1.0), (0.9, 1.7), (1.0, 0.3), (1.9, 1.0), (0.3, -0.4), (1.6, 2.4),
     (3.0, 1.2), (3.9, 1.9), (4.0, 0.5), (4.9, 1.2), (3.3, -0.3), (4.6, 2.6)]
)  # fmt: skip
SRC = [0, 0, 1, 1, 2, 2, 0, 1, 3, 3, 6, 6, 6, 7, 7, 8, 8, 7]
DST = [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 9, 8, 9, 10, 11]
LABELS = np.array([0, -1, 0, 1, -1, 0, -1, 1, 1, -1, -1, 1])  # node 3 has an unusual label
HERO, DAMPING = 3, 0.6
N_SEEDS, N_DRAWS = 10, 20
INPUTS = ("features", "own label in", "random splits", "self-excluded")


# -- a small graph, step by step ----------------------------------------------------------------
def share_of_orange(view: np.ndarray) -> np.ndarray:
    """Share of the second class in the labels that arrive; NaN where none does."""
    mass = view.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(mass > 1e-9, view[:, 1] / mass, np.nan)


def blend(share: float) -> Any:
    from matplotlib.colors import to_rgb

    if np.isnan(share):
        return (1.0, 1.0, 1.0)
    return tuple((1 - share) * np.array(to_rgb(BLUE)) + share * np.array(to_rgb(ORANGE)))


def draw_graph(axes: Any, colors: list[Any], title: str, texts: list[str] | None = None) -> None:
    for u, v in zip(SRC, DST, strict=True):
        axes.plot(*PLACES[[u, v]].T, color="#bbbbbb", linewidth=1.2, zorder=1)
    edge = ["black" if label >= 0 else GRAY for label in LABELS]
    width = [2.2 if label >= 0 else 1.0 for label in LABELS]
    axes.scatter(*PLACES.T, s=430, c=colors, edgecolors=edge, linewidths=width, zorder=2)
    for place, text in zip(PLACES, texts or [""] * len(PLACES), strict=True):
        axes.text(*place, text, ha="center", va="center", fontsize=8, color="black", zorder=3)
    axes.add_patch(_ring(PLACES[HERO]))
    axes.set_title(title, fontsize=10, loc="left")
    axes.set(xlim=(-0.6, 5.5), ylim=(-1.0, 3.2), aspect="equal")
    axes.axis("off")


def _ring(place: np.ndarray) -> Any:
    from matplotlib.patches import Circle

    return Circle(tuple(place), 0.46, fill=False, edgecolor=RED, linewidth=1.8, linestyle="--")


def draw_steps(plt: Any) -> Any:
    graph = Graph.from_edges(SRC, DST, n_nodes=len(PLACES))
    P = Resolvent(graph, DAMPING)
    train = np.flatnonzero(LABELS >= 0)
    Y = label_matrix(LABELS, train, n_classes=2)
    plain, excluded = P @ Y, self_excluded(P, Y, train)
    own = np.asarray(P @ np.eye(len(PLACES))[:, [HERO]])[:, 0]
    split = split_labels(train, 0.5, 3, n_nodes=len(PLACES))
    figure, grid = plt.subplots(2, 3, figsize=(11.4, 5.4), layout="constrained")
    known = [blend(float(label)) if label >= 0 else "white" for label in LABELS]
    draw_graph(grid[0, 0], known, "1. Known labels; one node is unusual")
    draw_graph(grid[0, 1], [blend(s) for s in share_of_orange(plain)], "2. Labels propagated: P·Y")
    strength = [(1.0, 1.0 - 0.9 * v / own.max(), 1.0 - 0.9 * v / own.max()) for v in own]
    texts = [f"{100 * v:.0f}%" for v in own]
    draw_graph(grid[0, 2], strength, "3. Where the marked node's label goes", texts)
    parts = [known[k] if split.in_mask[k] else "white" for k in range(len(PLACES))]
    asked = ["?" if split.out_mask[k] else "" for k in range(len(PLACES))]
    draw_graph(grid[1, 0], parts, "4. A random split: inputs, and targets (?)", asked)
    colors = [blend(s) for s in share_of_orange(excluded)]
    draw_graph(grid[1, 1], colors, "5. Self-excluded: (P − C)·Y")
    draw_hero(grid[1, 2], plain[HERO], excluded[HERO])
    return figure


def draw_hero(axes: Any, plain: np.ndarray, excluded: np.ndarray) -> None:
    """What the marked node sees with and without its own label."""
    own = plain - excluded
    names = ["P·Y", "(P − C)·Y"]
    axes.barh(names, [plain[0], excluded[0]], color=BLUE, label="blue labels of others")
    left = [plain[0], excluded[0]]
    axes.barh(names, [excluded[1]] * 2, left=left, color=ORANGE, label="orange labels of others")
    axes.barh(
        names[:1], own[1], left=plain[0] + excluded[1], color="white", edgecolor=RED, hatch="//",
        label="its own label, C",
    )  # fmt: skip
    axes.set_title("6. What the marked node sees", fontsize=10, loc="left")
    axes.set_xlabel("weight")
    axes.set_xlim(0, 1.05 * plain.sum())
    axes.set_ylim(2.3, -0.5)  # room for the legend
    axes.legend(frameon=False, fontsize=8, loc="lower left", ncols=1)
    axes.spines[["top", "right"]].set_visible(False)


# -- training against test accuracy --------------------------------------------------------------
def make_problem(alike: bool, seed: int, n: int = 1200) -> tuple[Graph, np.ndarray, np.ndarray]:
    """(graph, features, classes). Neighbors are mostly of the same class, or of its partner."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    src, dst = rng.integers(0, n, (2, 40 * n))
    wanted = y[src] if alike else y[src] ^ 1  # 0 and 1 are partners, and 2 and 3
    kept = (rng.random(len(src)) < np.where(y[dst] == wanted, 0.4, 0.05)) & (src != dst)
    X = 0.6 * np.eye(4)[y] + rng.normal(size=(n, 4))
    return Graph.from_edges(src[kept], dst[kept], n_nodes=n), X, y


def accuracies(alike: bool, seed: int) -> np.ndarray:
    """Array (inputs, training and test accuracy) of a linear model."""
    from sklearn.linear_model import LogisticRegression

    graph, X, y = make_problem(alike, seed)
    train = np.flatnonzero(np.random.default_rng(seed + 100).random(len(y)) < 0.3)
    test = np.setdiff1d(np.arange(len(y)), train)
    P = Resolvent(graph, DAMPING)
    Y = label_matrix(y, train, n_classes=4)
    plain, scale = P @ Y, 10.0  # label columns in the units of the features

    def with_labels(view: np.ndarray) -> np.ndarray:
        return np.hstack([X, scale * view])

    splits = [stochastic_view(P, Y, train, split_rate=0.5, random_state=k) for k in range(N_DRAWS)]
    rows = [with_labels(view)[split.out_mask] for view, split in splits]
    truth = [y[split.out_mask] for _, split in splits]
    excluded = self_excluded(P, Y, train)
    cases = [
        (X[train], y[train], X, X),
        (with_labels(plain)[train], y[train], with_labels(plain), with_labels(plain)),
        (np.vstack(rows), np.concatenate(truth), with_labels(plain), with_labels(excluded)),
        (with_labels(excluded)[train], y[train], with_labels(plain), with_labels(excluded)),
    ]
    found = []
    for inputs, labels, at_test, at_train in cases:
        model = LogisticRegression(max_iter=2000).fit(inputs, labels)
        found.append((model.score(at_train[train], y[train]), model.score(at_test[test], y[test])))
    return np.array(found)


def measure() -> np.ndarray:
    """Array (alike or not, seed, inputs, training or test)."""
    return np.array([[accuracies(a, seed) for seed in range(N_SEEDS)] for a in (True, False)])


def draw_training(plt: Any, found: np.ndarray) -> Any:
    figure, row = plt.subplots(1, 2, figsize=(10.0, 3.9), layout="constrained", sharey=True)
    titles = ("Neighbors are mostly alike", "Neighbors are mostly of the partner class")
    at = np.arange(len(INPUTS))
    for axes, title, scores in zip(row, titles, 100 * found, strict=True):
        for k, (name, color) in enumerate((("training nodes", "#bbbbbb"), ("test nodes", BLUE))):
            mean, spread = scores[:, :, k].mean(axis=0), scores[:, :, k].std(axis=0)
            bars = axes.bar(at + 0.4 * k - 0.2, mean, 0.38, yerr=spread, color=color, label=name)
            axes.bar_label(bars, fmt="%.0f", fontsize=9, padding=2)
        axes.axhline(25, color=GRAY, linewidth=1, linestyle=":")
        axes.set_title(title, fontsize=11)
        axes.set_xticks(at, INPUTS, fontsize=9)
        axes.set_ylim(0, 122)
        axes.spines[["top", "right"]].set_visible(False)
    row[0].set_ylabel("accuracy, %")
    row[0].legend(frameon=False, loc="upper left", ncols=2, fontsize=9)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "figures", help="folder")
    parser.add_argument("--format", default="svg", help="format of the files")
    options = parser.parse_args()
    import matplotlib

    matplotlib.use("svg" if options.format == "svg" else "agg")
    matplotlib.rcParams["svg.hashsalt"] = "labeltrick"  # the same picture, the same file
    import matplotlib.pyplot as plt

    found = measure()
    figures = {"steps": draw_steps(plt), "training": draw_training(plt, found)}
    for name, figure in figures.items():
        path = options.out / f"label-trick-{name}.{options.format}"
        metadata = {"Date": None} if options.format == "svg" else None
        figure.savefig(path, metadata=metadata, dpi=110)
        print(f"wrote {path}")
    for title, scores in zip(("alike", "partner"), 100 * found.mean(axis=1), strict=True):
        for name, (training, test) in zip(INPUTS, scores, strict=True):
            print(f"{title:>8} {name:>14}: training {training:5.1f}, test {test:5.1f}")


if __name__ == "__main__":
    main()
