"""A run: read files, fit a model, score it, and save everything in a folder."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._utils.targets import Targets
from ..._utils.temporary_folders import sweep
from ...io.model_files import load_model, save_model
from ...io.tables import Problem, write_frame
from ...io.tables.kinds import count_of
from ...models.auto import AutoModel
from ...self_exclusion.audit import LeakageReport, audit_leakage
from .baselines import baseline_rows
from .by_target import column_names, scores_by_target
from .careful import better_baselines, careful_warnings, unused_columns, unused_options
from .folder import CONFIG, INPUTS, METRICS, MODEL, PREDICTIONS, UNFINISHED, RunFolder
from .kept_tables import keep_tables
from .models import features_for, label_options, make_model
from .predictions import prediction_frame
from .scores import NodeScores, Score, few_nodes_warning, score_rows, truth_rows
from .settings import FitSettings, labels_of, metric_of, read_settings
from .suspicious_columns import SuspiciousColumn, columns_to_doubt, used_labels
from .without_columns import ScoreWithout, named, takes_columns, without_columns

_AUDITED = 12
_AUDIT_SECONDS = 120


@dataclass(frozen=True)
class Scored:
    """The score of a run and of its baselines, with the labels and predictions of the nodes that
    were scored, one row per node."""

    on: str  # the nodes that were scored, in words
    score: Score
    baselines: dict[str, Score]
    Y: np.ndarray
    rows: np.ndarray
    nodes: np.ndarray


@dataclass(frozen=True)
class FittedRun:
    """A finished run."""

    settings: FitSettings
    problem: Problem
    model: Any
    scored: Scored
    leakage: LeakageReport | None  # None if it was not checked
    predictions: pl.DataFrame
    seconds: float  # of the fit
    doubted: list[SuspiciousColumn]
    without: ScoreWithout | None  # None if no column that was used gives the answer away

    @property
    def trusted(self) -> bool:
        """Whether nothing is known that makes the score worthless."""
        return self.without is None and not (self.leakage is not None and self.leakage.leaks)

    @property
    def warnings(self) -> list[str]:
        """Sentences about few labels, suspicious columns and likely mistakes."""
        unused = ""
        if not takes_columns(self.settings):
            unused = ". The model does not use columns"
            if "features alone" in self.scored.baselines:
                unused += ", but the baseline “features alone” does"
        few = few_nodes_warning(self.scored.score)
        same = _constant_labels(self.model.targets_)
        beaten = better_baselines(self.scored.score, self.scored.baselines)
        doubted = [f"{entry}{unused}" for entry in self.doubted]
        careful = careful_warnings(self.problem, used_labels(self.problem))
        return few + same + beaten + doubted + careful

    @property
    def notes(self) -> list[str]:
        """How files were read, and which options and columns have no effect."""
        unused = unused_options(self.settings) + unused_columns(self.problem, self.settings)
        return self.problem.notes + unused

    @property
    def by_target(self) -> dict[str, Any] | None:
        """Scores of each label or number; None if one is predicted."""
        known = self.model.targets_
        return scores_by_target(known.task, column_names(known), self.scored.Y, self.scored.rows)

    @property
    def summary(self) -> dict[str, Any]:
        """The contents of ``metrics.json``."""
        from ..._utils.version import __version__

        labels, graph = labels_of(self.problem), self.problem.graph
        return {
            "labeltrick": __version__,
            "model": self.settings.model,
            "chosen": getattr(self.model, "chosen_", self.settings.model),
            "task": labels.task,
            "target": labels.target,
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "labeled": len(self.model.labeled_),
            "scored_on": self.scored.on,
            "trusted": self.trusted,
            "score": self.scored.score.to_json(),
            "by_target": self.by_target,
            "score_without": None if self.without is None else self.without.to_json(),
            "suspicious_columns": [entry.to_json() for entry in self.doubted],
            "warnings": self.warnings,
            "baselines": {k: v.to_json() for k, v in self.scored.baselines.items()},
            "tried": [
                {"name": t.name, "score": t.score, "seconds": round(t.seconds, 3),
                 "note": t.note}
                for t in getattr(self.model, "trials_", [])
            ],
            "leaks": None if self.leakage is None else self.leakage.leaks,
            "notes": self.notes,
            "seconds": round(self.seconds, 3),
        }  # fmt: skip


def fit_problem(
    settings: FitSettings, problem: Problem, *, resume_from: Any = None, progress: Any = None
) -> tuple[Any, float]:
    """The fitted model and its time. Validation labels choose; they are not inputs."""
    labels = labels_of(problem)
    settings = replace(settings, metric=metric_of(settings, labels))
    model = make_model(settings, labels.task, resume_from=resume_from, progress=progress)
    X = features_for(settings, problem)
    begin = time.perf_counter()
    _check_labels(problem)
    model.fit(X, graph=problem.named_graph.on(**settings.engine), **label_options(problem))
    return model, time.perf_counter() - begin


def _check_labels(problem: Problem) -> None:
    if problem.split and not len(problem.split["train"]):
        raise ValueError(
            "`--split-column` must hold train in some rows that have a label; it does in none."
        )
    labels, y = labels_of(problem), problem.known("train", "val")
    columns = {labels.name: y} if y.ndim == 1 else dict(zip(labels.columns, y.T, strict=True))
    found: dict[str, tuple[int, int]] = {}
    for name, column in columns.items():
        known = [value for value in column.tolist() if value is not None and value == value]
        found[name] = len(set(known)), len(known)
    # A label that all nodes have is of no use, but does no harm to the others.
    enough = any if labels.task == "multilabel" else all
    if not enough(n_distinct > 1 for n_distinct, _ in found.values()):
        name = next(name for name, (n_distinct, _) in found.items() if n_distinct < 2)
        n_distinct, n_known = found[name]
        raise ValueError(
            f"column {name!r} must hold at least two different labels; it holds {n_distinct} in "
            f"{count_of(n_known, 'labeled row')}.{_words_for_missing(problem, name)}"
        )


def _words_for_missing(problem: Problem, name: str) -> str:
    """A sentence if cells of the column were read as missing that may be the other class."""
    said = [note for note in problem.notes if note.startswith(f"cells of column {name!r} are")]
    rest = "Write them in other words if they are labels."
    return "".join(f" The {note}. {rest}" for note in said)


def _constant_labels(known: Targets) -> list[str]:
    """A sentence about labels that all training nodes have, or none of them."""
    if known.task != "multilabel":
        return []
    names = np.array(column_names(known), object)
    same = names[np.ptp(known.Y[known.labeled], axis=0) == 0].tolist()
    if not same:
        return []
    labels = "label" if len(same) == 1 else "labels"
    return [
        f"{len(same)} {labels} cannot be learned, because all training nodes have the same value: "
        f"{named(tuple(same))}"
    ]


_SCORED_ON = {
    "test": "test nodes",
    "val": "validation nodes, which also chose the model",
    None: "labeled nodes, each predicted without its own label",
}


def score_model(
    settings: FitSettings, problem: Problem, model: Any, predicted: NodeScores
) -> Scored:
    """Score the model on test nodes, else on validation nodes, else out of fold."""
    metric = metric_of(settings, labels_of(problem))
    part, nodes, Y, rows = _scored_rows(problem, model, predicted)
    score = score_rows(metric, Y, rows, settings.seed)
    simpler = baseline_rows(settings, problem, model, nodes, oof=part is None)
    baselines = {name: score_rows(metric, Y, found, settings.seed)
                 for name, found in simpler.items()}  # fmt: skip
    return Scored(_SCORED_ON[part], score, baselines, Y, rows, nodes)


def _scored_rows(
    problem: Problem, model: Any, predicted: NodeScores
) -> tuple[str | None, np.ndarray, np.ndarray, np.ndarray]:
    """The part of the split that is scored (None: out of fold), and its nodes, labels and
    predictions."""
    part = next((name for name in ("test", "val") if len(problem.split.get(name, ()))), None)
    if part is None:
        nodes = model.labeled_
        return part, nodes, model.targets_.Y[nodes], model.oof_rows_
    nodes, Y = truth_rows(labels_of(problem), problem.split[part], model)
    return part, nodes, Y, predicted.probabilities[nodes]


def score_without(
    settings: FitSettings,
    problem: Problem,
    doubted: list[SuspiciousColumn],
    parts: Path | None = None,
    progress: Any = None,
) -> ScoreWithout | None:
    """Fit again without the columns that give the answer away, and score it on the same nodes."""
    found = without_columns(settings, problem, doubted)
    if found is None:
        return None
    other, rest, names = found
    other = replace(other, plan={})  # it is a plan for other columns
    model, _ = fit_problem(other, rest, resume_from=parts, progress=progress)
    _, _, Y, rows = _scored_rows(rest, model, NodeScores.of(model))
    metric = metric_of(settings, labels_of(problem))
    return ScoreWithout(names, other.model, score_rows(metric, Y, rows, settings.seed))


def check_leakage(model: Any, seconds: float) -> LeakageReport | None:
    """Change the label of one node at a time: the node's own prediction must not change.

    Returns None where the check would take long (one evaluation of the model takes ``seconds``),
    and for methods whose predictions of labeled nodes use the node's own label by definition. Their
    scores do not use it: they are computed on unlabeled nodes or on out-of-fold predictions.
    """
    if model.sees_own_label or seconds * (_AUDITED + 3) > _AUDIT_SECONDS:
        return None
    known = model.targets_
    y = known.codes if known.task == "classification" else known.Y
    y = y[:, 0] if known.flat and y.ndim == 2 else y
    return audit_leakage(model.rows_for, y, model.labeled_, n_samples=_AUDITED, progress=False)


def fit_run(
    settings: FitSettings,
    folder: RunFolder,
    *,
    resume: bool = False,
    overwrite: bool = False,
    progress: Any = None,
) -> FittedRun:
    """Fit a model to files, and write the run except for its report; after that is written, call
    ``folder.finish``. ``resume`` continues the interrupted run in the folder."""
    tables = settings.tables()
    problem = settings.read(progress, tables)
    labels = labels_of(problem)
    metric_of(settings, labels)
    make_model(settings, labels.task)  # finds wrong settings before anything is written
    if settings.target is not None:
        settings = replace(settings, target=labels.target)  # several names may have been one text
    features_for(settings, problem)
    parts = folder.start(settings.to_toml(), resume=resume, overwrite=overwrite)
    try:
        keep_tables(parts / INPUTS, tables, settings, problem)
        del tables  # they may be as large as the graph
        return _fit_into(folder, settings, problem, parts / "parts", progress)
    except BaseException:  # an interruption too
        folder.abandon()
        raise


def _fit_into(
    folder: RunFolder, settings: FitSettings, problem: Problem, parts: Path, progress: Any
) -> FittedRun:
    model, seconds = fit_problem(settings, problem, resume_from=parts, progress=progress)
    predicted = NodeScores.of(model)
    scored = score_model(settings, problem, model, predicted)
    leakage = check_leakage(model, predicted.seconds)
    doubted = columns_to_doubt(problem)
    without = score_without(settings, problem, doubted, parts.with_name("without"), progress)
    predictions = prediction_frame(model, problem.ids, predicted)
    if problem.split:
        is_test = np.isin(np.arange(problem.n_nodes), problem.split["test"])
        predictions = predictions.with_columns(test=pl.Series(is_test))
    run = FittedRun(settings, problem, model, scored, leakage, predictions, seconds,
                    doubted, without)  # fmt: skip
    folder.writes()
    folder.take(INPUTS)
    save_model(model, folder / MODEL)
    write_frame(predictions, folder / PREDICTIONS)
    if isinstance(model, AutoModel):
        settings = replace(settings, plan=model.plan_.to_dict())
    folder.write_text(CONFIG, settings.to_toml())
    folder.write_json(METRICS, run.summary)
    folder.seal()
    return run


def open_run(path: Any) -> tuple[RunFolder, FitSettings, Any]:
    """The folder, settings and fitted model of a finished run."""
    folder = find_run(path)
    return folder, read_settings(folder / CONFIG), load_model(folder / MODEL)


def find_run(path: Any) -> RunFolder:
    """The folder of a finished run, after a check that its files are as they were written."""
    folder = RunFolder(path)
    if not folder.path.is_dir():
        why = "is a file" if folder.path.exists() else "does not exist"
        raise FileNotFoundError(
            f"`{folder.path}` must be the folder of a finished run; it {why}. Check the path."
        )
    sweep(folder.path)
    if folder.is_unfinished:
        raise ValueError(
            f"`{folder.path}` must be a finished run; it was interrupted. Finish it with: "
            f"labeltrick fit --out {shlex.quote(str(folder.path))} --resume"
        )
    folder.require_sealed()
    return folder


def unfinished_settings(folder: RunFolder) -> FitSettings:
    """Settings of a run that was interrupted."""
    sweep(folder.path)
    if not folder.is_unfinished:
        raise ValueError(
            f"`--resume` must come with the folder of an unfinished run; got '{folder.path}'."
        )
    return read_settings(folder / UNFINISHED / CONFIG)
