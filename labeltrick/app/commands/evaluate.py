"""``labeltrick evaluate``: scores of a run on newly known labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as o

EXAMPLE = "Example: [bold]labeltrick evaluate run/ --nodes truth.csv --target label[/bold]"


@o.command()
def evaluate(
    speaker: o.Speaker,
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    nodes: o.Nodes = None,
    target: o.Target = None,
    seed: o.Seed = 0,
) -> None:
    """Score the predictions of a run on nodes whose labels it did not know.

    Without --nodes, show the scores that were computed when the run was fitted.
    """
    if nodes is None:
        _tell_stored(run, speaker)
        return
    from ..runs.applying import evaluate_run

    found = evaluate_run(run, nodes, target)
    scores = found.pop("scores")
    speaker.result({**found, "scores": {name: s.to_json() for name, s in scores.items()}})
    rows = [[name, str(score)] for name, score in scores.items()]
    speaker.table(f"{found['nodes']:,} nodes whose label the run did not know", ["", "score"], rows)


def _tell_stored(run: Path, speaker: o.Speaker) -> None:
    from ..runs.fitting import find_run
    from ..runs.folder import METRICS
    from ..runs.scores import Score

    found: dict[str, Any] = find_run(run).read_json(METRICS)
    speaker.result(found)
    score = Score(**found["score"])
    line = f" on {score.n:,} {found['scored_on']}"
    speaker.say((f"{score.metric} {score}", "bold"), line)
    for name, baseline in found["baselines"].items():
        speaker.say(f"  {name}: {Score(**baseline)}")
