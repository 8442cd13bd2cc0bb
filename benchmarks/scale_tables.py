"""The results of `scale.py` as tables, and estimates for larger graphs."""

from __future__ import annotations

from statistics import median
from typing import Any

from measure import markdown
from scale_problem import DAMPING, LABELED, LARGER, LINE, N_CLASSES, N_SPLIT, TOL

Table = tuple[str, list[str], list[list[str]], str]  # title, header, rows, a note below


def moved_bytes(nnz: int, n: int, width: int, steps: int) -> float:
    """Bytes that propagation reads and writes: per entry an index and a row, per node two rows read
    and one written."""
    return steps * (nnz * (4 + 4 * width) + 3 * n * 4 * width)


def tables(found: dict[str, dict[str, Any]]) -> list[Table]:
    memory, scipy, dask, disk = (found[name] for name in ("memory", "scipy", "dask", "disk"))
    beside = found["beside"]
    jobs = (
        ("label propagation", "propagation"),
        ("self-weights", "self-weights"),
        ("trainable label propagation, fit and predict", "trainable"),
    )
    turns = beside[str(N_CLASSES)]
    memory = memory | {"propagation": median(turns["memory"])}
    dask = dask | {"propagation": median(turns["two workers"])}
    rows = [
        [title, f"{memory[key]:.1f} s", f"{dask[key]:.1f} s", f"{dask[key] / memory[key]:.2f}×"]
        for title, key in jobs
    ]
    total = [sum(side[key] for _, key in jobs) for side in (memory, dask)]
    rows.append(["total", f"{total[0]:.1f} s", f"{total[1]:.1f} s", f"{total[1] / total[0]:.2f}×"])
    workers = " + ".join(f"{peak:.1f}" for peak in dask["workers"])
    rows.append(
        ["peak memory", f"{memory['peak']:.1f} GiB", f"{dask['peak']:.1f} + {workers} GiB", ""]
    )
    steps, nnz, n = memory["steps"], memory["nnz"], memory["nodes"]
    moved = moved_bytes(nnz, n, 48, steps)
    scipy_all = scipy["product"] * steps
    begun = [one["first propagation"] for one in (memory, dask)]
    note = (
        f"{n:,} nodes, {nnz:,} stored entries, {N_CLASSES} classes, {LABELED:.0%} labeled; built "
        f"in {found['prepare']['build']:.0f} s. Label propagation uses float32 and {steps} "
        f"products. It moves {moved / 1e9:.0f} GB, computed from the sizes, at "
        f"{moved / 1e9 / memory['propagation']:.1f} GB/s, and takes "
        f"{1e9 * memory['propagation'] / steps / nnz:.2f} ns per entry and step. The first run, "
        "which also reads the graph from disk and reorders its nodes (on Dask, in each worker), "
        f"takes {begun[0]:.1f} s and {begun[1]:.1f} s ({begun[1] / begun[0]:.2f}×). One product by "
        f"SciPy takes {scipy['product']:.1f} s, so that the same number of products takes "
        f"{scipy_all:.0f} s, **{scipy_all / memory['propagation']:.1f}×** as long "
        f"({scipy['peak']:.1f} GiB, and {scipy['made']:.0f} s to build the matrix). Self-weights "
        f"are certified to {TOL:g}. Starting two workers takes another {dask['start']:.1f} s, and "
        f"{2 * n * 4 * N_CLASSES / 1e9:.1f} GB pass through files in each propagation. The largest "
        f"difference between the two results is {dask['gap']:.1g}. Accuracy on the unlabeled "
        f"nodes: {memory['accuracy, plain']:.3f} plain, {memory['accuracy']:.3f} trained, "
        f"{dask['accuracy']:.3f} trained on Dask."
    )
    first = ("In memory and on Dask, two cores", ["", "in memory", "Dask, 2 workers", "ratio"])
    ratio = disk["folder"] / disk["max_memory"]
    entries = 10 * disk["nnz"]
    streamed = [
        ["building from Parquet", f"{disk['build']:.0f} s", _gb(disk["build own"])],
        ["10 steps of 16 columns", f"{disk['propagation']:.1f} s", _gb(disk["propagation own"])],
        ["the same in memory", f"{disk['in memory']:.1f} s", ""],
    ]
    streamed_note = (
        f"{disk['nodes']:,} nodes, {disk['nnz']:,} stored entries: a folder of "
        f"{_gb(disk['folder'])}, {ratio:.1f} times `max_memory` of {_gb(disk['max_memory'])}. "
        f"A step takes {1e9 * disk['propagation'] / entries:.2f} ns per entry from disk (or from "
        f"the system's cache, if the file fits), and {1e9 * disk['in memory'] / entries:.2f} ns in "
        "memory. Including the pages of mapped files, which the system can reclaim, the peak was "
        f"{_gb(disk['propagation all'])}. The results are "
        f"{'identical, bit for bit' if disk['same'] else 'NOT identical'}."
    )
    second = ("From disk", ["", "time", "memory used"])
    return [(*first, rows, note), in_turn(beside), (*second, streamed, streamed_note)]


def in_turn(beside: dict[str, dict[str, list[float]]]) -> Table:
    """Label propagation alternately in memory and on Dask, several times."""
    rows = []
    for width, seconds in beside.items():
        row = [f"{width} columns, {-(-int(width) // LINE)} cache lines", _spread(seconds["memory"])]
        for name in ("two workers", "one worker"):
            row += [_spread(seconds[name]), _ratios(seconds[name], seconds["memory"])]
        rows.append(row)
    header = ["", "in memory", "2 workers, 1 thread each", "ratio", "1 worker, 2 threads", "ratio"]
    n_turns = len(next(iter(beside.values()))["memory"])
    note = (
        f"Label propagation, alternately in memory and on Dask, {n_turns} times: the median (and "
        "range) of the seconds, and of the ratio within a round. The first row of the table above "
        "is from the same rounds."
    )
    return "Label propagation, alternating", header, rows, note


def _spread(values: list[float], unit: str = " s", digits: int = 1) -> str:
    middle, low, high = (f"{x:.{digits}f}" for x in (median(values), min(values), max(values)))
    return f"{middle}{unit} ({low} – {high})"


def _ratios(values: list[float], others: list[float]) -> str:
    return _spread([a / b for a, b in zip(values, others, strict=True)], "×", 2)


def arithmetic(found: dict[str, dict[str, Any]]) -> str:
    """Estimated memory, time and traffic of larger graphs, from the measured time per entry."""
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
    header = ["", "graph", "memory per worker, columns split", "time per step and cache line",
              "time for all columns", "traffic per line, in and out",
              f"memory per worker, rows split over {N_SPLIT}",
              "time per step and line, rows split"]  # fmt: skip
    note = (
        f"Estimated from {1e9 * seconds:.2f} ns per entry, step and line on two cores, and "
        f"{memory['steps']} products at λ = {DAMPING}."
    )
    return f"{markdown(header, rows)}\n{note}\n"


def _round(size: float) -> str:
    return f"{size / 1e9:,.0f} GB" if size > 9.5e9 else f"{size / 1e9:.2g} GB"


def _gb(size: float) -> str:
    return f"{size / 1e9:.2f} GB"
