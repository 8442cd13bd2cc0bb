"""Figure: accuracy by damping λ and by split rate α, on test nodes and by leave-one-out. If the two
curves of a panel peak at the same place, λ and α can be chosen without a validation set.

    python -m experiments.label_propagation_curves --data-dir data   # docs/figures/curves.svg
    python -m experiments.label_propagation_curves --out curves.png --seeds 2
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from labeltrick import LabelPropagation, TrainableLabelPropagation
from labeltrick.evaluation.splits import split_nodes
from labeltrick.io import datasets

ROOT = Path(__file__).resolve().parent.parent
DAMPINGS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
RATES = (0.01, 0.02, *(round(0.05 * k, 2) for k in range(1, 20)))


def scores(model: Any, data: Any, seed: int) -> tuple[float, float]:
    """(leave-one-out, test) accuracy, %, with 60 % of the nodes labeled."""
    truth = np.asarray(data.y)
    split = split_nodes(truth, random_state=seed)
    y = np.full(len(truth), -1)
    y[split.train] = truth[split.train]
    model.fit(None, y, graph=data.graph)
    hit = model.predict() == truth
    return 100 * model.oof_score_, 100 * float(hit[split.test].mean())


def measure(data_dir: str | None, name: str, n_seeds: int) -> tuple[np.ndarray, np.ndarray]:
    """Arrays (seed, setting, curve): over λ and over α."""
    data = datasets.load(name, data_dir)
    over_damping = [
        [scores(LabelPropagation(damping), data, seed) for damping in DAMPINGS]
        for seed in track(range(n_seeds), "damping")
    ]
    over_rate = [
        [
            scores(TrainableLabelPropagation(loss="squared", split_rate=rate), data, seed)
            for rate in RATES
        ]
        for seed in track(range(n_seeds), "split rate")
    ]
    return np.array(over_damping), np.array(over_rate)


def draw(panels: list[tuple[str, Any, np.ndarray]], title: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("svg" if path.suffix == ".svg" else "agg")
    matplotlib.rcParams["svg.hashsalt"] = "labeltrick"  # the same picture, the same file
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(9.0, 3.6), layout="constrained")
    styles = [("leave-one-out on labeled nodes", "#0071bc", "-"), ("test nodes", "#333333", ":")]
    for axis, (label, at, curves) in zip(axes, panels, strict=True):
        for k, (name, color, line) in enumerate(styles):
            mean, spread = curves[:, :, k].mean(axis=0), curves[:, :, k].std(axis=0)
            axis.plot(at, mean, line, color=color, label=name, linewidth=2)
            axis.fill_between(at, mean - spread, mean + spread, color=color, alpha=0.12)
        axis.set(xlabel=label, ylabel="accuracy, %")
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False, loc="lower left")
    figure.suptitle(title, fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = ROOT / "docs" / "figures" / "curves.svg"
    parser.add_argument("--data-dir", default=os.environ.get("LABELTRICK_DATA"))
    parser.add_argument("--dataset", default="pubmed")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=default, help="file to write")
    options = parser.parse_args()
    over_damping, over_rate = measure(options.data_dir, options.dataset, options.seeds)
    panels = [
        ("damping λ (label propagation)", DAMPINGS, over_damping),
        ("split rate α (trained, squared loss)", RATES, over_rate),
    ]
    draw(panels, f"{options.dataset}, 60 % labeled, {options.seeds} splits", options.out)
    for label, at, curves in panels:
        print(label)
        for value, (oof, test) in zip(at, curves.mean(axis=0), strict=True):
            print(f"  {value:5.2f}: leave-one-out {oof:.2f}, test {test:.2f}")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
