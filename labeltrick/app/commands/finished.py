"""``labeltrick predict``, ``evaluate`` and ``label-next``: what to do with a finished run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

PREDICT_EXAMPLE = o.examples(
    "labeltrick predict run/ --nodes new-nodes.csv --edges new-edges.csv --out new.parquet"
)
EVALUATE_EXAMPLE = o.examples("labeltrick evaluate run/ --nodes truth.csv --target label")
LABEL_EXAMPLE = o.examples("labeltrick label-next run/ --count 20 --out to-label.csv")

Run = Annotated[Path, typer.Argument(help="Folder of a finished run.")]
Renamed = Annotated[
    str | None,
    typer.Option(help="Its column in the new tables, if it is not named as in the run."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file.")]


@o.command()
def predict(
    speaker: o.Speaker,
    run: Run,
    out: Annotated[
        Path, typer.Option(help="File for the predictions: .parquet, .csv, .tsv, .jsonl or .xlsx.")
    ],
    nodes: Annotated[
        list[str] | None, typer.Option(help="Table of new nodes, or of rows to replace.")
    ] = None,
    edges: Annotated[list[str] | None, typer.Option(help="Table of new edges.")] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(help="Table of new labels, as label-next writes; may be repeated."),
    ] = None,
    *,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Use only the given files, not the tables of the run."),
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Write all nodes, not only new and replaced ones.")
    ] = False,
    unknown_nodes: Annotated[
        str | None,
        typer.Option(help="Edges to unknown nodes: error, add or drop. [as in the run]"),
    ] = None,
    id: Renamed = None,
    src: Renamed = None,
    dst: Renamed = None,
    weight: Renamed = None,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    missing: list[str] | None,
    overwrite: Overwrite = False,
) -> None:
    """Predict with new nodes, edges and labels, without training again.

    They are added to the tables of the run: a node that the run knows gets the new row in place
    of its old one. New nodes need the columns of the fit.
    """
    from ...io.tables import write_frame
    from ..runs.applying import Given, apply_run

    target = o.new_file(out, overwrite)
    written = o.written_as(delimiter, encoding, decimal, missing)
    columns: dict[str, Any] = {"id": id, "src": src, "dst": dst, "weight": weight}
    given = Given(
        edges or None, nodes or None, labels or None, unknown_nodes, **columns, written=written
    )
    frame, notes = apply_run(run, given, alone=replace, everything=everything, show=speaker.say)
    write_frame(frame, target)
    speaker.result({"out": str(target), "nodes": frame.height, "notes": notes})
    speaker.notes(notes)
    what = "1 prediction" if frame.height == 1 else f"{frame.height:,} predictions"
    speaker.say(f"{what}: {target}")


@o.command()
def evaluate(
    speaker: o.Speaker,
    run: Run,
    nodes: list[str] | None,
    target: list[str] | None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Predictions that predict wrote later, to score instead of the fit's."),
    ] = None,
    *,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    missing: list[str] | None,
) -> None:
    """Score the predictions of a run on nodes whose labels it did not know.

    Without --nodes, show the scores that were computed when the run was fitted.
    """
    if not nodes:
        if predictions is not None:
            raise ValueError(
                "`--predictions` must come with --nodes, a table of the labels that have become "
                "known."
            )
        _tell_stored(run, speaker)
        return
    from ..runs.evaluating import evaluate_run

    written = o.written_as(delimiter, encoding, decimal, missing)
    found = evaluate_run(run, nodes, o.target_of(target), written, predictions)
    scores = found.pop("scores")
    speaker.result({**found, "scores": {name: s.to_json() for name, s in scores.items()}})
    rows = [[name, str(score)] for name, score in scores.items()]
    what = "1 node" if found["nodes"] == 1 else f"{found['nodes']:,} nodes"
    speaker.table(f"{what} whose label the run did not know", ["", "score"], rows)
    speaker.by_target(found["by_target"])
    speaker.notes(found["notes"])
    speaker.warnings(found["warnings"])


def _tell_stored(run: Path, speaker: o.Speaker) -> None:
    from ..runs.fitting import find_run
    from ..runs.folder import METRICS
    from ..runs.scores import Score
    from ..runs.without_columns import ScoreWithout

    found: dict[str, Any] = find_run(run).read_json(METRICS)
    speaker.result(found)
    baselines = {name: Score(**score) for name, score in found["baselines"].items()}
    without = found.get("score_without")
    doubt = {
        "trusted": found.get("trusted", True),
        "without": None if without is None else ScoreWithout.from_json(without),
    }
    speaker.scores(Score(**found["score"]), found["scored_on"], baselines, **doubt)
    speaker.by_target(found.get("by_target"))
    speaker.warnings(found.get("warnings", []))


@o.command()
def label_next(
    speaker: o.Speaker,
    run: Run,
    out: Annotated[
        Path, typer.Option(help="File to fill in: .csv, .tsv, .xlsx, .parquet or .jsonl.")
    ],
    *,
    count: Annotated[int, typer.Option(help="Number of nodes.")] = 20,
    by: Annotated[
        str, typer.Option(help="reach (uncertain nodes near other uncertain nodes) or uncertainty.")
    ] = "reach",
    overwrite: Overwrite = False,
) -> None:
    """Write the unlabeled nodes whose labels would help most, as a table to fill in."""
    from ...io.tables import write_frame
    from ..runs.labeling import nodes_to_label

    target = o.new_file(out, overwrite)
    frame = nodes_to_label(run, count, by)
    write_frame(frame, target)
    speaker.result({"out": str(target), "ids": frame.to_series(0).to_list()})
    rows = [[str(value) for value in row] for row in frame.head(10).rows()]
    what = "this node" if frame.height == 1 else f"these {frame.height:,} nodes"
    speaker.table(f"Label {what}", frame.columns, rows)
    command = shlex.join(["labeltrick", "predict", str(run), "--labels", str(target)])
    speaker.say(f"Fill it in, then: {command} --out …")
