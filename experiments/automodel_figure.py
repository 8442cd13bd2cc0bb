"""Figure of how `AutoModel` decides: the losses of its learners and their shares in the blend, and
its out-of-fold score against the accuracy on nodes whose labels were hidden. A second figure shows
what one fit did with its budget.

    python -m experiments.automodel_figure                  # writes docs/figures/automodel*.svg
    python -m experiments.automodel_figure --only timeline  # one of the two
    python -m experiments.automodel_figure --format png     # any format of matplotlib

The first needs no torch: the learners are trees, a linear model and label propagation.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from labeltrick import AutoModel, Graph
from labeltrick._utils.progress import ProgressLines

ROOT = Path(__file__).resolve().parent.parent
BLUE, ORANGE, GRAY, RED = "#0071bc", "#e08214", "#8c8c8c", "#c1272d"
N_NODES, N_LABELS, N_SEEDS = 600, (40, 200), 12
TIMED_NODES, BUDGET = 4000, 60.0


def make_problem(seed: int, n: int = N_NODES) -> tuple[Graph, np.ndarray, np.ndarray]:
    """(graph, features, classes): three classes, mostly joined within, with weak features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    src, dst = rng.integers(0, n, (2, 6 * n))
    near = (y[src] == y[dst]) | (rng.random(len(src)) < 0.35)
    graph = Graph.from_edges(src[near], dst[near], n_nodes=n)
    centers = rng.normal(size=(3, 4))
    return graph, centers[y] + 2 * rng.normal(size=(n, 4)), y


def fit(seed: int, n_labels: int, noise: bool) -> tuple[AutoModel, float]:
    """(model, accuracy on the nodes without a label); noise replaces the classes by random ones."""
    graph, X, y = make_problem(seed)
    rng = np.random.default_rng([seed, n_labels])
    if noise:
        y = rng.integers(0, 3, N_NODES)
    known = np.full(N_NODES, -1)
    some = rng.choice(N_NODES, n_labels, replace=False)
    known[some] = y[some]
    model = AutoModel(learners=["trees", "linear"], progress=False).fit(X, known, graph=graph)
    return model, float((model.predict() == y)[known < 0].mean())


