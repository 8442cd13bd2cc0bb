"""Figure: accuracy of label propagation on its training nodes, with and without each node's own
label, compared with the accuracy on test nodes.

    python -m experiments.leakage_figure                      # writes docs/figures/leakage.svg
    python -m experiments.leakage_figure --out leakage.png    # any format of matplotlib
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.progress import track

from labeltrick import Resolvent, label_matrix, self_excluded
from labeltrick.io.datasets import Example, make_digits

ROOT = Path(__file__).resolve().parent.parent
DAMPINGS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
N_SEEDS = 10


def accuracies(problem: Example, damping: float) -> tuple[float, float, float]:
    """(training with own labels, training without, test)."""
    P = Resolvent(problem.graph, damping)
    Y = label_matrix(problem.y, problem.train, n_classes=10)
    plain = P @ Y
    honest = self_excluded(P, Y, problem.train)

    def accuracy(view: np.ndarray, nodes: np.ndarray) -> float:
        return float((view[nodes].argmax(axis=1) == problem.y[nodes]).mean())

    return (
        accuracy(plain, problem.train),
        accuracy(honest, problem.train),
        accuracy(plain, problem.test),
    )


def measure() -> np.ndarray:
    """Array (seed, damping, curve)."""
    return np.array(
        [
            [accuracies(make_digits(0.1, seed), damping) for damping in DAMPINGS]
            for seed in track(range(N_SEEDS), "splits")
        ]
    )


def draw(curves: np.ndarray, path: Path) -> None:
    import matplotlib

    matplotlib.use("svg" if path.suffix == ".svg" else "agg")
    matplotlib.rcParams["svg.hashsalt"] = "labeltrick"  # the same picture, the same file
    import matplotlib.pyplot as plt

    styles = [
        ("training nodes, own label among the inputs", "#c1272d", "--"),
        ("training nodes, own label excluded", "#0071bc", "-"),
        ("test nodes", "#333333", ":"),
    ]
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for k, (label, color, line) in enumerate(styles):
        mean, spread = 100 * curves[:, :, k].mean(axis=0), 100 * curves[:, :, k].std(axis=0)
        axes.plot(DAMPINGS, mean, line, color=color, label=label, linewidth=2)
        axes.fill_between(DAMPINGS, mean - spread, mean + spread, color=color, alpha=0.12)
    axes.set(xlabel="damping λ", ylabel="accuracy, %")
    axes.set_title(
        "Accuracy of label propagation with and without self-exclusion (digits, 10 % labeled)",
        fontsize=11,
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="lower left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = ROOT / "docs" / "figures" / "leakage.svg"
    parser.add_argument("--out", type=Path, default=default, help="file to write")
    options = parser.parse_args()
    curves = measure()
    draw(curves, options.out)
    names = ("own label in", "own label out", "test")
    for name, row in zip(names, 100 * curves.mean(axis=0).T, strict=True):
        print(f"{name:>14}: " + " ".join(f"{value:5.1f}" for value in row))
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
