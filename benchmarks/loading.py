"""Reading a large Parquet file of edges into a `Graph`, compared with polars reading the file, with
integers and with strings as ids.

    python benchmarks/loading.py                 # 100 million edges
    python benchmarks/loading.py --edges 10000000

Each step runs in a separate process, to measure its peak memory. The file is written to a temporary
folder and removed. ``--write`` puts the table into docs/results/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import (
    ROOT,
    describe_machine,
    markdown,
    peak_memory_gib,
    run_in_fresh_process,
    versions,
    write_between_markers,
)

KINDS = {"numbers": "integer ids", "names": "string ids"}


def make_file(path: Path, n_edges: int, kind: str, seed: int = 0) -> None:
    """Integer ids with gaps (every third), a fortieth as many nodes as edges, in random order; as
    names, "C-" and the integer."""
    import polars as pl

    rng = np.random.default_rng(seed)
    n_nodes = max(n_edges // 40, 2)
    frame = pl.DataFrame(
        {name: 3 * rng.integers(0, n_nodes, n_edges) + 1000 for name in ("src", "dst")}
    )
    if kind == "names":
        frame = frame.select(pl.format("C-{}", pl.col(name)).alias(name) for name in frame.columns)
    frame.write_parquet(path)


def step(name: str, path: str) -> dict[str, float]:
    """One measured step: ``polars`` reads the file, ``graph`` builds a graph from it."""
    import polars as pl

    if name == "graph":
        from labeltrick import Graph
        from labeltrick.io.tables import read_problem

        # Compiled before the clock starts.
        Graph.from_edges([0], [1])
        Graph.from_edges(["a"], ["b"])
        begin = time.perf_counter()
        problem = read_problem(path)
        seconds = time.perf_counter() - begin
        return {"seconds": seconds, "memory": peak_memory_gib(), "edges": problem.graph.n_edges}
    begin = time.perf_counter()
    frame = pl.read_parquet(path)
    return {
        "seconds": time.perf_counter() - begin,
        "memory": peak_memory_gib(),
        "edges": frame.height,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=100_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(json.dumps(step(*given.step)))
        return
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path = Path(folder) / f"{kind}.parquet"
            make_file(path, given.edges, kind)
            for name in given.repeats * ("polars", "graph"):
                out = run_in_fresh_process(Path(__file__), "--step", name, str(path))
                found = json.loads(out.splitlines()[-1])
                key = f"{name}, {kind}"
                print(key, found, flush=True)
                if key not in best or found["seconds"] < best[key]["seconds"]:
                    best[key] = found
            path.unlink()

    def row(title: str, key: str, other: str) -> list[str]:
        mine = best[key]
        ratio = mine["seconds"] / best[other]["seconds"]
        return [title, f"{mine['seconds']:.2f} s", f"{mine['memory']:.1f} GiB", f"{ratio:.1f}×"]

    rows = []
    for kind, words in KINDS.items():
        peer = f"polars, {kind}"
        rows.append(row(f"polars reads the file, {words}", peer, peer))
        rows.append(row(f"labeltrick reads it into a graph, {words}", f"graph, {kind}", peer))
    names = best["graph, names"]["seconds"] / best["graph, numbers"]["seconds"]
    text = markdown(["", "best time", "peak memory", "relative to polars"], rows)
    note = (
        f"{given.edges:,} edges in Parquet; integers are not consecutive, strings are like "
        f"C-4711. With strings, labeltrick takes {names:.1f}× the time of integers. Best of "
        f"{given.repeats} runs, each in a new process.\n\n"
        f"Measured on: {describe_machine()}. Versions: "
        f"{versions('polars', 'numpy', 'numba')}."
    )
    print(text, note, sep="\n")
    if given.write:
        write_between_markers(
            ROOT / "docs" / "results" / "benchmarks.md", "loading", f"{text}\n{note}"
        )


if __name__ == "__main__":
    main()
