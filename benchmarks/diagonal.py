"""diag(P) with certified error, against propagating identity columns.

    python benchmarks/diagonal.py             # everything, some minutes
    python benchmarks/diagonal.py --part arxiv   # one of: arxiv, products, growth, random
    python benchmarks/diagonal.py --write     # also update docs/results/benchmarks.md

ogbn-arxiv is read from LABELTRICK_DATA or --data-dir.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import peers
from generate import community_graph, power_law_graph
from measure import (
    ROOT,
    Section,
    best_time,
    peak_memory_gib,
    random_update_seconds,
    run_in_fresh_process,
    run_parts,
    write_between_markers,
)
from propagation import PRODUCTS, load_arxiv

from labeltrick import Graph, Resolvent
from labeltrick.propagation.diagonal.neighborhoods import SymmetricForm, push_resolvent
from labeltrick.propagation.diagonal.request import SelfWeightRequest

BLOCK, N_STEPS = 1024, 50
CASES = ((0.6, 1e-4), (0.6, 1e-6), (0.9, 1e-4))
N_CHECKED = 64


def torch_identity_seconds(graph: Graph, n_train: int, n_timed: int = 5) -> float:
    """Seconds to propagate identity columns of the training nodes for 50 steps with torch CSR.

    Extrapolated from a few products with one block of 1024 columns, without the rest of a step.
    """
    import torch

    S = peers.torch_operator(graph, True)
    F = torch.zeros(graph.n_nodes, BLOCK)
    F[torch.arange(BLOCK), torch.arange(BLOCK)] = 1
    return best_time(lambda: S @ F, n_timed, 60.0) * N_STEPS * -(-n_train // BLOCK)


def true_error(P: Resolvent, nodes: np.ndarray, value: np.ndarray) -> float:
    """Largest error, relative to full columns, on a sample that includes the highest degrees."""
    degrees = P.graph.degrees[nodes]
    rest = np.random.default_rng(0).choice(len(nodes), N_CHECKED // 2, replace=False)
    sample = np.unique(np.concatenate([np.argsort(-degrees)[: N_CHECKED // 2], rest]))
    exact = P.self_weight(nodes[sample], method="exact", progress=False).value
    return float(np.abs(value[sample] - exact).max())


def arxiv_cases(data_dir: str | None) -> Section:
    name, graph, _, train, _ = load_arxiv(data_dir)
    rival = torch_identity_seconds(graph, len(train))
    rows = []
    for lam, tol in CASES:
        P = Resolvent(graph, lam, self_loops=True)
        found = []

        def work(P=P, tol=tol, found=found) -> None:
            found[:] = [P.self_weight(train, tol=tol, progress=False)]

        seconds = best_time(work, 5, 20.0)
        C = found[0]
        rows.append(
            [
                f"λ = {lam}, certified {tol:g}",
                f"{seconds:.2f} s",
                f"{rival / seconds:,.0f}×",
                f"{int((C.method == 'exact').sum())}",
                f"{C.error_bound.max():.1e}",
                f"{true_error(P, train, C.value):.1e}",
            ]
        )
    header = ["", "time", "torch / ours", "full columns", "largest bound", "true error"]
    note = (
        f"{name}, all {len(train):,} training nodes, self-loops, on a "
        "graph that has been used before (its nodes are already reordered). torch: "
        f"{-(-len(train) // BLOCK)} blocks of {BLOCK} identity columns for {N_STEPS} steps of CSR "
        f"take {rival:,.0f} s, extrapolated from single products with one block, without the rest "
        "of a step. “Full columns” is the number of nodes whose whole column of P was computed. "
        f"The true error is the largest among {N_CHECKED} nodes, half of them those of highest "
        "degree, relative to full columns."
    )
    return "diag(P)", header, rows, note


def products_worker() -> None:
    graph = power_law_graph(PRODUCTS["n_nodes"], PRODUCTS["n_edges"])
    rng = np.random.default_rng(0)
    train = rng.choice(graph.n_nodes, PRODUCTS["n_train"], replace=False)
    P = Resolvent(graph, 0.6, self_loops=True)
    begin = time.perf_counter()
    C = P.self_weight(train, tol=1e-4, progress=False)
    seconds = time.perf_counter() - begin
    figures = {
        "entries": graph.nnz,
        "seconds": seconds,
        "bound": float(C.error_bound.max()),
        "whole": int((C.method == "exact").sum()),
        "peak": peak_memory_gib(),
    }
    print(json.dumps(figures))


def products_sized() -> Section:
    found = json.loads(run_in_fresh_process(Path(__file__), "--worker").splitlines()[-1])
    rows = [
        ["stored entries", f"{found['entries']:,}"],
        [f"self-weights of {PRODUCTS['n_train']:,} nodes", f"{found['seconds']:.1f} s"],
        ["largest bound", f"{found['bound']:.1e}"],
        ["nodes whose full column was computed", f"{found['whole']}"],
        ["peak memory of the whole process", f"{found['peak']:.2f} GiB"],
    ]
    note = (
        "A generated graph of the size of ogbn-products, λ = 0.6, error certified to 1e-4, "
        "without column energies. This is the first use of the graph, so the time includes "
        "reordering its nodes."
    )
    return "diag(P) of a graph of the size of ogbn-products", ["", ""], rows, note


def growth(make: Callable[[int, int], Graph], title: str, kind: str) -> Section:
    rows, sizes, times, edges, costs = [], [], [], [], []
    for n in (10_000, 30_000, 100_000, 300_000, 1_000_000):
        S = make(n, 7 * n).normalized("sym", self_loops=True)
        form = SymmetricForm.of(S)
        request = SelfWeightRequest(np.arange(n), 2**31, tol=1e-4, progress=False)
        found = []

        def work(form=form, request=request, found=found) -> None:
            found[:] = [push_resolvent(form, 0.6, request, budget=10**7)]

        sizes.append(n)
        times.append(best_time(work, 3, 20.0))
        edges.append(float(found[0].edges.mean()))
        costs.append(random_update_seconds(n))
        rows.append(
            [
                f"{n:,}",
                f"{times[-1]:.2f} s",
                f"{times[-1] / n * 1e6:.1f} µs",
                f"{edges[-1]:.0f}",
                f"{times[-1] / n / edges[-1] * 1e9:.1f} ns",
                f"{costs[-1] * 1e9:.1f} ns",
            ]
        )

    def exponent(values: object) -> float:
        return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])

    total = np.array(sizes) * np.array(edges)
    explained = np.array(times) / np.array(costs)
    note = (
        f"{kind}, mean degree 14, all nodes, λ = 0.6, error certified to 1e-4. The number of edges "
        f"visited grows as nodes^{exponent(total):.2f} and the time as "
        f"nodes^{exponent(times):.2f}. Divided by the time of one random update of an array of the "
        "same size, which grows as the array leaves the cache, the time grows as "
        f"nodes^{exponent(explained):.2f}."
    )
    header = ["nodes", "time", "time per node", "edges per node", "time per edge"]
    header += ["time per random update"]
    return title, header, rows, note


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["arxiv", "products", "growth", "random"])
    parser.add_argument("--data-dir", help="folder with ogbn-arxiv/; default LABELTRICK_DATA")
    parser.add_argument("--write", action="store_true", help="update the tables in the docs")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        products_worker()
        return
    if options.write and options.part:
        parser.error("--write updates every table; omit --part")
    parts = {
        "arxiv": lambda: arxiv_cases(options.data_dir),
        "products": products_sized,
        "growth": lambda: growth(
            community_graph,
            "diag(P) and size of the graph, with communities",
            "Communities of 1,000 nodes with a tenth of the edges between them, in random order",
        ),
        "random": lambda: growth(
            power_law_graph,
            "diag(P) and size of the graph, without communities",
            "Power-law graphs without communities, where reordering nodes does not help",
        ),
    }
    sections, footer = run_parts(parts, options.part, ["numpy", "numba", "torch"])
    if options.write:
        text = "\n".join([*sections, footer])
        write_between_markers(ROOT / "docs" / "results" / "benchmarks.md", "diagonal", text)


if __name__ == "__main__":
    main()
