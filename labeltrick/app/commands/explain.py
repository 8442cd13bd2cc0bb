"""``labeltrick explain``: why nodes of a finished run are predicted what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options as o
from .finished import Overwrite, Run

EXAMPLE = o.examples(
    'labeltrick explain run/ --node "person 405"',
    "labeltrick explain run/ --node C-33504 --node C-11820 --top 3 --out why.csv",
    "labeltrick explain run/ --node 17 --target churn --json",
)


@o.command()
def explain(
    speaker: o.Speaker,
    run: Run,
    node: Annotated[list[str], typer.Option(help="Id of a node to explain; may be repeated.")],
    *,
    target: Annotated[
        str | None,
        typer.Option(help="Class, label or number to explain. [the predicted class, or all]"),
    ] = None,
    top: Annotated[int, typer.Option(help="Number of contributions of each kind.")] = 5,
    edges: Annotated[
        bool | None,
        typer.Option(
            "--edges/--no-edges",
            help="Whether to predict again without each edge of the node. [on small graphs]",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File for all contributions: .parquet, .csv, .tsv, .jsonl or .xlsx."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Explain predictions: which labels, columns and edges they rest on.

    A node's own label is left out: it never explains its own prediction.
    """
    from ...io.tables import write_frame
    from ..runs.explaining import explain_run

    file = None if out is None else o.new_file(out, overwrite)
    found = explain_run(run, node, target=target, top=top, edges="auto" if edges is None else edges)
    if file is not None:
        write_frame(found.to_frame("polars"), file)
    written = {} if file is None else {"out": str(file)}
    speaker.result({"explanations": [each.to_dict() for each in found], **written})
    for each in found:
        speaker.say(str(each))
        speaker.notes(list(each.notes))
    if file is not None:
        speaker.say(f"Contributions: {file}")
