"""Figure of certified self-weights: the error as one node is pushed, and the measured error of
many nodes against the bound that is reported with them.

    python -m experiments.self_weight_figure                # writes docs/figures/self-weights.svg
    python -m experiments.self_weight_figure --format png   # any format of matplotlib
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from labeltrick import Graph, Resolvent

ROOT = Path(__file__).resolve().parent.parent
BLUE, ORANGE, GRAY, RED = "#0071bc", "#e08214", "#8c8c8c", "#c1272d"
N_NODES, N_EDGES, DAMPING = 1500, 9000, 0.9
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8)


def make_graph(seed: int = 0) -> Graph:
    """Nodes of very different degrees, a few of them hubs."""
    rng = np.random.default_rng(seed)
    popularity = rng.pareto(1.5, N_NODES) + 0.2
    ends = rng.choice(N_NODES, (2, N_EDGES), p=popularity / popularity.sum())
    return Graph.from_edges(*ends, n_nodes=N_NODES)


def push_history(S: np.ndarray, node: int, lam: float, n_pushes: int) -> np.ndarray:
    """Array (pushes, 3): x_i, the value with the second-order term, and its bound, all for C_ii.

    The literal algorithm on a dense matrix; `labeltrick` visits neighborhoods only.
    """
    degrees = np.maximum((S > 0).sum(axis=0), 1)
    x, rho = np.zeros(len(S)), np.zeros(len(S))
    rho[node] = 1.0
    found = []
    for _ in range(n_pushes):
        v = int(np.argmax(rho**2 / degrees))
        gain = rho[v] / (1 - lam * S[v, v])
        x[v] += gain
        rho[v] -= gain
        rho += lam * gain * S[:, v]
        size = rho @ rho
        value = (1 - lam) * (x[node] + x @ rho) + (1 - lam / 2) * size
        found.append(((1 - lam) * x[node], value, lam / 2 * size))
    return np.array(found)


def measure(graph: Graph) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """(exact C, for each tolerance the measured errors and their bounds)."""
    P = Resolvent(graph, DAMPING)
    S = P.S @ np.eye(graph.n_nodes)
    exact = np.diag(np.linalg.inv(np.eye(len(S)) - DAMPING * S)) * (1 - DAMPING)
    results = []
    for tol in TOLERANCES:
        found = P.self_weight(tol=tol, method="push", progress=False)
        results.append((np.abs(found.value - exact), found.error_bound))
    return exact, results


def draw(plt: Any, graph: Graph) -> Any:
    exact, results = measure(graph)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    S = Resolvent(graph, DAMPING).S @ np.eye(graph.n_nodes)
    node = int(np.argsort(graph.degrees)[graph.n_nodes // 2])  # of median degree
    history = push_history(S, node, DAMPING, 4000)
    pushes, error = np.arange(1, len(history) + 1), np.abs(history[:, :2] - exact[node])
    left.loglog(pushes, error[:, 0], color=GRAY, label="error of x alone")
    left.loglog(pushes, history[:, 2], color=RED, linestyle="--", label="certified bound")
    left.loglog(pushes, error[:, 1], color=BLUE, label="error of the value in use")
    left.set(xlabel="pushes", ylabel="error of C", title="One node of median degree")
    left.legend(frameon=False, fontsize=8, loc="lower left")
    shades = plt.get_cmap("viridis")(np.linspace(0.1, 0.85, len(TOLERANCES)))
    for tol, (measured, bound), shade in zip(TOLERANCES, results, shades, strict=True):
        right.loglog(
            bound, np.maximum(measured, 1e-17), ".", ms=3, color=shade, label=f"tol = {tol:g}"
        )
    ends = [1e-12, 1e-1]
    right.loglog(ends, ends, color=RED, linewidth=1, linestyle="--", label="error = bound")
    right.set(xlabel="certified bound", ylabel="measured error", title=f"All {N_NODES:,} nodes")
    right.set(xlim=(1e-12, 1e-1), ylim=(1e-17, 1e-1))
    right.legend(frameon=False, fontsize=8, loc="upper left")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    for tol, (measured, bound) in zip(TOLERANCES, results, strict=True):
        print(
            f"tol {tol:g}: largest error {measured.max():.1e}, largest bound {bound.max():.1e}, "
            f"median error / bound {np.median(measured / bound):.2f}, "
            f"errors above the bound: {(measured > bound).sum()}"
        )
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "figures", help="folder")
    parser.add_argument("--format", default="svg", help="format of the file")
    options = parser.parse_args()
    import matplotlib

    matplotlib.use("svg" if options.format == "svg" else "agg")
    matplotlib.rcParams["svg.hashsalt"] = "labeltrick"  # the same picture, the same file
    import matplotlib.pyplot as plt

    figure = draw(plt, make_graph())
    path = options.out / f"self-weights.{options.format}"
    metadata = {"Date": None} if options.format == "svg" else None
    figure.savefig(path, metadata=metadata, dpi=110)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
