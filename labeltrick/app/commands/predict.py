"""``labeltrick predict``: new nodes, new edges, newly known labels, without training again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

EXAMPLE = (
    "Example: [bold]labeltrick predict run/ --edges new-edges.csv --nodes new-nodes.csv "
    "--out new.parquet[/bold]"
)


def predict(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    out: Annotated[
        Path, typer.Option(help="File of the predictions: .parquet, .csv, .tsv or .jsonl.")
    ],
    edges: o.Edges = None,
    nodes: o.Nodes = None,
    labels: o.Labels = None,
    unknown_nodes: o.UnknownNodes = "error",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Predict for other tables with the columns of the fit; labels that they hold are used.

    Without --edges and --nodes: those of the fit, with --labels as further inputs.
    """
    from ...io.tables import write_frame
    from ..runs.applying import apply_run

    speaker = o.Speaker(json, quiet)
    target = Path(out).expanduser()
    if target.exists() and not overwrite:
        raise FileExistsError(f"`--out` must be a new file; '{target}' exists. Pass --overwrite.")
    frame, notes = apply_run(run, edges, nodes, labels, unknown_nodes, show=speaker.say)
    write_frame(frame, target)
    answer: dict[str, Any] = {"out": str(target), "nodes": frame.height, "notes": notes}
    speaker.result(answer)
    for note in notes:
        speaker.say(f"note: {note}")
    speaker.say(f"{frame.height:,} predictions: {target}")
