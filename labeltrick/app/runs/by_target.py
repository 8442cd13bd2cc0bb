"""Scores of each label or number where several are predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._utils.targets import Targets
from ...evaluation import metrics, multilabel
from .scores import shown

SCORES = {
    "multilabel": ("roc_auc", "average_precision", "f1"),
    "regression": ("rmse", "mae", "r2"),
}


def column_names(targets: Targets) -> tuple[str, ...]:
    """The labels or numbers that are predicted together; empty if there is one target."""
    n_columns = targets.Y.shape[1]
    if targets.task == "classification" or (targets.task == "regression" and n_columns == 1):
        return ()
    return targets.columns or tuple(map(str, range(n_columns)))


def scores_by_target(
    task: str, names: tuple[str, ...], Y: np.ndarray, rows: np.ndarray
) -> dict[str, Any] | None:
    """The scores of each target and their averages, as plain values; None for a single target."""
    if not names:
        return None
    if task == "multilabel":
        each = multilabel.label_scores(Y, rows)
        found = [
            {"name": name, "positives": int(each.positives[k])}
            | {score: float(getattr(each, score)[k]) for score in SCORES[task]}
            for k, name in enumerate(names)
        ]
        return {"targets": found, "averages": multilabel.averages(Y, rows)}
    found = [
        {"name": name}
        | {s: metrics.measure(s, Y[:, [k]], rows[:, [k]]) for s in SCORES[task]}
        for k, name in enumerate(names)
    ]  # fmt: skip
    return {"targets": found, "averages": {"r2": metrics.measure("r2", Y, rows)}}


def table_by_target(found: dict[str, Any], most: int) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table of at most ``most`` targets, the most frequent first."""
    entries = sorted(found["targets"], key=lambda entry: -entry.get("positives", 0))
    labels = "positives" in entries[0]
    names = SCORES["multilabel" if labels else "regression"]
    header = ["label", "nodes", *names] if labels else ["target", *names]
    rows = []
    for entry in entries[:most]:
        count = [f"{entry['positives']:,}"] if labels else []
        rows.append([entry["name"], *count, *(_shown(s, entry[s]) for s in names)])
    if len(entries) > most:
        rest = f"… {len(entries) - most} more, see metrics.json"
        rows.append([rest, *[""] * (len(header) - 1)])
    averages = found["averages"]
    if labels:
        for kind in ("macro", "micro"):
            mean = [_shown(name, averages[f"{name}_{kind}"]) for name in names]
            rows.append([f"{kind} average", "", *mean])
    else:
        rows.append(["average", "", "", _shown("r2", averages["r2"])])
    return header, rows


def _shown(metric: str, value: float | None) -> str:
    return "–" if value is None else shown(metric, value)
