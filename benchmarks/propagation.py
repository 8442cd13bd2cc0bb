"""Propagation against its peers, as ratios measured in one run.

    python benchmarks/propagation.py                 # everything, about ten minutes
    python benchmarks/propagation.py --part steps    # one of: labels, steps, scaling, products
    python benchmarks/propagation.py --write         # also docs/results/benchmarks.md and README

ogbn-arxiv is read from LABELTRICK_DATA or --data-dir; without it, a generated graph of the same
size is used, and the tables say so.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import peers
from generate import power_law_graph
from measure import (
    ROOT,
    Section,
    best_time,
    gather_seconds_per_row,
    peak_memory_gib,
    run_in_fresh_process,
    run_parts,
    write_between_markers,
)

from labeltrick import Graph, Iteration, Resolvent
from labeltrick.propagation.engine.products import layout_of

LAM, N_STEPS, N_COLUMNS = 0.6, 50, 40
PRODUCTS = {"n_nodes": 2_449_029, "n_edges": 62_500_000, "n_classes": 47, "n_train": 196_615}
Rows = list[list[str]]


def load_arxiv(data_dir: str | None) -> tuple[str, Graph, np.ndarray, np.ndarray, np.ndarray]:
    """(name, graph, y, train, test); a generated stand-in where the data is absent."""
    from labeltrick.io import datasets

    try:
        data = datasets.load("ogbn-arxiv", data_dir=data_dir)
    except (FileNotFoundError, ValueError) as error:
        print(f"ogbn-arxiv not found ({error})\nusing a generated graph of its size instead")
        graph = power_law_graph(169_343, 1_166_243)
        rng = np.random.default_rng(0)
        order = rng.permutation(graph.n_nodes)
        y = rng.integers(0, N_COLUMNS, graph.n_nodes)
        return "generated, arxiv-sized", graph, y, order[:90_941], order[90_941:]
    return "ogbn-arxiv", data.graph, data.y, data.split.train, data.split.test


def one_hot(y: np.ndarray, train: np.ndarray, n_classes: int) -> np.ndarray:
    Y = np.zeros((len(y), n_classes), np.float32)
    Y[train, y[train]] = 1
    return Y


def ratio_rows(seconds: dict[str, float], ours: str) -> Rows:
    return [
        [name, f"{value * 1e3:,.1f} ms", f"{value / seconds[ours]:.1f}×"]
        for name, value in seconds.items()
    ]


def label_propagation(data_dir: str | None) -> Section:
    name, graph, y, train, test = load_arxiv(data_dir)
    Y = one_hot(y, train, N_COLUMNS)
    ours = "labeltrick Resolvent"
    index = graph.to_edge_index()

    def from_edge_index() -> np.ndarray:
        built = Graph.from_edges(index[0], index[1], n_nodes=graph.n_nodes)
        return Resolvent(built, LAM, self_loops=True) @ Y

    exact = Resolvent(graph, LAM, self_loops=True)
    plain = Iteration(graph, LAM, N_STEPS, self_loops=True)
    work = {
        ours: lambda: exact @ Y,
        "… from edge_index, including building the graph": from_edge_index,
        f"labeltrick Iteration, {N_STEPS} steps": lambda: plain @ Y,
        f"SciPy CSR, {N_STEPS} steps": peers.scipy_propagation(graph, Y, LAM, N_STEPS),
        f"torch CSR, {N_STEPS} steps": peers.torch_propagation(graph, Y, LAM, N_STEPS),
        f"scikit-learn LabelSpreading, {N_STEPS} steps": peers.sklearn_propagation(
            graph, y, train, LAM, N_STEPS
        ),
        f"scikit-network PageRankClassifier, {N_STEPS} steps": peers.sknetwork_propagation(
            graph, y, train, LAM, N_STEPS
        ),
        f"PyG LabelPropagation({N_STEPS}, {LAM}) on edge_index": peers.pyg_propagation(
            graph, y, train, LAM, N_STEPS
        ),
    }
    work[ours](), work[ours]()  # compiles, and reaches the reordered state of a graph in use
    seconds = {label: best_time(run, 7, 25.0) for label, run in work.items()}
    steps = work[f"SciPy CSR, {N_STEPS} steps"]().argmax(axis=1)
    predicted = work[ours]().argmax(axis=1)
    accuracy = float((predicted == y)[test].mean())
    note = (
        f"{name}, λ = {LAM}, self-loops, {N_COLUMNS} classes: {exact.last_solve.n_steps} Chebyshev "
        f"steps on a graph that has been used before, so that its nodes are already reordered; the "
        f"second row includes building the graph. Predictions that differ from SciPy's {N_STEPS} "
        f"steps: {int((predicted != steps).sum())} of {len(y):,}. Test accuracy: {accuracy:.2%}."
    )
    return (
        "Label propagation",
        ["", "best time", "relative to labeltrick"],
        ratio_rows(seconds, ours),
        note,
    )


def single_steps(data_dir: str | None) -> Section:
    name, graph, *_ = load_arxiv(data_dir)
    F = np.random.default_rng(0).random((graph.n_nodes, N_COLUMNS), dtype=np.float32)
    ours = "labeltrick, one step"
    seconds = {}
    for label, reorder in ((ours, True), ("labeltrick, without reordering nodes", False)):
        seconds[label] = our_step_seconds(graph, N_COLUMNS, reorder)
    for label, step in (("SciPy CSR", peers.scipy_step), ("torch CSR", peers.torch_step)):
        seconds[label] = best_time(step(graph, F, True), 20)
    bound = gather_seconds_per_row(graph.n_nodes, N_COLUMNS) * graph.nnz
    seconds["gather bound: reading the same number of random rows"] = bound
    note = f"{name}, {N_COLUMNS} columns of float32, self-loops: out = λ S F + (1−λ) F⁰."
    header = ["", "best time", "relative to labeltrick"]
    return "One step", header, ratio_rows(seconds, ours), note


def our_step_seconds(graph: Graph, n_columns: int, reorder: bool, budget: float = 10.0) -> float:
    """Time of one fused step within an iteration."""
    from labeltrick._utils.progress import ProgressBar
    from labeltrick.propagation.engine.blocks import Block

    layout = layout_of(graph.normalized("sym", self_loops=True), np.float32, reorder)
    block = Block(layout, 8, -(-n_columns // 8), ProgressBar(1, "step", False))
    for buffer in (block.base, block.first, block.second):
        buffer[:] = 1
    return best_time(lambda: block.step(block.base, block.first, LAM, base=1 - LAM), 30, budget)


def scaling(largest: int) -> Section:
    rows, relative = [], {}
    for n_edges in (10**5, 10**6, 10**7, 10**8):
        if n_edges > largest:
            break
        graph = power_law_graph(n_edges // 25, n_edges)
        ours = our_step_seconds(graph, N_COLUMNS, False)
        bound = gather_seconds_per_row(graph.n_nodes, N_COLUMNS) * graph.nnz
        F = np.random.default_rng(0).random((graph.n_nodes, N_COLUMNS), dtype=np.float32)
        scipy_seconds = best_time(peers.scipy_step(graph, F, True), 3, 10.0)
        torch_seconds = best_time(peers.torch_step(graph, F, True), 3, 10.0)
        relative[n_edges] = ours / bound
        rows.append(
            [
                f"{n_edges:.0e}".replace("e+0", "e"),
                f"{graph.n_nodes * N_COLUMNS * 4 / 2**20:,.0f} MiB",
                f"{ours / graph.nnz * 1e9:.2f} ns",
                f"{bound / graph.nnz * 1e9:.2f} ns",
                f"{ours / bound:.2f}",
                f"{scipy_seconds / ours:.1f}×",
                f"{torch_seconds / ours:.1f}×",
            ]
        )
    header = ["edges", "one iterate", "time per entry", "bound per entry", "time/bound"]
    header += ["SciPy/ours", "torch/ours"]
    note = (
        "Power-law graphs with mean degree 50 in random node order, one step with 40 columns. The "
        "bound is the time to read random rows of the same array; a power-law graph can be faster, "
        "because it reads the rows of hubs more often. The bound grows because the array no longer "
        "fits the cache, and time/bound removes this effect."
    )
    if 10**6 in relative and 10**8 in relative:
        growth = relative[10**8] / relative[10**6]
        note += f" From 10⁶ to 10⁸ edges, time/bound changes by a factor of {growth:.2f}."
    return "Time and size of the graph", header, rows, note


def products_worker() -> None:
    """Build, propagate and print results as JSON, in a separate process to measure peak memory."""
    import time

    n, classes = PRODUCTS["n_nodes"], PRODUCTS["n_classes"]
    begin = time.perf_counter()
    graph = power_law_graph(n, PRODUCTS["n_edges"])
    built = time.perf_counter()
    rng = np.random.default_rng(0)
    train = rng.choice(n, PRODUCTS["n_train"], replace=False)
    Y = one_hot(rng.integers(0, classes, n), train, classes)
    P = Resolvent(graph, LAM, self_loops=True)
    seconds = best_time(lambda: P.apply(Y, progress=False), 2, 60.0)
    figures = {
        "stored entries": graph.nnz,
        "generate and build": built - begin,
        "propagate": seconds,
        "steps": P.last_solve.n_steps,
        "peak": peak_memory_gib(),
    }
    print(json.dumps(figures))


def products_sized() -> Section:
    found = json.loads(run_in_fresh_process(Path(__file__), "--worker").splitlines()[-1])
    rows = [
        ["stored entries", f"{found['stored entries']:,}"],
        ["generating edges and building the graph", f"{found['generate and build']:.1f} s"],
        [f"label propagation, {found['steps']} Chebyshev steps", f"{found['propagate']:.1f} s"],
        ["peak memory of the whole process", f"{found['peak']:.2f} GiB"],
    ]
    note = "A generated graph of the size of ogbn-products: 2.4 M nodes, 47 columns of float32."
    return "A graph of the size of ogbn-products", ["", ""], rows, note


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["labels", "steps", "scaling", "products"])
    parser.add_argument("--data-dir", help="folder with ogbn-arxiv/; default LABELTRICK_DATA")
    parser.add_argument("--largest", type=float, default=1e8, help="largest number of edges")
    parser.add_argument("--write", action="store_true", help="update the tables in the docs")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        products_worker()
        return
    if options.write and options.part:
        parser.error("--write updates every table; omit --part")
    parts = {
        "labels": lambda: label_propagation(options.data_dir),
        "steps": lambda: single_steps(options.data_dir),
        "scaling": lambda: scaling(int(options.largest)),
        "products": products_sized,
    }
    packages = ["numpy", "scipy", "numba", "torch", "torch_geometric", "scikit-network"]
    sections, footer = run_parts(parts, options.part, packages)
    if options.write:
        text = "\n".join([*sections, footer])
        write_between_markers(ROOT / "docs" / "results" / "benchmarks.md", "propagation", text)
        write_between_markers(ROOT / "README.md", "propagation", "\n".join([sections[0], footer]))


if __name__ == "__main__":
    main()
