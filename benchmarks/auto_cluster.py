"""AutoModel whose members are fitted by two Dask workers of one thread, against one such worker.

    python benchmarks/auto_cluster.py                       # a quarter of an hour
    python benchmarks/auto_cluster.py --nodes 2000          # smaller
    python benchmarks/auto_cluster.py --write               # also update docs/guides/scale.md

Each fit runs in a process of its own, without a budget, on one thread: here, by one worker and by
two. Workers have fitted a small model before, so that starting them and loading libraries does not
count. Predictions must be the same, bit for bit. Run it on a quiet machine with two cores: the
seconds of CPUs, which are shown too, depend less on other work.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import (
    ROOT,
    describe_machine,
    markdown,
    run_in_fresh_process,
    versions,
    write_between_markers,
)

RUNS = {"here": 0, "one worker": 1, "two workers": 2}
N_CLASSES, N_COLUMNS, N_EDGES = 8, 32, 12
WARM = 300  # nodes of the fit that does not count
PAGE = ROOT / "docs" / "guides" / "scale.md"


def problem(n: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """(graph, columns, known labels, all labels) of a block model; half of the labels are known."""
    from labeltrick import Graph

    rng = np.random.default_rng(0)
    y = rng.integers(0, N_CLASSES, n)
    source, target = rng.integers(0, n, (2, N_EDGES * n))
    near = (y[source] == y[target]) | (rng.random(N_EDGES * n) < 0.2)
    graph = Graph.from_edges(source[near], target[near], n_nodes=n)
    X = rng.normal(size=(N_CLASSES, N_COLUMNS))[y] + 3 * rng.normal(size=(n, N_COLUMNS))
    return graph, X, np.where(rng.random(n) < 0.5, y, -1), y


def fit(n: int, seed: int, **engine: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    from labeltrick import AutoModel

    graph, X, known, y = problem(n)
    model = AutoModel(progress=False, random_state=seed).fit(X, known, graph=graph.on(**engine))
    return model, known, y


def run_one(name: str, n: int) -> dict[str, Any]:
    """One fit in this process, and its times."""
    from labeltrick import set_num_threads

    set_num_threads(1)
    if not RUNS[name]:
        fit(WARM, 0)
        return _timed(n, list)
    from distributed import Client, LocalCluster

    from labeltrick.propagation.engine.cluster.connection import close

    quiet: dict[str, Any] = {"dashboard_address": "127.0.0.1:0", "memory_limit": 0}
    with (
        LocalCluster(n_workers=RUNS[name], threads_per_worker=1, **quiet) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(RUNS[name])
        address = cluster.scheduler_address
        for seed in range(2):  # so that each worker has fitted something
            fit(WARM, seed, address=address)
        found = _timed(n, lambda: list(client.run(_cpu_seconds).values()), address=address)
        close()  # our connection, before the cluster goes
        return found


def _timed(n: int, of_workers: Any, **engine: Any) -> dict[str, Any]:
    before, own = of_workers(), time.process_time()
    begin = time.perf_counter()
    model, known, y = fit(n, 0, **engine)
    seconds, own = time.perf_counter() - begin, time.process_time() - own
    rows = model.predict_proba()
    return {
        "seconds": seconds,
        "own": own,
        "workers": [after - first for after, first in zip(of_workers(), before, strict=True)],
        "members": sum(each.seconds for each in model.trials_),
        "learners": list(model.plan_.learners),
        "accuracy": float((rows.argmax(axis=1) == y)[known < 0].mean()),
        "rows": hashlib.sha256(np.ascontiguousarray(rows).data).hexdigest(),
    }


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system


def table(n: int, found: dict[str, dict[str, Any]]) -> str:
    """The times of all runs, and what they say."""
    one, two = found["one worker"], found["two workers"]
    rows = []
    for name, each in found.items():
        workers = " + ".join(f"{seconds:.0f}" for seconds in each["workers"])
        ratio = f"{each['seconds'] / one['seconds']:.2f}×"
        rows.append([name, f"{each['seconds']:.1f} s", ratio, f"{each['own']:.0f} s",
                     f"{workers} s" if workers else ""])  # fmt: skip
    header = ["", "fit", "against one worker", "CPU of this process", "CPU of workers"]
    same = "the same, bit for bit" if len({each["rows"] for each in found.values()}) == 1 else (
        "**not the same**"
    )  # fmt: skip
    note = (
        f"{n:,} nodes, {N_COLUMNS} columns, {N_CLASSES} classes, half of the labels known, no "
        f"budget; learners of the blend: {', '.join(two['learners'])}; accuracy "
        f"{two['accuracy']:.4f}. Predictions of the three fits are {same}."
    )
    return f"{markdown(header, rows)}\n{note}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help="update docs/guides/scale.md")
    parser.add_argument("--run", choices=RUNS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run_one(options.run, options.nodes)))
        return
    footer = f"Measured on: {describe_machine()}. Versions: {versions('numpy', 'distributed')}."
    found = {}
    for name in RUNS:
        arguments = ("--nodes", str(options.nodes), "--run", name)
        found[name] = json.loads(run_in_fresh_process(Path(__file__), *arguments).splitlines()[-1])
        print(f"{name}: {found[name]['seconds']:.1f} s", flush=True)
    text = f"{table(options.nodes, found)}\n{footer}\n"
    print(text)
    if options.write:
        write_between_markers(PAGE, "auto-cluster", text)


if __name__ == "__main__":
    main()
