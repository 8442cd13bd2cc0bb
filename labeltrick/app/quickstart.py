"""The quickstart: scikit-learn's digits, a nearest-neighbor graph, few labels."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._utils.checks import check_count
from .._utils.progress import Progress
from .._utils.whole_files import replacing
from ..graph.graph import Graph
from ..models.label_propagation.plain import LabelPropagation
from ..models.label_propagation.trainable import TrainableLabelPropagation

N_NEIGHBORS = 10


@dataclass(frozen=True)
class Problem:
    """Digits as a graph problem: images are nodes, joined to the most similar ones."""

    X: np.ndarray
    y: np.ndarray
    graph: Graph
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Score:
    """How one way of predicting did on the nodes whose label was hidden."""

    method: str
    uses: str
    accuracy: float
    seconds: float


def make_problem(label_share: float = 0.1, seed: int = 0) -> Problem:
    """1,797 images of digits, of which a random ``label_share`` is labeled."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    X, y = load_digits(return_X_y=True)
    graph = Graph.from_edges(*kneighbors_graph(X, N_NEIGHBORS).nonzero(), n_nodes=len(y))
    check_count("seed", seed)
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(max(1, round(label_share * len(y))), len(y) - 1)  # one must be left to score
    if len(np.unique(y[order[:n_train]])) < 2:
        raise ValueError(
            f"`label_share` must label two classes at least; {label_share} labels {n_train} "
            "image(s). Use a larger share."
        )
    return Problem(X / 16.0, y, graph, np.sort(order[:n_train]), np.sort(order[n_train:]))


def predict_from_features(problem: Problem) -> np.ndarray:
    """Features alone: logistic regression, which sees no edge."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000)
    return model.fit(problem.X[problem.train], problem.y[problem.train]).predict(problem.X)


def known_labels(problem: Problem) -> np.ndarray:
    """The labels of the training nodes; −1 elsewhere."""
    y = np.full(len(problem.y), -1)
    y[problem.train] = problem.y[problem.train]
    return y


def predict_from_labels(problem: Problem) -> np.ndarray:
    """Labels alone: label propagation, which sees no image."""
    model = LabelPropagation(damping=0.9)
    return model.fit(None, known_labels(problem), graph=problem.graph).predict()


def predict_by_trained_weights(problem: Problem) -> np.ndarray:
    """Labels alone, with weights for each hop learned from them."""
    model = TrainableLabelPropagation(damping=0.9, weights="per_hop")
    return model.fit(None, known_labels(problem), graph=problem.graph).predict()


def compare(problem: Problem) -> list[Score]:
    """Accuracy and time of each way, on the unlabeled nodes."""
    ways: list[tuple[str, str, Callable[[Problem], np.ndarray]]] = [
        ("logistic regression", "features", predict_from_features),
        ("label propagation", "labels, edges", predict_from_labels),
        ("trainable label propagation", "labels, edges", predict_by_trained_weights),
    ]
    scores = []
    for method, uses, predict in ways:
        begin = time.perf_counter()
        hit = predict(problem)[problem.test] == problem.y[problem.test]
        seconds = time.perf_counter() - begin
        scores.append(Score(method, uses, float(hit.mean()), seconds))
    return scores


def write_files(problem: Problem, folder: Path) -> tuple[Path, Path]:
    """The problem as people have theirs: edges.csv and nodes.csv, labels and a split in it."""
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    source, target = problem.graph.to_edge_index()
    once = source < target
    edges = pl.DataFrame({"src": source[once], "dst": target[once]})
    part = np.full(len(problem.y), "test", dtype=object)
    part[problem.train] = "train"
    pixels = {f"pixel_{k}": problem.X[:, k] for k in range(problem.X.shape[1])}
    nodes = pl.DataFrame(
        {
            "id": np.arange(len(problem.y)),
            "label": [f"digit {digit}" for digit in problem.y],
            "split": part.tolist(),
            **pixels,
        }
    )
    for frame, name in ((edges, "edges.csv"), (nodes, "nodes.csv")):
        with replacing(folder / name) as file:
            frame.write_csv(file)
    return folder / "edges.csv", folder / "nodes.csv"


def _require_ours(folder: Path) -> None:
    """Refuse a folder with tables of somebody else: they would be replaced."""
    from .runs.folder import RunFolder

    run = RunFolder(folder / "run")
    there = [name for name in ("edges.csv", "nodes.csv") if (folder / name).exists()]
    if there and not (run.is_finished or run.is_unfinished):
        raise FileExistsError(
            f"`--out` must be a new folder or one of an earlier quickstart; '{folder}' holds "
            f"{there[0]}. Choose another."
        )


def run_on_files(
    problem: Problem, folder: Path | None, seed: int, progress: Progress = None
) -> tuple[Score, Path]:
    """Fit the files of the problem as ``labeltrick fit`` does; the score and the report."""
    from .report import write_report
    from .runs.fitting import fit_run
    from .runs.folder import REPORT, RunFolder
    from .runs.settings import FitSettings

    place = Path(tempfile.mkdtemp(prefix="labeltrick-")) if folder is None else folder
    begin = time.perf_counter()
    place = place.expanduser().absolute()
    _require_ours(place)
    edges, nodes = write_files(problem, place)
    settings = FitSettings(
        str(edges), str(nodes), target="label", split_column="split", budget="20s", seed=seed
    )
    run_folder = RunFolder(edges.parent / "run")
    again = run_folder.is_finished or run_folder.is_unfinished
    run = fit_run(settings, run_folder, overwrite=again, progress=progress)
    report = write_report(run, run_folder / REPORT)
    run_folder.finish()
    seconds = time.perf_counter() - begin
    score = Score("labeltrick fit", "features, labels, edges", run.scored.score.value, seconds)
    return score, report
