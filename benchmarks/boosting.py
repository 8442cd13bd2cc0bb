"""Trees grown through Correct & Smooth, compared with LightGBM and SciPy's propagation.

    python benchmarks/boosting.py            # a minute or two
    python benchmarks/boosting.py --write    # table into docs/results/benchmarks.md

The graph is generated: 20,000 points in the plane, each connected to its five nearest, with 10
columns, 60 % of the nodes labeled and 20 % for validation. All run 500 rounds of 31 leaves: end to
end (validated every fifth round, never stopped early), plain LightGBM on the same rows, and 500
propagations of one column by SciPy, with 50 steps as in Correct & Smooth and with as many as our
tolerance in training takes. A round end to end takes two propagations of two columns
forward, and two backward. Each time is the best of several runs.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import lightgbm
import numpy as np
from measure import ROOT, best_time, describe_machine, markdown, versions, write_between_markers
from scipy.spatial import cKDTree

from labeltrick import Graph, GraphBoosting
from labeltrick.models.boosting.rounds import Steps

N_ROUNDS, N_NODES, N_COLUMNS, LAMBDA = 500, 20_000, 10, 0.8


def made(n: int, seed: int = 0) -> tuple[Graph, np.ndarray, np.ndarray]:
    """(graph, columns, numbers)."""
    rng = np.random.default_rng(seed)
    places = rng.random((n, 2))
    near = cKDTree(places).query(places, 6)[1][:, 1:]
    graph = Graph.from_edges(np.repeat(np.arange(n), 5), near.ravel(), n_nodes=n)
    X = rng.normal(size=(n, N_COLUMNS))
    X[:, :2] += 3 * places
    y = np.sin(9 * places[:, 0]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n)
    return graph, X, y


def end_to_end(graph: Graph, X: np.ndarray, y: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    part = rng.choice(3, len(y), p=[0.6, 0.2, 0.2])
    model = GraphBoosting(
        "end_to_end",
        n_rounds=N_ROUNDS,
        max_leaves=31,
        neighbor_hops=0,
        correct=LAMBDA,
        smooth=0.3,
        patience=10 * N_ROUNDS,
        progress=False,
    )
    model.fit(X, np.where(part < 2, y, np.nan), graph=graph, validation=np.flatnonzero(part == 1))


def plain(X: np.ndarray, y: np.ndarray, n_threads: int) -> None:
    options = {"objective": "regression", "num_leaves": 31, "learning_rate": 0.05, "verbosity": -1}
    lightgbm.train({**options, "num_threads": n_threads}, lightgbm.Dataset(X, y), N_ROUNDS)


def scipy_seconds(graph: Graph, y: np.ndarray, n_steps: int, repeats: int) -> float:
    """500 propagations of one column, from the best of several single ones."""
    S = graph.normalized("row").to_scipy()

    def once() -> np.ndarray:
        rows = y
        for _ in range(n_steps):
            rows = LAMBDA * (S @ rows) + (1 - LAMBDA) * y
        return rows

    return N_ROUNDS * best_time(once, 10 * repeats)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    options = parser.parse_args()
    graph, X, y = made(N_NODES)
    made_small = made(500)
    end_to_end(*made_small)  # compiles

    def timed(function, *arguments) -> float:
        best = math.inf
        for _ in range(options.repeats):
            begin = time.perf_counter()
            function(*arguments)
            best = min(best, time.perf_counter() - begin)
        return best

    # LightGBM with as many threads as suit it best.
    trees = min(timed(plain, X, y, n_threads) for n_threads in (1, 2))
    ours = timed(end_to_end, graph, X, y)
    rows = []
    few = math.ceil(math.log(Steps.tol) / math.log(LAMBDA))
    for n_steps in (50, few):
        spread = scipy_seconds(graph, y, n_steps, options.repeats)
        cells = [f"{value:.2f}" for value in (trees, spread, trees + spread, ours)]
        rows.append([str(n_steps), *cells, f"{ours / (trees + spread):.2f}×"])
    text = (
        markdown(HEADER, rows)
        + f"\n{N_ROUNDS} rounds, {N_NODES:,} nodes, {graph.nnz:,} stored edges. "
        + f"Measured on: {describe_machine()}. "
        + f"Versions: {versions('numpy', 'scipy', 'lightgbm')}.\n"
    )
    print(text)
    if options.write:
        write_between_markers(Path(ROOT) / "docs" / "results" / "benchmarks.md", "boosting", text)


HEADER = [
    "steps of SciPy",
    "LightGBM, s",
    "SciPy, s",
    "LightGBM + SciPy, s",
    "end to end, s",
    "end to end / (LightGBM + SciPy)",
]

if __name__ == "__main__":
    main()
