"""``labeltrick predict``, ``evaluate`` and ``label-next``: what to do with a finished run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

PREDICT_EXAMPLE = (
    "Example: [bold]labeltrick predict run/ --edges new-edges.csv --nodes new-nodes.csv "
    "--out new.parquet[/bold]"
)
EVALUATE_EXAMPLE = "Example: [bold]labeltrick evaluate run/ --nodes truth.csv --target label[/bold]"
LABEL_EXAMPLE = "Example: [bold]labeltrick label-next run/ --count 20 --out to-label.csv[/bold]"

Run = Annotated[Path, typer.Argument(help="Folder of a finished run.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file.")]


@o.command()
def predict(
    speaker: o.Speaker,
    run: Run,
    out: Annotated[
        Path, typer.Option(help="File for the predictions: .parquet, .csv, .tsv or .jsonl.")
    ],
    edges: list[str] | None,
    nodes: list[str] | None,
    labels: Path | None,
    unknown_nodes: str,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    overwrite: Overwrite = False,
) -> None:
    """Predict the nodes of other tables, which must have the columns of the fit.

    Labels in the tables are used as inputs. Without --edges and --nodes, the files of the fit are
    used, with --labels as additional labels.
    """
    from ...io.tables import write_frame
    from ..runs.applying import apply_run

    target = o.new_file(out, overwrite)
    written = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    frame, notes = apply_run(
        run, edges or None, nodes or None, labels, unknown_nodes, speaker.say, written
    )
    write_frame(frame, target)
    speaker.result({"out": str(target), "nodes": frame.height, "notes": notes})
    speaker.notes(notes)
    speaker.say(f"{frame.height:,} predictions: {target}")


@o.command()
def evaluate(
    speaker: o.Speaker,
    run: Run,
    nodes: list[str] | None,
    target: list[str] | None,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
) -> None:
    """Score the predictions of a run on nodes whose labels it did not know.

    Without --nodes, show the scores that were computed when the run was fitted.
    """
    if not nodes:
        _tell_stored(run, speaker)
        return
    from ..runs.applying import evaluate_run

    written = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    found = evaluate_run(run, nodes, o.target_of(target), written)
    scores = found.pop("scores")
    speaker.result({**found, "scores": {name: s.to_json() for name, s in scores.items()}})
    rows = [[name, str(score)] for name, score in scores.items()]
    speaker.table(f"{found['nodes']:,} nodes whose label the run did not know", ["", "score"], rows)
    speaker.by_target(found["by_target"])
    speaker.notes(found["notes"])


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
    out: Annotated[Path, typer.Option(help="File to fill in: .csv, .tsv, .parquet or .jsonl.")],
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
    speaker.table(f"Label these {frame.height} nodes", frame.columns, rows)
    command = shlex.join(["labeltrick", "predict", str(run), "--labels", str(target)])
    speaker.say(f"Fill it in, then: {command} --out …")
