"""How much longer a fit takes beside busy processes than its fair share of the machine.

    python benchmarks/busy.py                          # alone, then beside 4 loops
    python benchmarks/busy.py --nodes 2000 --busy 2    # smaller

Beside B busy processes on C cores, one process gets C / (B + 1) cores: a fit that takes a time t
on its own should take about t·(B + 1) / C. The ratio to that time is printed. It is above 1 for
work on several threads that wait for each other, and far above 1 if they spin. Run it on a quiet
machine: other work makes the first fit slower, and the ratio too small.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from measure import describe_machine

FIT = """
import sys, time
import numpy as np
from labeltrick import AutoModel, Graph
n = int(sys.argv[1])
rng = np.random.default_rng(0)
y = rng.integers(0, 8, n)
source, target = rng.integers(0, n, (2, 12 * n))
near = (y[source] == y[target]) | (rng.random(12 * n) < 0.2)
graph = Graph.from_edges(source[near], target[near], n_nodes=n)
X = rng.normal(size=(8, 32))[y] + 3 * rng.normal(size=(n, 32))
known = np.where(rng.random(n) < 0.5, y, -1)
wall, own = time.perf_counter(), time.process_time()
model = AutoModel(progress=False).fit(X, known, graph=graph)
wall, own = time.perf_counter() - wall, time.process_time() - own
print(wall, own, (model.predict() == y)[known < 0].mean())
"""


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that only compute, for as long as this is active."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(1.0 if count else 0.0)
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def fit(n_nodes: int, n_busy: int) -> tuple[float, float, float]:
    """(seconds, seconds of CPUs, accuracy) of a fit in a process of its own."""
    with busy(n_busy):
        done = subprocess.run(
            [sys.executable, "-c", FIT, str(n_nodes)], capture_output=True, text=True, check=True
        )
    wall, own, accuracy = map(float, done.stdout.split())
    return wall, own, accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--busy", type=int, default=4)
    options = parser.parse_args()
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(describe_machine())
    print(f"load before: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    quiet, own, accuracy = fit(options.nodes, 0)
    print(f"alone: {quiet:.1f} s ({own:.1f} s of CPUs), accuracy {accuracy:.4f}", flush=True)
    beside, own, accuracy = fit(options.nodes, options.busy)
    print(f"beside {options.busy} loops: {beside:.1f} s ({own:.1f} s), accuracy {accuracy:.4f}")
    fair = quiet * max(1.0, (options.busy + 1) / (n_cores or 1))
    print(f"fair share: {fair:.1f} s; ratio {beside / fair:.2f}")


if __name__ == "__main__":
    main()