def measure() -> dict[tuple[int, bool], np.ndarray]:
    """For each number of labels, with and without noise: (out-of-fold score, accuracy) by seed."""
    kinds = [(n_labels, noise) for noise in (False, True) for n_labels in N_LABELS]
    found: dict[tuple[int, bool], list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for seed in track(range(N_SEEDS), "graphs"):
        for kind in kinds:
            model, accuracy = fit(seed, *kind)
            found[kind].append((model.oof_score_, accuracy))
    return {kind: np.array(pairs) for kind, pairs in found.items()}


def draw(plt: Any, found: dict[tuple[int, bool], np.ndarray]) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    model = fit(0, N_LABELS[-1], noise=False)[0]
    trials = [trial for trial in model.trials_ if not np.isnan(trial.loss)]
    trials.sort(key=lambda trial: -trial.loss)
    shares = [model.shares_.get(trial.name, 0.0) for trial in trials]
    colors = [RED if trial.name == "blend" else BLUE if share else GRAY
              for trial, share in zip(trials, shares, strict=True)]  # fmt: skip
    left.barh([trial.name for trial in trials], [trial.loss for trial in trials], color=colors)
    for place, (trial, share) in enumerate(zip(trials, shares, strict=True)):
        text = f"share {share:.0%}" if share else ""
        left.text(trial.loss, place, f"  {text}", va="center", fontsize=8)
    left.set(xlabel="log loss, out of fold", title=f"One fit, {N_LABELS[-1]} labels")
    left.set_xlim(0, 1.25 * max(trial.loss for trial in trials))
    for (n_labels, noise), pairs in found.items():
        color, marker = (ORANGE if noise else BLUE), ("o" if n_labels == N_LABELS[0] else "s")
        label = f"{n_labels} labels, {'pure noise' if noise else 'true classes'}"
        face = color if n_labels == N_LABELS[-1] else "none"
        right.plot(*pairs.T[::-1], marker, ms=5, color=color, mfc=face, label=label)
        gap, error = np.diff(pairs, axis=1), pairs.std(axis=0, ddof=1) / np.sqrt(len(pairs))
        print(
            f"{label}: out of fold {pairs[:, 0].mean():.3f} ± {error[0]:.3f}, hidden nodes "
            f"{pairs[:, 1].mean():.3f} ± {error[1]:.3f}, standard deviation of the difference "
            f"{gap.std(ddof=1):.3f}"
        )
    right.plot([0.1, 1], [0.1, 1], color=GRAY, linewidth=1, linestyle="--")
    right.set(xlabel="accuracy on hidden nodes", ylabel="oof_score_", xlim=(0.1, 1), ylim=(0.1, 1))
    right.set_title(f"{N_SEEDS} graphs of each kind")
    right.legend(frameon=False, fontsize=8, loc="upper left")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    print(f"chosen on the left: {model.chosen_}")
    return figure


class Recorder(ProgressLines):
    """Notes when each fit of a learner begins and ends, in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.begin = time.monotonic()
        self.fits: list[tuple[str, int, float, float]] = []
        self._open: tuple[str, int, float] | None = None

    def tell(self, what: str, done: int, total: int, state: Any) -> None:
        now = time.monotonic() - self.begin
        if self._open is not None:
            self.fits.append((*self._open, now))
        self._open = (state["trying"], state["fold"], now) if "trying" in state else None


def draw_timeline(plt: Any) -> Any:
    """The fits of one run in time, and why learners ended."""
    graph, X, y = make_problem(0, TIMED_NODES)
    known = np.where(np.random.default_rng(1).random(TIMED_NODES) < 0.5, y, -1)
    recorder = Recorder()
    model = AutoModel(budget=BUDGET, progress=recorder).fit(X, known, graph=graph)
    end = time.monotonic() - recorder.begin
    learned = max(stop for *_, stop in recorder.fits)
    figure, axes = plt.subplots(figsize=(10.0, 3.4), layout="constrained")
    names = list(dict.fromkeys(name for name, *_ in recorder.fits))
    notes = {trial.name: trial.note for trial in model.trials_}
    for name, fold, start, stop in recorder.fits:
        color = BLUE if model.shares_.get(name) else GRAY
        place = names.index(name)
        axes.barh(place, stop - start, left=start, color=color, edgecolor="white", height=0.6)
        axes.text(start, place + 0.31, f" {fold}", fontsize=7, color=GRAY, va="top")
    for place, name in enumerate(names):
        last = max(stop for each, *_, stop in recorder.fits if each == name)
        share = model.shares_.get(name, 0.0)
        text = f"share {share:.0%}" if share else notes[name] or "no share"
        axes.text(last + 0.01 * BUDGET, place, text, va="center", fontsize=8)
        print(f"{name}: {text}; {notes[name] or 'fitted on all folds'}")
    axes.barh(len(names), end - learned, left=learned, color=ORANGE, height=0.6)
    axes.axvline(BUDGET, color=RED, linestyle="--", linewidth=1)
    axes.text(BUDGET, -0.7, "budget ", ha="right", fontsize=8, color=RED)
    axes.set_yticks(range(len(names) + 1), [*names, "predict and blend"])
    axes.set(xlabel="seconds", xlim=(0, 1.15 * max(BUDGET, end)), ylim=(len(names) + 0.6, -1))
    axes.spines[["top", "right"]].set_visible(False)
    print(f"budget {BUDGET} s, learning until {learned:.1f} s, end at {end:.1f} s")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "figures", help="folder")
    parser.add_argument("--format", default="svg", help="format of the file")
    parser.add_argument("--only", choices=("scores", "timeline"), help="draw one figure")
    options = parser.parse_args()
    import matplotlib

    matplotlib.use("svg" if options.format == "svg" else "agg")
    matplotlib.rcParams["svg.hashsalt"] = "labeltrick"  # the same picture, the same file
    import matplotlib.pyplot as plt

    figures = {
        "automodel": lambda: draw(plt, measure()),
        "automodel-timeline": lambda: draw_timeline(plt),
    }
    for name, make in figures.items():
        if options.only is not None and (options.only == "timeline") != name.endswith("timeline"):
            continue
        path = options.out / f"{name}.{options.format}"
        metadata = {"Date": None} if options.format == "svg" else None
        make().savefig(path, metadata=metadata, dpi=110)
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
