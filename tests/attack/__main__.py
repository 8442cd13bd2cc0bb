"""``python -m tests.attack``: run the attack, or one of its cases."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from .pool import COLUMNS, FAULTS, Case, Finding, Process, Result, make_seeds, run_cases
from .seeds import MAKERS


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="how many, in all formats")
    parser.add_argument("--format", choices=MAKERS, action="append", help="these alone")
    parser.add_argument("--seed", type=int, help="run the case of this number")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--show", action="store_true", help="print the error in full")
    parser.add_argument("--keep", type=Path, help="copy the input of the case to this folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seeds", type=Path, help="folder of seeds; made if it is not there")
    return parser.parse_args()


def cases_of(formats: list[str], count: int, first: int = 0) -> list[Case]:
    """The formats in turn, so that each gets the same number."""
    return [(formats[k % len(formats)], first + k // len(formats)) for k in range(count)]


def table_of(result: Result) -> Table:
    table = Table(title="The attack")
    table.add_column("format")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    total = {name: sum(counts[name] for counts in result.counts.values()) for name in COLUMNS}
    rows = {**result.counts, "all": total}
    for name, counts in rows.items():
        cells = [f"{counts[column]:,}" for column in COLUMNS]
        cells = [
            f"[red]{cell}[/red]" if column in FAULTS and cell != "0" else cell
            for column, cell in zip(COLUMNS, cells, strict=True)
        ]
        if name == "all":
            table.add_section()
        table.add_row(name, *cells)
    return table


def report(console: Console, findings: list[Finding]) -> None:
    """One case of each cause, the most frequent first."""
    causes: dict[tuple[str, ...], list[Finding]] = {}
    for found in findings:
        kind = found.text.split(":")[0] if found.fault in ("tracebacks", "signals") else ""
        causes.setdefault((found.case[0], found.fault, kind, found.where), []).append(found)
    for each in sorted(causes.values(), key=len, reverse=True):
        first = min(each, key=lambda found: len(found.text))
        words = f"{len(each)} × {first.fault}, {first.case[0]}, {first.where}"
        print(f"\n{words}\n  {first.what}\n  {first.text[:400]}\n  {first.command}")


def run_one(console: Console, args: argparse.Namespace, seeds: Path) -> int:
    """The case of one number, with all that is known of it."""
    (name,) = args.format
    child = Process(seeds)
    try:
        what, found = child.run((name, args.seed))
        print(what)
        trace = found.pop("trace", "")
        print(found)
        if args.show and trace:
            print(trace)
        if args.keep is not None:
            shutil.copytree(child.work / "case", args.keep)
    finally:
        child.close()
    fine = found["outcome"] in ("accepted", "refused")
    return 0 if fine and not found.get("leftovers") and not found.get("changed") else 1


def main() -> int:
    args = parse()
    console = Console(width=max(Console().width, 110))
    formats = args.format or list(MAKERS)
    if args.seed is not None and len(formats) != 1:
        raise SystemExit("--seed must come with one --format")
    with tempfile.TemporaryDirectory(prefix="attack-seeds-") as temporary:
        seeds = args.seeds or Path(temporary)
        make_seeds(seeds, [name for name in formats if not (seeds / name).is_dir()])
        if args.seed is not None:
            return run_one(console, args, seeds)
        cases = cases_of(formats, args.cases, args.first)
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task("attacking", total=len(cases))
            result = run_cases(seeds, cases, formats, args.jobs, lambda: progress.advance(task))
    report(console, result.findings)
    console.print(table_of(result))
    console.print(f"{len(cases) / result.seconds:.0f} cases a second, {result.seconds:.0f} s")
    return 0 if result.clean else 1


if __name__ == "__main__":
    sys.exit(main())
