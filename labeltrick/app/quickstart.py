"""The quickstart: a Minesweeper board, predicted from numbers, from known mines, and from both."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.progress import Progress
from .._utils.whole_files import replacing
from ..io.datasets.examples import Example
from ..models.boosting.estimator import GraphBoosting
from ..models.label_propagation.trainable import TrainableLabelPropagation

BOARD = "board.html"
BUDGET = "8s"


@dataclass(frozen=True)
class Score:
    """The area under the ROC curve of one method on the cells to predict."""

    method: str
    uses: str
    auc: float
    seconds: float


def compare(board: Example) -> list[Score]:
    """Score and time of each method that uses a part of what is known."""

    def trees(hops: int) -> GraphBoosting:
        return GraphBoosting(neighbor_hops=hops, label_hops=0, damping=None, progress=False)

    per_hop = TrainableLabelPropagation(weights="per_hop", progress=False)
    methods: list[tuple[str, str, Any, Any]] = [
        ("trees", "own number", trees(0), board.X),
        ("trainable label propagation", "known mines, edges", per_hop, None),
        ("trees", "numbers, edges", trees(2), board.X),
    ]
    scores = []
    for method, uses, model, X in methods:
        begin = time.perf_counter()
        rows = model.fit(X, board.known, graph=board.graph).predict_proba()[:, 1]
        seconds = time.perf_counter() - begin
        scores.append(Score(method, uses, score_of(board, rows), seconds))
    return scores


def score_of(board: Example, probability: np.ndarray) -> float:
    """The area under the ROC curve on the cells to predict."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(board.y[board.test], probability[board.test]))


def write_files(board: Example, folder: Path) -> tuple[Path, Path]:
    """The board as two tables, edges.csv and nodes.csv, with labels and a split column."""
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    source, target = board.graph.to_edge_index()
    once = source < target
    part = np.full(len(board.y), "test", dtype=object)
    part[board.train] = "train"
    names = _cell_names(board)
    edges = pl.DataFrame({"src": names[source[once]], "dst": names[target[once]]})
    nodes = pl.DataFrame(
        {
            "id": names,
            "number": board.X[:, 0].astype(int),
            "mine": np.array(["no", "yes"])[board.y],
            "split": part.tolist(),
        }
    )
    for frame, name in ((edges, "edges.csv"), (nodes, "nodes.csv")):
        with replacing(folder / name) as file:
            frame.write_csv(file)
    return folder / "edges.csv", folder / "nodes.csv"


def _cell_names(board: Example) -> np.ndarray:
    size = round(len(board.y) ** 0.5)
    row, column = np.divmod(np.arange(len(board.y)), size)
    return np.array([f"r{r}c{c}" for r, c in zip(row, column, strict=True)])


def run_on_files(
    board: Example, folder: Path | None, seed: int, progress: Progress = None
) -> tuple[Score, Path]:
    """Fit the files of the board like ``labeltrick fit``; returns the score and the report."""
    from .report import write_report
    from .runs.fitting import fit_run
    from .runs.folder import REPORT, RunFolder
    from .runs.settings import FitSettings

    place = Path(tempfile.mkdtemp(prefix="labeltrick-")) if folder is None else folder
    begin = time.perf_counter()
    place = place.expanduser().absolute()
    run_folder = RunFolder(place / "run")
    again = run_folder.is_finished or run_folder.is_unfinished
    there = [name for name in ("edges.csv", "nodes.csv", BOARD) if (place / name).exists()]
    if there and not again:  # they would be replaced
        raise FileExistsError(
            f"`--out` must be a new folder or that of an earlier quickstart; '{place}' holds "
            f"{there[0]}. Choose another."
        )
    edges, nodes = write_files(board, place)
    settings = FitSettings(
        str(edges),
        str(nodes),
        target="mine",
        split_column="split",
        metric="roc_auc",
        budget=BUDGET,
        seed=seed,
    )
    run = fit_run(settings, run_folder, overwrite=again, progress=progress)
    report = write_report(run, run_folder / REPORT)
    run_folder.finish()
    seconds = time.perf_counter() - begin
    probability = run.model.predict_proba()[:, 1]
    draw_board(board, probability, place / BOARD)
    score = Score(
        "labeltrick fit", "numbers, known mines, edges", score_of(board, probability), seconds
    )
    return score, report


def draw_board(board: Example, probability: np.ndarray, path: Path) -> None:
    """The board as known and as predicted, side by side, as an HTML page."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    from .report.page import render
    from .report.sections import Section

    size = round(len(board.y) ** 0.5)
    known = np.full(len(board.y), np.nan)
    known[board.train] = board.y[board.train]
    titles = ("known", "predicted", "truth")
    figure = make_subplots(1, 3, subplot_titles=titles, horizontal_spacing=0.03)
    for place, values in enumerate((known, probability, board.y.astype(float)), start=1):
        cells = go.Heatmap(
            z=values.reshape(size, size),
            text=board.X[:, 0].astype(int).reshape(size, size),
            hovertemplate="number %{text}, %{z:.2f}<extra></extra>",
            zmin=0,
            zmax=1,
            colorscale=[[0, "#eef2f7"], [1, "#b3261e"]],
            showscale=False,
        )
        figure.add_trace(cells, 1, place)
        figure.update_xaxes(visible=False, row=1, col=place)
        figure.update_yaxes(visible=False, scaleanchor=f"x{place}", autorange="reversed",
                            row=1, col=place)  # fmt: skip
    figure.update_layout(
        height=420,
        margin={"l": 10, "r": 10, "t": 40, "b": 10},
        font={"size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    text = (
        "Left: the cells whose label is known. Middle: the predicted probability of a mine, from "
        "the numbers and the known mines around a cell. Right: the mines."
    )
    page = render("Minesweeper", [Section("Known, predicted, truth", [text], figure)])
    with replacing(path) as file:
        file.write_text(page, encoding="utf-8")
