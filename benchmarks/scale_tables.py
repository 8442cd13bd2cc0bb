"""What `scale.py` found, as tables: measured, and arithmetic for larger graphs."""

from __future__ import annotations

from statistics import median
from typing import Any

from measure import markdown
from scale_problem import DAMPING, LABELED, LARGER, LINE, N_CLASSES, N_SPLIT, TOL

Table = tuple[str, list[str], list[list[str]], str]  # title, header, rows, a note below


def moved_bytes(nnz: int, n: int, width: int, steps: int) -> float:
    """What propagation reads and writes: for an entry its number and a row; for a node two rows
    read and one written."""
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
        f"{n:,} nodes, {nnz:,} stored entries, {N_CLASSES} classes, {LABELED:.0%} labeled; built "
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
    return [(*first, rows, note), in_turn(beside), (*second, streamed, told)]


def in_turn(beside: dict[str, dict[str, list[float]]]) -> Table:
    """Label propagation in memory and on Dask, one after the other, several times."""
    rows = []
    for width, seconds in beside.items():
        row = [f"{width} columns, {-(-int(width) // LINE)} cache lines", _spread(seconds["memory"])]
        for name in ("two workers", "one worker"):
            row += [_spread(seconds[name]), _ratios(seconds[name], seconds["memory"])]
        rows.append(row)
    header = ["", "memory", "2 workers of one thread", "ratio", "1 worker of two threads", "ratio"]
    n_turns = len(next(iter(beside.values()))["memory"])
    note = (
        f"Label propagation alone, memory and Dask one after the other, {n_turns} times: the "
        "median (the least – the most) of the seconds, and of the ratio within a turn. The first "
        "row of the table above is of the same turns."
    )
    return "Label propagation in turn", header, rows, note


def _spread(values: list[float], unit: str = " s", digits: int = 1) -> str:
    middle, low, high = (f"{x:.{digits}f}" for x in (median(values), min(values), max(values)))
    return f"{middle}{unit} ({low} – {high})"


def _ratios(values: list[float], others: list[float]) -> str:
    return _spread([a / b for a, b in zip(values, others, strict=True)], "×", 2)


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
