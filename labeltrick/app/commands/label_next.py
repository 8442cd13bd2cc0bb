"""``labeltrick label-next``: the nodes to label next."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from . import options as o

EXAMPLE = "Example: [bold]labeltrick label-next run/ --count 20 --out to-label.csv[/bold]"


@o.command()
def label_next(
    speaker: o.Speaker,
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    out: Annotated[Path, typer.Option(help="File to fill in: .csv, .tsv, .parquet or .jsonl.")],
    count: Annotated[int, typer.Option(help="Number of nodes.")] = 20,
    by: Annotated[
        str,
        typer.Option(help="reach (uncertain nodes near other uncertain nodes) or uncertainty."),
    ] = "reach",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    seed: o.Seed = 0,
) -> None:
    """Write the unlabeled nodes whose labels would help most, as a table to fill in."""
    from ...io.tables import write_frame
    from ..runs.labeling import nodes_to_label

    target = o.new_file(out, overwrite)
    frame = nodes_to_label(run, count, by)
    write_frame(frame, target)
    speaker.result({"out": str(target), "ids": frame.to_series(0).to_list()})
    rows = [[str(value) for value in row] for row in frame.head(10).rows()]
    speaker.table(f"Label these {frame.height} nodes", frame.columns, rows)
    command = shlex.join(["labeltrick", "predict", str(run), "--labels", str(target)])
    speaker.say(f"Fill it in, then: {command} --out …")
