"""Networks on label views: `TrainableLabelPropagation(weights="mlp")`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.extras import require
from ...self_exclusion.label_views import LabelInputs
from ..base.draws import draw_uniform, in_order
from ..base.folds import N_FOLDS
from .problem import LabelProblem

if TYPE_CHECKING:
    from ...nn.training import Ensemble, TrainingOptions


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
    options: TrainingOptions,
) -> Ensemble:
    """Train the networks.

    With ``rates``, each epoch sees the labels of a random part of the nodes, at a rate drawn from
    them. All training nodes are targets nevertheless: where a node's own label is an input, it is
    excluded from its row.
    """
    require("torch", "weights='mlp'")
    from ...nn.training import RowData, train_ensemble

    problem.node_scale  # noqa: B018  # from all labels, the same for every member
    place = np.argsort(in_order(problem.targets, problem.nodes), kind="stable")
    problem = problem.in_key_order()

    def without(rng: np.random.Generator, places: np.ndarray) -> np.ndarray:
        """All training rows without the labels that the member predicts as inputs."""
        return rows(problem.hiding(problem.nodes[places]), problem.nodes)

    def redraw(rng: np.random.Generator, places: np.ndarray) -> np.ndarray:
        assert rates is not None
        rate = rates[0] if len(rates) == 1 else rng.uniform(min(rates), max(rates))
        given = np.zeros(len(problem.columns))
        given[problem.nodes] = draw_uniform(problem.targets, problem.nodes, rng) < rate
        hidden = problem.hiding(problem.nodes[places])
        chosen = hidden.columns * given[:, None]
        options: dict[str, Any] = {"refine": False, "dtype": np.float32, "progress": False}
        inputs = hidden.view(chosen, problem.nodes, **options)
        return table(problem, inputs, problem.nodes)

    def oof(places: np.ndarray) -> np.ndarray:
        at = problem.nodes[places]
        return table(problem, problem.oof(at), at)

    data = RowData(rows(problem, problem.nodes), problem.Y, problem.weight)
    validation = None
    if problem.validation is not None:
        nodes, truth, weight = problem.validation
        validation = RowData(rows(problem, nodes), truth, weight)
    seed = int(np.random.default_rng(problem.seed).integers(2**31))
    link, bar = problem.link, problem.progress
    draw = without if rates is None else redraw
    fold = problem.folds(n_members if n_members > 1 else N_FOLDS, seed)
    args = (validation, link, n_members, fold, options, seed, bar)
    found = train_ensemble(data, problem.weight_at, oof, draw, rates is not None, *args)
    found.oof = found.oof[place]
    return found
