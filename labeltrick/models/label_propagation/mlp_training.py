"""Networks on label views: `TrainableLabelPropagation(weights="mlp")`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.extras import require
from ..._utils.progress import ProgressBar
from ..._utils.targets import TargetScale
from ...self_exclusion.label_views import LabelInputs
from ..base.draws import draw_uniform, in_order
from ..base.folds import N_FOLDS
from .problem import LabelProblem

if TYPE_CHECKING:
    from ...nn.training import Draw, Ensemble, TrainingOptions


def rows(problem: LabelProblem, nodes: np.ndarray | None) -> np.ndarray:
    """Inputs of the networks at some nodes; None means all."""
    inputs = problem.inputs if nodes is None else problem.inputs.at(nodes)
    return table(problem, inputs, nodes)


def table(problem: LabelProblem, inputs: LabelInputs, nodes: np.ndarray | None) -> np.ndarray:
    """Views side by side, then log degree, label mass (with a gate) and node types.

    Means of labels are comparable however few labels are given. Label mass is not, and networks
    that see it learn how many labels training nodes had. It is therefore optional.
    """
    design = problem.design
    extra = problem.node_scale.apply(design.node_columns(inputs, nodes))
    columns = [inputs.values.reshape(len(extra), -1), extra if problem.gate else extra[:, :1]]
    types = design.types_of(nodes)
    if types is not None:
        columns.append(types)
    return np.concatenate(columns, axis=1).astype(np.float32)


def fit(
    problem: LabelProblem,
    rates: tuple[float, ...] | None,
    n_members: int,
    shape: dict[str, Any],
    options: TrainingOptions,
) -> tuple[Ensemble, list[TargetScale]]:
    """Train perceptrons of a ``shape``, each without one fold of the targets, which it predicts.

    The second result holds the units of each member: those of the labels it was trained on.

    With ``rates``, each epoch sees the labels of a random part of the nodes, at a rate drawn from
    them. All training nodes are targets nevertheless: where a node's own label is an input, it is
    excluded from its row. Without validation nodes the last epoch is kept: the fold itself must not
    choose, or its predictions would be optimistic.
    """
    require("torch", "weights='mlp'")
    import torch

    from ...nn.mlp import MLP
    from ...nn.training import Ensemble, RowData, predict_rows, train_rows

    problem.node_scale  # noqa: B018  # from all labels, the same for every member
    place = np.argsort(in_order(problem.targets, problem.nodes), kind="stable")
    problem = problem.in_key_order()
    link, n_outputs = problem.link, problem.Y.shape[1]
    n_inputs = rows(problem, problem.nodes[:1]).shape[1]
    seed = int(np.random.default_rng(problem.seed).integers(2**31))
    rng = np.random.default_rng(seed)
    # A single network is trained without the first fold.
    fold = problem.folds(n_members if n_members > 1 else N_FOLDS, seed)
    n_folds = int(fold.max(initial=0)) + 1
    found, scales = Ensemble([], link, np.full(problem.Y.shape, np.nan)), []
    with ProgressBar(n_members * options.max_epochs, "training", problem.progress) as bar:
        for member in range(n_members):
            own = fold == member % n_folds
            hidden, seen = problem.nodes[own], problem.without(problem.nodes[own])
            others = seen.Y
            if len(others) < 2:  # too few rows to train without a fold
                seen = problem
            places = np.resize(np.arange(len(seen.nodes)), max(2, len(seen.nodes)))
            validation = None
            if seen.validation is not None:
                nodes, *truth = seen.validation
                validation = RowData(rows(seen, nodes), *truth)
            with torch.random.fork_rng(devices=[]):  # keeps the caller's random state
                torch.manual_seed(int(rng.integers(2**31)))
                model = MLP(n_inputs, n_outputs, **shape)
                draw = _drawer(seen, rates, places, rng)
                targets = (seen.Y[places], seen.weight[places], validation)
                generator = torch.default_generator
                training = train_rows(model, draw, *targets, link, options, generator, bar)
            if len(others) < 2:  # the network has seen the row: use only the other label
                guess = {"softmax": 1 / n_outputs, "sigmoid": 0.5, "identity": 0.0}[link]
                found.oof[own] = others.mean(axis=0) if len(others) else guess
            else:
                given = table(problem, problem.oof_inputs(seen, hidden), hidden)
                found.oof[own] = predict_rows(model, given, link)
            found.oof[own] = seen.scale.back(found.oof[own])
            found.members.append(model)
            scales.append(seen.scale)
            found.history.extend((member, *step) for step in training.history)
    found.oof = found.oof[place]
    return found, scales


def predict(members: Ensemble, scales: list[TargetScale], problem: LabelProblem) -> np.ndarray:
    """The mean of the members' predictions of all nodes, in the units of ``y``."""
    if problem.targets.task != "regression":
        return members.predict(rows(problem, None))
    from ...nn.training import predict_rows

    parts = [
        scale.back(predict_rows(member, rows(problem.in_units(scale), None), members.link))
        for member, scale in zip(members.members, scales, strict=True)
    ]
    return np.mean(parts, axis=0)


def _drawer(
    problem: LabelProblem,
    rates: tuple[float, ...] | None,
    places: np.ndarray,
    rng: np.random.Generator,
) -> Draw:
    """The inputs of some training rows in each epoch; without ``rates`` always the same."""
    nodes, everyone = problem.nodes, np.arange(len(places))
    if rates is None:
        fixed = rows(problem, nodes)[places]
        return lambda: (fixed, everyone)
    low, high = min(rates), max(rates)

    def draw() -> tuple[np.ndarray, np.ndarray]:
        rate = low if len(rates) == 1 else rng.uniform(low, high)
        given = np.zeros(len(problem.columns))
        given[nodes] = draw_uniform(problem.targets, nodes, rng) < rate
        options: dict[str, Any] = {"refine": False, "dtype": np.float32, "progress": False}
        inputs = problem.view(problem.columns * given[:, None], nodes, **options)
        return table(problem, inputs, nodes)[places], everyone

    return draw
