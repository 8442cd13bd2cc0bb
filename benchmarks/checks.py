"""Time to check a sparse matrix, as a share of the time to build a graph from it.

python benchmarks/checks.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick._utils.sparse_checks import check_sparse

SIZES = [(20_000, 100_000), (170_000, 2_300_000), (1_000_000, 20_000_000)]


def best(run: Callable[[], object], repeats: int = 7) -> float:
    """Seconds of the fastest of several runs."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    for n_nodes, nnz in SIZES:
        rows, columns = rng.integers(0, n_nodes, (2, nnz))
        matrix = sp.coo_array((np.ones(nnz), (rows, columns)), shape=(n_nodes, n_nodes)).tocsr()
        build = best(lambda: Graph.from_scipy(matrix), 3)  # noqa: B023
        check = best(lambda: check_sparse("matrix", matrix))  # noqa: B023
        print(
            f"{n_nodes:>9,} nodes, {matrix.nnz:>10,} entries: building {1e3 * build:8.1f} ms, "
            f"of which the check takes {1e3 * check:6.2f} ms ({check / build:.2%})"
        )


if __name__ == "__main__":
    main()
