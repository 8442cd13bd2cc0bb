"""Timing, memory and tables shared by the benchmarks."""

from __future__ import annotations

import functools
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numba import njit
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent


def best_time(function: Callable[[], object], repeats: int = 5, budget: float = 20.0) -> float:
    """Seconds of the best of several runs; stops once ``budget`` seconds are spent."""
    best, started = float("inf"), time.perf_counter()
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
        if time.perf_counter() - started > budget:
            break
    return best


def gather_seconds_per_row(n_rows: int, width: int, seed: int = 0) -> float:
    """Seconds to read one random row of ``width`` float32 out of ``n_rows``, all cores at work.

    The bound of any product with a sparse matrix in random order: the rows are read with
    prefetch and added in registers, nothing is scaled and next to nothing written.
    """
    from labeltrick._utils.progress import ProgressBar
    from labeltrick.propagation.engine.blocks import Block
    from labeltrick.propagation.engine.layout import WholeLayout

    entries = int(min(40_000_000, max(4_000_000, 4 * n_rows)))
    long_row = 4096
    rng = np.random.default_rng(seed)
    indices = rng.integers(0, n_rows, entries, dtype=np.int32)
    filled = min(n_rows, entries // long_row)
    indptr = np.full(n_rows + 1, filled * long_row, np.int64)
    indptr[: filled + 1] = np.arange(filled + 1) * long_row
    ones, zeros = np.ones(n_rows, np.float32), np.zeros(n_rows, np.float32)
    layout = WholeLayout(indptr, indices, None, ones, zeros, ones, ones, ones, None)
    block = Block(layout, 8, width // 8, ProgressBar(1, "gather", False))
    block.cuts = np.linspace(0, filled, 17).astype(np.int64)
    block.base[:] = 1
    block.first[:] = 0
    seconds = best_time(lambda: block.step(block.base, block.first, 1.0), 5, 10.0)
    return seconds / (filled * long_row)


@njit(nogil=True, cache=True)
def _add_at_random(cells: np.ndarray, order: np.ndarray, first: int, stop: int) -> None:
    for k in range(first, stop):
        cells[order[k], 0] += 1.0


def random_update_seconds(n_cells: int, count: int = 4_000_000) -> float:
    """Seconds to update a random one of ``n_cells`` cells of 32 bytes, on two threads with separate
    cells: the least cost of random access on a graph of that many nodes."""
    rng = np.random.default_rng(0)
    order = rng.integers(0, n_cells, count, dtype=np.int32)
    own = [np.zeros((n_cells, 4)) for _ in range(2)]

    def both() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda cells: _add_at_random(cells, order, 0, count), own))

    _add_at_random(own[0], order, 0, 1)
    return best_time(both, 3, 10.0) / (2 * count)


def peak_memory_gib() -> float:
    """Peak resident memory of this process so far.

    Read from /proc if it exists, as getrusage of a child starts at its parent's peak.
    """
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        if found:
            return int(found.group(1)) / 1024**2
    scale = 1024**2 if sys.platform != "darwin" else 1024**3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def describe_machine() -> str:
    """Processor, number of cores and load, which readers need to interpret times."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text())
        model = found.group(1) if found else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model}, {cores} cores, load {os.getloadavg()[0]:.1f} at the start"


def versions(*names: str) -> str:
    from importlib.metadata import version

    return ", ".join(f"{name} {version(name)}" for name in names)


@functools.cache
def commit() -> str:
    """The commit of the code; "+" if there are uncommitted changes other than results."""

    def git(*asked: str) -> str:
        called = ["git", "-C", str(ROOT), *asked]
        return subprocess.run(called, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":!results")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def run_in_fresh_process(script: Path, *arguments: str) -> str:
    """Standard output of a Python script run in a new process, to measure its peak memory."""
    result = subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, check=True
    )
    return result.stdout


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(*header, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *rows]) + "\n"


def write_between_markers(path: Path, name: str, text: str) -> None:
    """Replace the text between ``<!-- name:start -->`` and ``<!-- name:end -->`` in a file."""
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    content = path.read_text()
    if start not in content or end not in content:
        raise ValueError(f"{path} must contain the markers {start} and {end}. Add them first.")
    before, rest = content.split(start, 1)
    path.write_text(f"{before}{start}\n{text}\n{end}{rest.split(end, 1)[1]}")


Section = tuple[str, list[str], list[list[str]], str]


def run_parts(
    parts: dict[str, Callable[[], Section]], only: str | None, packages: Sequence[str]
) -> tuple[list[str], str]:
    """Run and print all parts, or one; returns their Markdown and a line about the machine."""
    footer = f"Measured on: {describe_machine()}. Versions: {versions(*packages)}.\n"
    print(footer)
    sections = []
    for name, run in parts.items():
        if only in (None, name):
            title, header, rows, note = run()
            show(title, header, rows)
            print(note)
            sections.append(f"### {title}\n\n{markdown(header, rows)}\n{note}\n")
    return sections, footer
