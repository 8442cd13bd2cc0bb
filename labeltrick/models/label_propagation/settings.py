"""Parameters of `TrainableLabelPropagation`: their checks, and the meaning of "auto"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._utils.checks import check_choice, check_count, check_damping, check_flag, check_number
from ...graph.normalized import NORMS
from ..base.weights import check_split_rates, link_of
from .design import DesignSettings

if TYPE_CHECKING:
    from .trainable import TrainableLabelPropagation


@dataclass(frozen=True)
class Settled:
    """Parameters after "auto" is resolved.

    ``by_theorem`` says whether Theorem 1's closed form applies. ``node_types`` is None if weights
    do not depend on them.
    """

    design: DesignSettings
    link: str
    node_types: np.ndarray | None
    by_theorem: bool
    rates: tuple[float, ...]
    ridge: float


def settle(model: TrainableLabelPropagation) -> Settled:
    """Check the parameters of a model that has its labels and graph."""
    task, graph = model.targets_.task, model.graph_
    _check_choices(model, task)
    squared = model.loss == "squared" or task == "regression"
    norms = _norms(model)
    typed = model.types == "auto"
    types = np.unique(graph.node_types) if typed and graph.node_types is not None else None
    one_view = len(norms) == 1 and not (typed and graph.relations) and types is None
    theorem = squared and task != "regression" and model.weights == "shared"
    theorem &= one_view and not model.gate
    normalize = not theorem if model.normalize == "auto" else bool(model.normalize)
    theorem &= not normalize and model.label_trick == "deterministic"
    rates = check_split_rates(model.split_rate)
    if (
        model.label_trick == "deterministic"
        and not theorem
        and not isinstance(model.split_rate, str)
    ):
        raise ValueError(
            f"`split_rate` must be 'auto' here; got {model.split_rate!r}. At a rate below 1, only "
            "squared loss on one shared, unnormalized view of classes has a deterministic form; "
            "use label_trick='stochastic' otherwise."
        )
    ridge = 0.0 if theorem else 1.0
    if model.ridge != "auto":
        ridge = 0.0 if model.ridge == 0 else check_number("ridge", model.ridge, 0, np.inf)
    design = DesignSettings(
        weights=model.weights,
        damping=check_damping(model.damping),
        n_steps=model.n_steps,
        n_hops=check_count("n_hops", model.n_hops, 1),
        norms=norms,
        self_loops=model.self_loops,
        normalize=normalize,
        tol=model.tol,
    )
    link = "identity" if squared else link_of(task)
    return Settled(design, link, types, theorem, rates, ridge)


def _check_choices(model: TrainableLabelPropagation, task: str) -> None:
    check_choice("label_trick", model.label_trick, ("deterministic", "stochastic"))
    check_choice("weights", model.weights, ("shared", "per_hop", "mlp"))
    check_choice("loss", model.loss, ("auto", "cross_entropy", "squared"))
    check_choice("edge_weights", model.edge_weights, ("given", "learned"))
    check_choice("types", model.types, ("auto", False))
    check_choice("normalize", model.normalize, ("auto", True, False))
    check_flag("gate", model.gate)
    if task == "regression" and model.loss == "cross_entropy":
        raise ValueError("`loss` must be 'squared' or 'auto' for numbers; got 'cross_entropy'.")
    if model.weights == "mlp" and model.loss == "squared" and task != "regression":
        raise ValueError(
            "`loss` must be 'cross_entropy' or 'auto' for classes with weights='mlp'; got "
            "'squared'."
        )
    if model.weights == "mlp" and model.edge_weights == "learned":
        raise ValueError(
            "`weights` must be 'shared' or 'per_hop' with edge_weights='learned'; got 'mlp'."
        )


def _norms(model: TrainableLabelPropagation) -> tuple[str, ...]:
    if isinstance(model.norm, str) and model.norm == "auto":
        return ("row", "col") if model.weights == "mlp" else ("sym",)
    norms = (model.norm,) if isinstance(model.norm, str) else tuple(model.norm)
    for norm in norms or ("none given",):
        check_choice("norm", norm, NORMS)
    return norms
