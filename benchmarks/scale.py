"""Past one machine's memory: the same work in memory, on Dask and from disk, each in a process of
its own.

    python benchmarks/scale.py                    # all, about half an hour and 15 GB of disk
    python benchmarks/scale.py --share 0.01       # a hundredth of the sizes, to try it out
    python benchmarks/scale.py --write            # also renew docs/scale.md

A degree-corrected block model of the size of ogbn-products (2.4 M nodes, 124 M stored entries, 47
classes, 8 % labelled) in memory and on two Dask workers, beside SciPy; and one whose folder is
several times ``max_memory``, from a Parquet file of edges through the builder and the disk engine.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from generate import class_edges
from measure import (
    ROOT,
    best_time,
    describe_machine,
    markdown,
    peak_memory_gib,
    run_in_fresh_process,
    show,
    versions,
    write_between_markers,
)

N_NODES, N_EDGES, N_CLASSES, LABELLED = 2_449_029, 63_000_000, 47, 0.08
DAMPING, TOL = 0.6, 1e-4
LARGE_NODES, LARGE_EDGES, LARGE_MEMORY = 1_000_000, 210_000_000, 400_000_000
LINE, N_SPLIT = 16, 16  # columns of a cache line of float32; workers that rows are split over
LARGER = (  # name, nodes, stored entries, columns
    ("ogbn-products: 2.4 M nodes, 62 M edges", 2_449_029, 123_718_280, 47),
    ("ogbn-papers100M: 111 M nodes, 1.6 G edges", 111_059_956, 2 * 1_615_685_872, 172),
    ("10⁹ nodes, 10¹⁰ edges", 10**9, 2 * 10**10, 100),
)
PARTS = ("memory", "scipy", "dask", "beside", "disk")


def problem(work: Path) -> tuple[Any, np.ndarray, np.ndarray]:
    """(graph, labels with −1 where unknown, one-hot inputs)."""
    from labeltrick import open_graph

    graph = open_graph(work / "products.lt")
    y = (np.arange(graph.n_nodes) % N_CLASSES).astype(np.int64)
    known = np.random.default_rng(0).random(graph.n_nodes) < LABELLED
    Y = np.zeros((graph.n_nodes, N_CLASSES), np.float32)
    Y[known, y[known]] = 1
    return graph, np.where(known, y, -1), Y


def accuracy(predicted: np.ndarray, given: np.ndarray) -> float:
    truth = np.arange(len(given)) % N_CLASSES
    hidden = given < 0
    return float((predicted == truth)[hidden].mean())


def prepare(work: Path, share: float) -> dict[str, float]:
    from labeltrick import build_graph

    n, m = round(N_NODES * share), round(N_EDGES * share)
    begin = time.perf_counter()
    build_graph(
        lambda: ((*ends, None) for ends in class_edges(n, m, N_CLASSES)),
        work / "products.lt",
        n_nodes=n,
        max_memory="3GB",
        progress=False,
    )
    return {"build": time.perf_counter() - begin}


def three_jobs(work: Path, **engine: Any) -> dict[str, Any]:
    """Propagate the labels, weigh the labelled nodes, train and predict."""
    from labeltrick import Resolvent, TrainableLabelPropagation

    graph, y, Y = problem(work)
    P = Resolvent(graph, DAMPING, self_loops=True, **engine)
    nodes = np.flatnonzero(y >= 0)
    found: dict[str, Any] = {"nnz": graph.nnz, "nodes": graph.n_nodes}
    begin = time.perf_counter()
    first = P.apply(Y, progress=False)
    found["first propagation"] = time.perf_counter() - begin
    found["propagation"] = best_time(lambda: P.apply(Y, progress=False), 3, 120.0)
    found["steps"] = P.last_solve.n_steps
    found["accuracy, plain"] = accuracy(first.argmax(axis=1), y)
    begin = time.perf_counter()
    C = P.self_weight(nodes, tol=TOL, progress=False)
    found["self-weights"] = time.perf_counter() - begin
    found["largest bound"] = float(C.error_bound.max())
    begin = time.perf_counter()
    model = TrainableLabelPropagation(DAMPING, self_loops=True, progress=False, **engine)
    predicted = model.fit(None, y, graph=graph).predict()
    found["trainable"] = time.perf_counter() - begin
    found["accuracy"] = accuracy(predicted, y)
    np.save(work / f"result-{engine['engine']}.npy", first)
    found["peak"] = peak_memory_gib()
    return found


def run_memory(work: Path, share: float) -> dict[str, Any]:
    return three_jobs(work, engine="memory")


def run_dask(work: Path, share: float) -> dict[str, Any]:
    from distributed import Client, LocalCluster

    begin = time.perf_counter()
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        started = time.perf_counter() - begin
        found = three_jobs(work, engine="dask", address=cluster.scheduler_address)
        peaks = client.run(_read_peak)
    memory = np.load(work / "result-memory.npy", mmap_mode="r")
    gap = np.abs(np.load(work / "result-dask.npy", mmap_mode="r") - memory).max()
    return {**found, "start": started, "workers": list(peaks.values()), "gap": float(gap)}


def run_beside(work: Path, share: float) -> dict[str, Any]:
    """Label propagation in memory and on two workers in turn: the machine's speed changes."""
    from distributed import LocalCluster

    from labeltrick import Resolvent

    graph, _, Y = problem(work)
    best = {"memory": float("inf"), "dask": float("inf")}
    with LocalCluster(2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster:
        engines: dict[str, dict[str, Any]] = {
            "memory": {"engine": "memory"},
            "dask": {"address": cluster.scheduler_address},
        }
        for turn in range(4):
            for name, engine in engines.items():
                P = Resolvent(graph, DAMPING, self_loops=True, reorder=False, **engine)
                seconds = best_time(lambda P=P: P.apply(Y, progress=False), 1)
                if turn:  # the first reads the graph from disk
                    best[name] = min(best[name], seconds)
    return best


def _read_peak() -> float:
    text = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", text)[1]) / 1024**2  # type: ignore[index]


def run_scipy(work: Path, share: float) -> dict[str, Any]:
    from peers import scipy_operator

    graph, _, Y = problem(work)
    begin = time.perf_counter()
    S = scipy_operator(graph, True)
    made = time.perf_counter() - begin
    return {"made": made, "product": best_time(lambda: S @ Y, 3, 60.0), "peak": peak_memory_gib()}


class Watch:
    """Peak of a process' memory: its own (anonymous), and with the pages of mapped files."""

    def __enter__(self) -> Watch:
        self.own = self.all = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._stop.wait(0.02):
            text = Path("/proc/self/status").read_text()
            kinds = {k: int(v) for k, v in re.findall(r"Rss(\w+):\s*(\d+) kB", text)}
            self.own = max(self.own, kinds["Anon"] * 1024)
            self.all = max(self.all, sum(kinds.values()) * 1024)

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()


def run_disk(work: Path, share: float) -> dict[str, Any]:
    import polars as pl

    from labeltrick import Graph, Iteration, open_graph
    from labeltrick.tables import build_graph_folder

    n, m = round(LARGE_NODES * share), round(LARGE_EDGES * share)
    memory = round(LARGE_MEMORY * share)
    parts = work / "edges"
    parts.mkdir()
    for k, (source, target) in enumerate(class_edges(n, m, N_CLASSES, seed=1)):
        frame = pl.DataFrame({"src": source.astype(np.int32), "dst": target.astype(np.int32)})
        frame.write_parquet(parts / f"{k:04d}.parquet", row_group_size=500_000)
    del frame, source, target
    small = Graph.from_edges([0, 1], [1, 2])  # so that compiling does not count
    Iteration(small, DAMPING, 2, engine="disk") @ np.ones((3, 16), np.float32)
    begin = time.perf_counter()
    with Watch() as idle:
        time.sleep(0.2)
    with Watch() as building:
        build_graph_folder(parts, work / "large.lt", n_nodes=n, max_memory=memory, progress=False)
    built = time.perf_counter() - begin
    graph = open_graph(work / "large.lt")
    F = np.zeros((n, 16), np.float32)
    F[np.arange(n), np.arange(n) % 16] = 1
    P = Iteration(graph, DAMPING, 10, engine="disk", max_memory=memory)
    with Watch() as working:
        seconds = best_time(lambda: P.apply(F, progress=False), 2, 200.0)
    inside = Iteration(graph, DAMPING, 10, engine="memory", reorder=False)
    same = np.array_equal(P.apply(F, progress=False), inside.apply(F, progress=False))
    return {
        "nodes": n,
        "nnz": graph.nnz,
        "folder": graph.nbytes,
        "max_memory": memory,
        "build": built,
        "build own": building.own - idle.own,
        "propagation": seconds,
        "propagation own": working.own - idle.own,
        "propagation all": working.all - idle.all,
        "in memory": best_time(lambda: inside.apply(F, progress=False), 2, 200.0),
        "same": same,
    }


def moved_bytes(nnz: int, n: int, width: int, steps: int) -> float:
    """What propagation reads and writes: for an entry its number and a row; for a node two rows
    read and one written."""
    return steps * (nnz * (4 + 4 * width) + 3 * n * 4 * width)


def tables(found: dict[str, dict[str, Any]]) -> list[tuple[str, list[str], list[list[str]], str]]:
    memory, scipy, dask, beside, disk = (found[name] for name in PARTS)
    jobs = (
        ("label propagation", "propagation"),
        ("self-weights", "self-weights"),
        ("trainable label propagation, fit and predict", "trainable"),
    )
    # Of the run in which both took turns.
    memory, dask = (
        memory | {"propagation": beside["memory"]},
        dask | {"propagation": beside["dask"]},
    )
    rows = [
        [title, f"{memory[key]:.1f} s", f"{dask[key]:.1f} s", f"{dask[key] / memory[key]:.2f}×"]
        for title, key in jobs
    ]
    total = [sum(side[key] for _, key in jobs) for side in (memory, dask)]
    rows.append(
        ["together", f"{total[0]:.1f} s", f"{total[1]:.1f} s", f"{total[1] / total[0]:.2f}×"]
    )
    workers = " + ".join(f"{peak:.1f}" for peak in dask["workers"])
    rows.append(
        ["peak memory", f"{memory['peak']:.1f} GiB", f"{dask['peak']:.1f} + {workers} GiB", ""]
    )
    steps, nnz, n = memory["steps"], memory["nnz"], memory["nodes"]
    moved = moved_bytes(nnz, n, 48, steps)
    scipy_all = scipy["product"] * steps
    begun = [one["first propagation"] for one in (memory, dask)]
    note = (
        f"{n:,} nodes, {nnz:,} stored entries, {N_CLASSES} classes, {LABELLED:.0%} labelled; built "
        f"in {found['prepare']['build']:.0f} s. Label propagation: float32, {steps} products, "
        f"nodes in the order given, {moved / 1e9:.0f} GB moved by the sizes, "
        f"{moved / 1e9 / memory['propagation']:.1f} GB/s, "
        f"{1e9 * memory['propagation'] / steps / nnz:.2f} ns an entry and step. The first time, "
        "with the graph read from disk and the nodes put in a better order, on Dask by each worker "
        f"for itself, {begun[0]:.1f} s and {begun[1]:.1f} s ({begun[1] / begun[0]:.2f}×). SciPy: "
        f"one product {scipy['product']:.1f} s, so {scipy_all:.0f} s for as many: "
        f"**{scipy_all / memory['propagation']:.1f}×** the time ({scipy['peak']:.1f} GiB, and "
        f"{scipy['made']:.0f} s to make the matrix). Self-weights "
        f"certified to {TOL:g}. Starting two workers took {dask['start']:.1f} s more; "
        f"{2 * n * 4 * N_CLASSES / 1e9:.1f} GB go through files for each propagation. Largest "
        f"difference between the two results: {dask['gap']:.1g}. Accuracy on the nodes without "
        f"label: {memory['accuracy, plain']:.3f} plain, {memory['accuracy']:.3f} trained, "
        f"{dask['accuracy']:.3f} trained on Dask."
    )
    first = ("In memory and on Dask, two cores", ["", "memory", "Dask, 2 workers", "ratio"])
    ratio = disk["folder"] / disk["max_memory"]
    entries = 10 * disk["nnz"]
    streamed = [
        ["build from Parquet", f"{disk['build']:.0f} s", _gb(disk["build own"])],
        ["10 steps of 16 columns", f"{disk['propagation']:.1f} s", _gb(disk["propagation own"])],
        ["the same in memory", f"{disk['in memory']:.1f} s", ""],
    ]
    told = (
        f"{disk['nodes']:,} nodes, {disk['nnz']:,} stored entries: a folder of "
        f"{_gb(disk['folder'])}, {ratio:.1f} times `max_memory` of {_gb(disk['max_memory'])}. "
        f"{1e9 * disk['propagation'] / entries:.2f} ns an entry and step from disk (from the "
        f"system's cache, where there is room), {1e9 * disk['in memory'] / entries:.2f} in memory. "
        f"With the pages of mapped files, which the system may take back, the peak was "
        f"{_gb(disk['propagation all'])}. The results are "
        f"{'the same, bit for bit' if disk['same'] else 'NOT the same'}."
    )
    second = ("From disk", ["", "time", "memory taken"])
    return [(*first, rows, note), (*second, streamed, told)]


def arithmetic(found: dict[str, dict[str, Any]]) -> str:
    """Memory, time and traffic of larger graphs, by the cost of an entry measured here."""
    memory = found["memory"]
    seconds = memory["propagation"] / (memory["steps"] * memory["nnz"] * -(-N_CLASSES // LINE))
    rows = []
    for name, n, entries, columns in LARGER:
        graph = 4 * entries + 8 * n + 3 * 4 * n
        line = n * LINE * 4
        step = entries * seconds
        lines = -(-columns // LINE)
        whole = lines * memory["steps"] * step
        split = graph / N_SPLIT + line + 3 * line / N_SPLIT
        rows.append(
            [
                name,
                _round(graph),
                _round(graph + 3 * line),
                f"{step:.2g} s",
                f"{whole / 60:,.1f} min ({lines} lines)",
                _round(2 * line),
                _round(split),
                f"{step / N_SPLIT:.2g} s + {_round(line)} read",
            ]
        )
    header = ["", "graph", "memory a worker, columns", "time a step and line", "all columns",
              "traffic a line, in and out", f"memory a worker, rows over {N_SPLIT}",
              "step and line, rows"]  # fmt: skip
    note = (
        f"{1e9 * seconds:.2f} ns an entry, step and line on two cores; {memory['steps']} products "
        f"at λ = {DAMPING}."
    )
    return f"{markdown(header, rows)}\n{note}\n"


def _round(size: float) -> str:
    return f"{size / 1e9:,.0f} GB" if size > 9.5e9 else f"{size / 1e9:.2g} GB"


def _gb(size: float) -> str:
    return f"{size / 1e9:.2f} GB"


def write_docs(found: dict[str, dict[str, Any]]) -> None:
    page = ROOT / "docs" / "scale.md"
    sections = [f"### {title}\n\n{markdown(header, rows)}\n{note}\n"
                for title, header, rows, note in tables(found)]  # fmt: skip
    used = versions("numpy", "scipy", "numba", "distributed", "polars")
    sections.append(f"Measured on: {found['machine']['text']}. Versions: {used}.\n")
    write_between_markers(page, "scale", "\n".join(sections))
    write_between_markers(page, "arithmetic", arithmetic(found))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=1.0, help="of the sizes")
    parser.add_argument("--work", type=Path, help="folder for graphs; kept, if given")
    parser.add_argument("--run", choices=("prepare", *PARTS), help="one part, in this process")
    parser.add_argument("--write", action="store_true", help="renew docs/scale.md")
    parser.add_argument("--again", type=Path, help="figures found before, to write out")
    given = parser.parse_args()
    if given.again:
        write_docs(json.loads(given.again.read_text()))
        return
    if given.run:
        print(json.dumps(globals().get(f"run_{given.run}", prepare)(given.work, given.share)))
        return
    work = given.work or Path(tempfile.mkdtemp(prefix="labeltrick-scale-"))
    work.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, Any]] = {"machine": {"text": describe_machine()}}
    try:
        for part in ("prepare", *PARTS):
            options = ("--run", part, "--work", str(work), "--share", str(given.share))
            out = run_in_fresh_process(Path(__file__), *options)
            found[part] = json.loads(out.splitlines()[-1])
            print(part, json.dumps(found[part]), flush=True)
        (work / "found.json").write_text(json.dumps(found))
    finally:
        if given.work is None:
            shutil.rmtree(work)
    for *shown, note in tables(found):
        show(*shown)
        print(note)
    print(arithmetic(found))
    if given.write:
        write_docs(found)


if __name__ == "__main__":
    main()
