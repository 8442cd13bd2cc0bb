"""Graphs larger than memory: the same work in memory, on Dask and from disk, in separate processes.

    python benchmarks/scale.py                    # all, about 40 minutes and 15 GB of disk
    python benchmarks/scale.py --share 0.01       # a hundredth of the sizes, to try it out
    python benchmarks/scale.py --write            # also update docs/guides/scale.md

A degree-corrected block model of the size of ogbn-products (2.4 M nodes, 124 M stored entries, 47
classes, 8 % labeled) runs in memory, on two Dask workers and with SciPy. A second graph, whose
folder is several times ``max_memory``, is built from a Parquet file and runs on the disk engine.
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
from scale_problem import (
    DAMPING,
    LARGE_EDGES,
    LARGE_MEMORY,
    LARGE_NODES,
    LINE,
    N_CLASSES,
    TOL,
    TURNS,
    accuracy,
    prepare,
    problem,
)
from scale_tables import arithmetic, tables

PARTS = ("memory", "scipy", "dask", "beside", "disk")
_QUIET: dict[str, Any] = {"dashboard_address": "127.0.0.1:0", "memory_limit": 0}


def three_jobs(work: Path, **engine: Any) -> dict[str, Any]:
    """Propagate labels, compute self-weights, train and predict."""
    from labeltrick import Resolvent, TrainableLabelPropagation

    graph, y, Y = problem(work)
    graph = graph.on(**engine)
    P = Resolvent(graph, DAMPING, self_loops=True)
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
    model = TrainableLabelPropagation(DAMPING, self_loops=True, progress=False)
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
        LocalCluster(2, threads_per_worker=1, **_QUIET) as cluster,
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
    """Seconds of label propagation alternately in memory and on Dask, as machine speed varies.

    47 columns take three lines of the cache, which two workers cannot share evenly; 64 take four.
    """
    from distributed import LocalCluster

    from labeltrick import Resolvent
    from labeltrick.propagation.engine.cluster.connection import close

    graph, _, Y = problem(work)
    wider = np.hstack([Y, Y[:, : 4 * LINE - N_CLASSES]])
    seconds: dict[str, dict[str, list[float]]] = {}
    with (
        LocalCluster(2, threads_per_worker=1, **_QUIET) as two,
        LocalCluster(1, threads_per_worker=2, **_QUIET) as one,
    ):
        engines: dict[str, dict[str, Any]] = {
            "memory": {"engine": "memory"},
            "two workers": {"address": two.scheduler_address},
            "one worker": {"address": one.scheduler_address},
        }
        made = {
            name: Resolvent(graph, DAMPING, self_loops=True, reorder=False, **engine)
            for name, engine in engines.items()
        }
        for turn in range(1 + TURNS):
            for F in (Y, wider):
                for name, P in made.items():
                    found = best_time(lambda P=P, F=F: P.apply(F, progress=False), 1)
                    if turn:  # the first reads the graph from disk
                        of_width = seconds.setdefault(str(F.shape[1]), {})
                        of_width.setdefault(name, []).append(found)
        close()  # our connections, before the clusters go
    return seconds


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
    from labeltrick.io.tables import build_graph_folder

    n, m = round(LARGE_NODES * share), round(LARGE_EDGES * share)
    memory = round(LARGE_MEMORY * share)
    parts = work / "edges"
    parts.mkdir()
    for k, (source, target) in enumerate(class_edges(n, m, N_CLASSES, seed=1)):
        frame = pl.DataFrame({"src": source.astype(np.int32), "dst": target.astype(np.int32)})
        frame.write_parquet(parts / f"{k:04d}.parquet", row_group_size=500_000)
    del frame, source, target
    small = Graph.from_edges([0, 1], [1, 2])  # so that compiling does not count
    Iteration(small.on("disk"), DAMPING, 2) @ np.ones((3, 16), np.float32)
    begin = time.perf_counter()
    with Watch() as idle:
        time.sleep(0.2)
    with Watch() as building:
        build_graph_folder(parts, work / "large.lt", n_nodes=n, max_memory=memory, progress=False)
    built = time.perf_counter() - begin
    graph = open_graph(work / "large.lt")
    F = np.zeros((n, 16), np.float32)
    F[np.arange(n), np.arange(n) % 16] = 1
    P = Iteration(graph.on("disk", max_memory=memory), DAMPING, 10)
    with Watch() as working:
        seconds = best_time(lambda: P.apply(F, progress=False), 2, 200.0)
    inside = Iteration(graph.on("memory"), DAMPING, 10, reorder=False)
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


def write_docs(found: dict[str, dict[str, Any]]) -> None:
    page = ROOT / "docs" / "guides" / "scale.md"
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
    parser.add_argument("--write", action="store_true", help="renew docs/guides/scale.md")
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
