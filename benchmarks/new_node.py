"""Time of predicting one new node of a run of `labeltrick fit`, whose features are numbers.

    python benchmarks/new_node.py RUN
    python benchmarks/new_node.py RUN --calls 50

Each new node gets the columns and the neighbors of a random node of the run. Printed are the times
in a loaded process, with the largest difference of a probability from predicting everything, and
those of the command, beside the start of Python with all imports, which is part of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measure import describe_machine

from labeltrick import load_model


def new_node(model: Any, node: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A row like that of a node, and edges to its neighbors."""
    graph, table = model.graph_, model.features_
    names = graph.name_table.kept
    cells = {name: [value] for name, value in zip(table.names, table.values[node], strict=True)}
    near = names[graph.neighbors(node).tolist()]
    edges = pl.DataFrame({"source": pl.Series(["new node"] * len(near)), "target": near})
    return pl.DataFrame({"id": ["new node"], **cells}), edges


def in_process(model: Any, calls: int, rng: np.random.Generator) -> None:
    begin = time.perf_counter()
    nodes, edges = new_node(model, int(rng.choice(np.flatnonzero(model.graph_.degrees))))
    found = model.predict_new(nodes, edges, id="id", output="polars")
    print(f"first call, which prepares: {time.perf_counter() - begin:.2f} s")
    shares = [name for name in found.columns if name.startswith("p_")]
    expected = model.extend(nodes, edges, id="id").predict_proba()[-1]
    gap = np.abs(found[shares].to_numpy()[0] - expected).max()
    print(f"largest difference from predicting everything: {gap:.1e}")
    times = []
    for node in rng.choice(np.flatnonzero(model.graph_.degrees), calls):
        nodes, edges = new_node(model, int(node))
        begin = time.perf_counter()
        model.predict_new(nodes, edges, id="id", output="polars")
        times.append(1e3 * (time.perf_counter() - begin))
    low, middle, high = np.quantile(times, [0.1, 0.5, 0.9])
    print(f"{calls} further calls: median {middle:.0f} ms (10% to 90%: {low:.0f} to {high:.0f} ms)")


def by_command(run: Path, model: Any, rng: np.random.Generator) -> None:
    nodes, edges = new_node(model, int(rng.choice(np.flatnonzero(model.graph_.degrees))))
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("nodes.csv", "edges.csv", "out.csv")]
        nodes.write_csv(files[0])
        edges.write_csv(files[1])
        start = [sys.executable, "-c", "import labeltrick.app.runs.applying"]
        command = [sys.executable, "-m", "labeltrick", "predict", str(run), "--overwrite"]
        command += ["--nodes", files[0], "--edges", files[1], "--out", files[2], "--quiet"]
        for name, line in (("start and imports", start), ("whole command", command)):
            best = np.inf
            for _ in range(3):
                begin = time.perf_counter()
                subprocess.run(line, check=True, capture_output=True)
                best = min(best, time.perf_counter() - begin)
            print(f"{name}: {best:.2f} s (best of 3)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args()
    print(describe_machine())
    begin = time.perf_counter()
    model = load_model(options.run / "model")
    print(f"loading the model: {time.perf_counter() - begin:.2f} s")
    print(f"{model.graph_.n_nodes:,} nodes, {model.graph_.n_edges:,} edges: {model.chosen_}")
    by_command(options.run, model, np.random.default_rng(0))
    in_process(model, options.calls, np.random.default_rng(0))


if __name__ == "__main__":
    main()
