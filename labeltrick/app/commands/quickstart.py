"""``labeltrick quickstart``: the main job on data that everyone has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options as o

EXAMPLE = "Example: [bold]labeltrick quickstart --label-share 0.05 --seed 1[/bold]"


def quickstart(
    label_share: Annotated[
        float, typer.Option(help="Share of the nodes whose label is known, in (0, 1).")
    ] = 0.1,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the files and the run; a temporary one if none.")
    ] = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Write scikit-learn's digits as two files, fit them, compare, and show where the report is."""
    from ..._utils.checks import check_number
    from ..quickstart import compare, make_problem, run_on_files

    check_number("label_share", label_share, 0.0, 1.0)
    speaker = o.Speaker(json, quiet)
    problem = make_problem(label_share, seed)
    scores = compare(problem)
    score, report = run_on_files(problem, out, seed, speaker.progress)
    scores.append(score)
    speaker.result({"scores": [vars(entry) for entry in scores], "report": str(report)})
    speaker.say(
        f"{len(problem.y):,} images of digits as nodes, {problem.graph.n_edges:,} edges between "
        f"similar ones, {len(problem.train)} labeled; scored on the other {len(problem.test):,}."
    )
    best = max(entry.accuracy for entry in scores)
    rows: list[list[o.Part]] = []
    for entry in scores:
        cells = [entry.method, entry.uses, f"{entry.accuracy:.1%}", f"{entry.seconds:.2f}"]
        style = "bold green" if entry.accuracy == best else ""
        rows.append([(cell, style) for cell in cells])
    speaker.table("Digits, few labels", ["method", "uses", "accuracy", "seconds"], rows)
    speaker.say(f"Files: {report.parent.parent}")
    speaker.say(f"Report: {report}")
