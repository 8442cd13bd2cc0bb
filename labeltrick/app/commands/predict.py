"""``labeltrick predict``: predictions for new nodes, edges and labels, without a new fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

EXAMPLE = (
    "Example: [bold]labeltrick predict run/ --edges new-edges.csv --nodes new-nodes.csv "
    "--out new.parquet[/bold]"
)


@o.command()
def predict(
    speaker: o.Speaker,
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    out: Annotated[
        Path, typer.Option(help="File for the predictions: .parquet, .csv, .tsv or .jsonl.")
    ],
    edges: o.Edges = None,
    nodes: o.Nodes = None,
    labels: o.Labels = None,
    unknown_nodes: o.UnknownNodes = "error",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    seed: o.Seed = 0,
) -> None:
    """Predict the nodes of other tables, which must have the columns of the fit.

    Labels in the tables are used as inputs. Without --edges and --nodes, the files of the fit are
    used, with --labels as additional labels.
    """
    from ...io.tables import write_frame
    from ..runs.applying import apply_run

    target = o.new_file(out, overwrite)
    frame, notes = apply_run(run, edges, nodes, labels, unknown_nodes, show=speaker.say)
    write_frame(frame, target)
    answer: dict[str, Any] = {"out": str(target), "nodes": frame.height, "notes": notes}
    speaker.result(answer)
    for note in notes:
        speaker.say(f"note: {note}")
    speaker.say(f"{frame.height:,} predictions: {target}")
