"""Predictions of a model, and their scores with confidence intervals."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...evaluation import metrics
from ...models.base.estimator import decode
from ...models.base.node_inputs import NodeInputs
from ...models.base.protocol import NodeEstimator

_DRAWS = 500
_SHARES = (
    "accuracy", "subset_accuracy", "roc_auc", "average_precision", "f1", "f1_macro", "f1_micro",
)  # fmt: skip
_FEW_NODES = 100  # below, the standard error of an accuracy may exceed 5 points
_ENOUGH = 50_000


@dataclass(frozen=True)
class Score:
    """A score with its 95 % bootstrap interval over ``n`` nodes."""

    metric: str
    value: float
    low: float
    high: float
    n: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        value, low, high = (shown(self.metric, v) for v in (self.value, self.low, self.high))
        return f"{value} ({low} to {high})"


def few_nodes_warning(score: Score) -> list[str]:
    """A sentence if so few nodes were scored that the score says little."""
    if score.n >= _FEW_NODES:
        return []
    low, high = shown(score.metric, score.low), shown(score.metric, score.high)
    interval = f" (95% interval: {low} to {high})" if score.low < score.high else ""
    return [
        f"Only {score.n} labeled {'node was' if score.n == 1 else 'nodes were'} scored: the score "
        f"is rough{interval}, and differences between models mean little. Label more nodes before "
        "relying on it"
    ]


def shown(metric: str, value: float) -> str:
    """A score as text: shares in percent, errors as numbers."""
    if np.isnan(value):
        return "–"
    if metric in _SHARES:
        return f"{value:.1%}"
    return f"{value:.4g}"


def score_rows(metric: str, Y: np.ndarray, rows: np.ndarray, seed: int = 0) -> Score:
    """Compute a score and its bootstrap interval over nodes."""
    value = metrics.measure(metric, Y, rows)
    rng = np.random.default_rng(seed)
    n = len(Y)
    size = min(n, _ENOUGH)
    drawn = []
    for _ in range(_DRAWS if n * Y.shape[1] < 2_000_000 else 100):
        some = rng.integers(0, n, size)
        drawn.append(metrics.measure(metric, Y[some], rows[some]))
    draws = np.array(drawn)
    draws = draws[~np.isnan(draws)]
    if not len(draws):
        return Score(metric, value, value, value, n)
    low, high = np.quantile(draws, [0.025, 0.975])
    # The interval of n nodes from that of a smaller sample.
    factor = np.sqrt(size / n)
    return Score(metric, value, value + (low - value) * factor, value + (high - value) * factor, n)


@dataclass(frozen=True)
class NodeScores:
    """A model's predictions for every node, from one evaluation of the model."""

    inputs: NodeInputs
    rows: np.ndarray  # scores before calibration, one row per node
    probabilities: np.ndarray  # calibrated; for regression, the same as ``rows``
    predictions: np.ndarray  # classes, indicators or numbers, one row per node
    seconds: float

    @classmethod
    def of(cls, model: NodeEstimator, inputs: NodeInputs | None = None) -> NodeScores:
        """Evaluate a fitted model, by default on the graph and the labels of its fit."""
        inputs = model.inputs_of(None, None, None) if inputs is None else inputs
        task = inputs.targets.task
        calibration = model.calibration_  # fitted on first use, which takes time of its own
        begin = time.perf_counter()
        rows = model.scores_of(inputs)
        seconds = time.perf_counter() - begin
        probabilities = rows if task == "regression" else calibration.apply(rows, task)
        return cls(inputs, rows, probabilities, decode(inputs.targets, rows), seconds)


def truth_rows(labels: Any, nodes: np.ndarray, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """The nodes that have a label, and their label rows. A class that the model does not know gives
    a row of zeros, so that every prediction is wrong."""
    known = model.targets_
    if labels.columns:
        rows = labels.in_columns(known.columns).values[nodes]
        keep = ~np.isnan(rows).any(axis=1)
        return nodes[keep], rows[keep]
    values = labels.values[nodes]
    if known.task == "regression":
        keep = ~np.isnan(values)
        return nodes[keep], values[keep][:, None].astype(np.float64)
    place = {str(name): k for k, name in enumerate(known.classes)}
    rows = np.zeros((len(nodes), len(place)))
    for row, value in enumerate(values):
        if value in place:
            rows[row, place[value]] = 1.0
    return nodes, rows
