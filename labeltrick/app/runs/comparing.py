"""Comparison of models, or of values of a parameter, on the same splits."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..._utils.checks import check_count
from ..._utils.progress import Progress, ProgressBar
from ...evaluation import metrics
from ...evaluation.splits import split_nodes
from ...io.tables import Problem
from .careful import careful_warnings, unused_columns, unused_options
from .fitting import fit_problem
from .models import find_model
from .scores import NodeScores, few_nodes_warning, score_rows, truth_rows
from .settings import FitSettings, labels_of, metric_of, parse_set
from .suspicious_columns import SuspiciousColumn, columns_to_doubt, used_labels
from .without_columns import ONLY_LABELS, named, takes_columns, without_columns

_WITHOUT = " without "


def compare_models(
    settings: FitSettings, names: list[str], repeats: int, progress: Progress = None
) -> dict[str, Any]:
    """Test scores of each model on ``repeats`` random 6:2:2 splits, and paired differences
    to the first model. A model that uses columns which give the answer away is also fitted without
    them, and differences are to that fit."""
    check_count("repeats", repeats, 1)
    if not names:
        raise ValueError("`--models` must name at least one model; got none.")
    for name in names:
        find_model(name)
    problem = settings.read()
    metric = metric_of(settings, labels_of(problem))
    doubted = columns_to_doubt(problem)
    variants = _variants(settings, names, problem, doubted)
    scores: dict[str, list[float]] = {name: [] for name in variants}
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    with ProgressBar(repeats * len(variants), "fits", progress) as bar:
        for repeat in range(repeats):
            for name, (now, X) in variants.items():
                seed = settings.seed + repeat
                some = random_split(replace(problem, X=X), seed)
                begin = time.perf_counter()
                scores[name].append(_test_score(replace(now, seed=seed), some, metric))
                seconds[name].append(time.perf_counter() - begin)
                bar.advance(note=name)
    first = _honest(names[0], variants)
    entries = [
        {
            "name": name,
            "scores": scores[name],
            "mean": float(np.mean(scores[name])),
            "deviation": float(np.std(scores[name])),
            "seconds": float(np.mean(seconds[name])),
            "trusted": _honest(name, variants) == name,
            "difference": None if name == first else paired(scores[name], scores[first]),
        }
        for name in variants
    ]
    return {
        "metric": metric,
        "reference": first,
        "repeats": repeats,
        "models": entries,
        "suspicious_columns": [entry.to_json() for entry in doubted],
        "test_nodes": len(random_split(problem, settings.seed).split["test"]),
        "notes": [
            *problem.notes,
            *unused_options(settings, names),
            *_unused(problem, settings, names),
        ],
        "warnings": _warnings(problem, doubted),
    }


def _unused(problem: Problem, settings: FitSettings, names: list[str]) -> list[str]:
    """Sentences about columns that some of the models do not use."""
    each = [unused_columns(problem, replace(settings, model=name, set={})) for name in names]
    return [note for notes in each for note in notes]


def _warnings(problem: Problem, doubted: list[SuspiciousColumn]) -> list[str]:
    """Sentences about columns and labels, as in a fit."""
    return [*map(str, doubted), *careful_warnings(problem, used_labels(problem))]


def _honest(name: str, variants: Iterable[str]) -> str:
    """The variant of a model whose scores can be trusted: the model, unless it was also fitted
    without the columns that give the answer away."""
    return next((other for other in variants if other.startswith(name + _WITHOUT)), name)


def _variants(
    settings: FitSettings, names: list[str], problem: Problem, doubted: list[SuspiciousColumn]
) -> dict[str, tuple[FitSettings, Any]]:
    """Settings and columns of each model, and then of each that uses columns which give the answer
    away, without them."""
    found = {name: (replace(settings, model=name, set={}), problem.X) for name in names}
    for name, (now, _) in list(found.items()):
        less = without_columns(now, problem, doubted)
        if less is not None:
            other, rest, columns = less
            only = "" if other.model == name else f" ({ONLY_LABELS}: no other columns are left)"
            found[f"{name}{_WITHOUT}{named(columns, 2)}{only}"] = other, rest.X
    return found


def random_split(problem: Problem, seed: int) -> Problem:
    """The problem with a random 6:2:2 split of its labeled nodes."""
    nodes = np.flatnonzero(labels_of(problem).known)
    split = split_nodes(len(nodes), random_state=seed)
    parts = {"train": nodes[split.train], "val": nodes[split.val], "test": nodes[split.test]}
    return replace(problem, split=parts)


def _test_score(settings: FitSettings, problem: Problem, metric: str) -> float:
    model, _ = fit_problem(settings, problem, progress=False)
    nodes, Y = truth_rows(labels_of(problem), problem.split["test"], model)
    return metrics.measure(metric, Y, NodeScores.of(model).probabilities[nodes])


def paired(a: list[float], b: list[float]) -> dict[str, Any]:
    """Mean difference a − b over splits, its standard error, and the p-value of a paired t-test
    that corrects the variance for overlapping splits (Nadeau and Bengio, 2003)."""
    from scipy.stats import t as student

    gaps = np.array(a) - np.array(b)
    n = len(gaps)
    if n < 2:
        return {"mean": float(gaps.mean()), "standard_error": float("nan"), "p_value": None}
    spread = gaps.std(ddof=1)
    error = float(spread * np.sqrt(1 / n + 0.2 / 0.6))  # 1/n + test share / training share
    p = None if error == 0 else float(2 * student.sf(abs(gaps.mean()) / error, n - 1))
    return {"mean": float(gaps.mean()), "standard_error": error, "p_value": p}


def sweep_parameter(
    settings: FitSettings, parameter: str, values: list[str], progress: Progress = None
) -> dict[str, Any]:
    """Scores of each value: on validation nodes if the split has them, else out of fold."""
    problem = settings.read()
    if not values:
        raise ValueError("`--values` must hold at least one value; got none.")
    metric = metric_of(settings, labels_of(problem))
    by_validation = bool(len(problem.split.get("val", ())))
    points, few = [], []
    with ProgressBar(len(values), "fits", progress) as bar:
        for text in values:
            given = parse_set([f"{parameter}={text}"])
            now = replace(settings, set={**settings.set, **given})
            model, seconds = fit_problem(now, problem, progress=False)
            if by_validation:
                nodes, Y = truth_rows(labels_of(problem), problem.split["val"], model)
                rows = model.scores_of(model.fitted_inputs)[nodes]
            else:
                Y, rows = model.targets_.Y[model.labeled_], model.oof_rows_
            score = score_rows(metric, Y, rows, settings.seed)
            few = few_nodes_warning(score)
            points.append({"value": given[parameter], "score": score.to_json(),
                           "seconds": round(seconds, 3)})  # fmt: skip
            bar.advance(note=text)
    scores: list[float] = [point["score"]["value"] for point in points]
    best = 0
    for k, value in enumerate(scores):
        best = k if metrics.better(metric, value, scores[best]) else best
    on = "validation nodes" if by_validation else "labeled nodes, each without its own label"
    doubted = columns_to_doubt(problem) if takes_columns(settings) else []
    return {"model": settings.model, "parameter": parameter, "metric": metric, "points": points,
            "best": best, "scored_on": on, "trusted": not any(e.gives_away for e in doubted),
            "notes": [*problem.notes, *unused_options(settings),
                      *unused_columns(problem, settings)],
            "warnings": few + _warnings(problem, doubted)}  # fmt: skip
