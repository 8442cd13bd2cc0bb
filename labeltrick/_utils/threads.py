"""Row-parallel calls of kernels that release the GIL.

A plain thread pool replaces numba's ``parallel=True``: it compiles many times faster, can be
called from several Python threads at once, and stops on Ctrl-C between chunks.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_left
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np

from .cpus import count_cpus

# OpenMP's threads (of torch and LightGBM) spin while they wait for each other. Beside other work, a
# fit of a minute then takes half an hour. Read when these libraries are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

_CHUNKS_PER_THREAD = 4  # a chunk with a hub may take longer: others then fill the gap
_BLOCK = 16_384  # rows
_SMALL_WORK = 15_000_000  # numbers read; below, threads cost more than they save

_n_threads: int | None = None


def get_num_threads() -> int:
    """Return the number of threads that kernels use.

    Returns
    -------
    int
        The number given to `set_num_threads`, else the environment variable
        ``LABELTRICK_NUM_THREADS``, else the number of CPUs this process may use, by its affinity
        and by the quota of its container.

    See Also
    --------
    set_num_threads : Set the number of threads.
    Graph.on : Choose where propagation runs.

    Examples
    --------
    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    >>> set_num_threads(None)
    """
    if _n_threads is not None:
        return _n_threads
    given = os.environ.get("LABELTRICK_NUM_THREADS", "")
    if given:
        if not given.isdigit() or int(given) < 1:
            raise ValueError(
                f"LABELTRICK_NUM_THREADS must be a positive integer; got {given!r}. "
                "Unset it to use all cores."
            )
        return int(given)
    return count_cpus()


def set_num_threads(n: int | None) -> None:
    """Set the number of threads that kernels use.

    Parameters
    ----------
    n : int or None
        Number of threads. None restores the default; see `get_num_threads`.

    See Also
    --------
    get_num_threads : Return the number of threads.
    Graph.on : Choose where propagation runs.

    Examples
    --------
    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(None)
    """
    global _n_threads
    if n is not None and (isinstance(n, bool) or not isinstance(n, Integral) or n < 1):
        raise ValueError(f"`n` must be a positive integer or None; got {n!r}.")
    _n_threads = None if n is None else int(n)
    _pool.cache_clear()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(get_num_threads(), thread_name_prefix="labeltrick")


if hasattr(os, "register_at_fork"):
    # A forked child inherits the pool object without its threads: waiting on it would hang.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def one_blas_thread() -> Any:
    """Context in which BLAS uses one thread, for matrix products inside chunks that already run in
    parallel: two layers of threads would compete for the cores."""
    # Looking for BLAS in all loaded libraries takes 2 ms: once for each package that brings one.
    return _blas(*(name in sys.modules for name in _WITH_BLAS)).limit(limits=1, user_api="blas")


_WITH_BLAS = ("scipy.linalg", "sklearn", "torch")


@cache
def _blas(*_: bool) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def row_cuts(indptr: np.ndarray, width: int) -> np.ndarray:
    """Bounds of row chunks of about equal work; one chunk if threads would not pay."""
    n = len(indptr) - 1
    n_threads = get_num_threads()
    work = int(indptr[-1]) + 4 * n
    if n_threads == 1 or work * width < _SMALL_WORK:
        return np.array([0, n], dtype=np.int64)
    targets = np.linspace(0, work, n_threads * _CHUNKS_PER_THREAD + 1)[1:-1]
    # The work before row i is indptr[i] + 4 i; bisection needs no temporary array of size n.
    inner = [bisect_left(range(n), t, key=lambda i: indptr[i] + 4 * i) for t in targets]
    return np.unique(np.array([0, *inner, n], dtype=np.int64))


def run_chunks(function: Callable[[int, int], Any], cuts: np.ndarray) -> list[Any]:
    """``[function(start, stop), …]`` for the chunks between ``cuts``, in parallel."""
    if len(cuts) == 2:
        return [function(int(cuts[0]), int(cuts[1]))]
    bounds = [int(c) for c in cuts]
    return list(_pool().map(function, bounds[:-1], bounds[1:]))


def run_blocks(function: Callable[[int, int], np.ndarray], n_rows: int) -> np.ndarray:
    """Rows computed by ``function(start, stop)`` in blocks of equal size, in parallel, with one
    BLAS thread each: matrix products then give the same bits on any number of threads."""
    cuts = np.append(np.arange(0, max(n_rows, 1), _BLOCK), n_rows)
    with one_blas_thread():
        return np.concatenate(run_chunks(function, cuts))
