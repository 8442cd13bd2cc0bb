"""The classes that a saved model may consist of, and the checks of their fields.

Model files may come from strangers, and checksums prove nothing: whoever changes a file can change
its checksum too. Therefore only classes of this list are created from a file, fields must have the
declared types, and arrays that belong together must have the same length.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Any

import numpy as np

from ..._utils.annotations import fits, hints_of
from ...graph.compute import SETTINGS

# Settings of the machine on which a model was fitted. They name folders and addresses, so they are
# never taken from a file.
OF_THE_MACHINE = {
    **dict.fromkeys(SETTINGS),
    "engine": "auto",
    "progress": None,
    "resume_from": None,
}

_MODULES = {
    "models.label_propagation.design": ("DesignSettings", "LabelDesign"),
    "models.label_propagation.edge_function": ("EdgeFunction",),
    "_utils.feature_tables": ("FeatureScale",),
    "models.label_propagation.problem": ("LabelProblem",),
    "models.base.weights": ("LinearFit",),
    "models.auto.attempts": ("Part",),
    "models.auto.blend": ("Correction",),
    "models.auto.columns": ("AutoColumns", "ColumnRecipe", "Signal"),
    "models.auto.crossfit": ("FittedLearner", "RowMaker"),
    "models.auto.estimator": ("AutoModel",),
    "models.auto.label_dropout": ("LabelDropout",),
    "models.auto.learners.graph_network": (
        "DeepGraphNetworkLearner",
        "GraphNetwork",
        "GraphNetworkLearner",
    ),
    "models.auto.learners.linear": ("Linear", "LinearLearner"),
    "models.auto.learners.nearby": ("NearbyWords", "WordsNearbyLearner"),
    "models.auto.learners.network": ("DeepNetworkLearner", "Network", "NetworkLearner"),
    "models.auto.learners.protocol": ("Member",),
    "models.auto.learners.row_wise": ("RangeScale",),
    "models.auto.learners.trees": ("OwnColumnsLearner", "TreesLearner"),
    "models.auto.plan": ("FitPlan",),
    "models.auto.trials": ("Trial",),
    "models.base.date_columns": ("DateColumns",),
    "models.base.tables": ("Column", "Table"),
    "models.base.word_columns": ("WordColumns",),
    "models.boosting.estimator": ("GraphBoosting",),
    "models.boosting.learned": ("BoostingOptions", "FeatureTrees", "GrownTrees", "StagedTrees"),
    "models.boosting.node_columns": ("LabelColumns", "NeighborColumns"),
    "models.boosting.rounds": ("Grown", "StepWeights"),
    "models.boosting.trees": ("TreeBase", "TreeOptions", "Trees"),
    "evaluation.calibration": ("Calibration",),
    "models.correct_smooth.base": ("FittedBase",),
    "models.correct_smooth.classic": ("CorrectAndSmooth", "Corrected"),
    "models.correct_smooth.end_to_end": ("EndToEnd",),
    "models.correct_smooth.steps": ("Spread",),
    "models.correct_smooth.trainable": ("TrainableCorrectAndSmooth",),
    "models.correct_smooth.two_stage": ("TwoStage",),
    "models.correct_smooth.views": ("SideBySide", "StepViews"),
    "models.gnn.estimator": ("GNN",),
    "models.label_propagation.plain": ("LabelPropagation",),
    "self_exclusion.label_views": ("LabelViews",),
    "models.linear_gnn.regression": ("LabelFeatureRegression",),
    "models.linear_gnn.sgc": ("SGC",),
    "models.linear_gnn.sign": ("SIGN",),
    "models.linear_gnn.twirls": ("TWIRLS",),
    "nn.epochs": ("Training",),
    "models.auto.on_table": ("OnTable",),
    "_utils.targets": ("TargetScale", "Targets"),
    "models.label_propagation.trainable": ("TrainableLabelPropagation",),
}
_PROPAGATIONS = {
    "propagation.hops": ("Hops",),
    "propagation.polynomials": ("HopSum", "Iteration", "Power", "Series"),
    "propagation.resolvent": ("Resolvent",),
    "propagation.unfolded": ("Unfolded",),
}
PARTS = {name: module for module, names in _MODULES.items() for name in names}
PROPAGATIONS = {name: module for module, names in _PROPAGATIONS.items() for name in names}


def find_class(name: Any, listed: dict[str, str]) -> type:
    """The class of that name, or a `ValueError` if it is not listed."""
    if not isinstance(name, str) or name not in listed:
        raise ValueError(f"it names {str(name)[:80]!r}, which is not part of any model")
    return getattr(import_module(f"labeltrick.{listed[name]}"), name)


def is_listed(kind: type, listed: dict[str, str]) -> bool:
    return kind.__module__ == f"labeltrick.{listed.get(kind.__name__)}"


def is_record(kind: type) -> bool:
    """Whether objects consist of their fields; those of estimators are only their parameters."""
    return dataclasses.is_dataclass(kind) and not hasattr(kind, "get_params")


def made_from(kind: type, state: dict[str, Any]) -> Any:
    """The object with these fields, or a `ValueError` if they do not suit the class."""
    made: Any
    if is_record(kind):
        _check_fields(kind, state)
        made = kind(**state)
    else:
        _check_attributes(kind, state)
        made = object.__new__(kind)
        made.__dict__.update(state)
    if kind.__name__ == "Targets":
        _check_targets(made)
    return made


# -- fields ------------------------------------------------------------------------------------
def _check_fields(kind: type, state: dict[str, Any]) -> None:
    fields = dataclasses.fields(kind)
    wanted = {field.name for field in fields if field.init}
    if set(state) != wanted:
        odd = sorted(set(state) ^ wanted)[0]
        raise ValueError(f"{kind.__name__} has too few or too many fields: {odd!r}")
    for name, value in state.items():
        if name in OF_THE_MACHINE and value is None:
            continue
        if not fits(value, hints_of(kind)[name]):
            raise ValueError(f"{kind.__name__}.{name} must not be a {type(value).__name__}")


def _check_attributes(kind: type, state: dict[str, Any]) -> None:
    """Check that no value hides a method and that no parameter is missing."""
    for name in state:
        if not name.isidentifier() or name.startswith("__") or callable(getattr(kind, name, None)):
            raise ValueError(f"{kind.__name__} must not have a field {name[:80]!r}")
    parameters: list[str] = getattr(kind, "_get_param_names", list)()
    missing = [name for name in parameters if name not in state]
    if missing:
        raise ValueError(f"{kind.__name__} lacks the field {missing[0]!r}")
    if parameters:
        state |= {name: usual for name, usual in OF_THE_MACHINE.items() if name in state}


# -- arrays that belong together ---------------------------------------------------------------
def _check_targets(targets: Any) -> None:
    n = len(targets.labeled)
    sound = (
        targets.task in ("classification", "multilabel", "regression")
        and targets.Y.ndim == 2
        and targets.Y.dtype.kind == "f"
        and np.isfinite(targets.Y).all()
        and targets.labeled.dtype == bool
        and targets.labeled.shape == (n,)
        and len(targets.Y) == n
        and all(
            weight is None or (weight.shape == (n,) and weight.dtype.kind == "f")
            for weight in (targets.weight, targets.before_balance)
        )
        and (targets.keys is None or (targets.keys.shape, targets.keys.dtype.kind) == ((n,), "u"))
        and (targets.classes is None) == (targets.task == "regression")
        and (targets.classes is None or targets.classes.shape == targets.Y.shape[1:])
        and _columns_fit(targets)
    )
    if not sound:
        raise ValueError("the labels in it do not fit together")


def _columns_fit(targets: Any) -> bool:
    names = targets.columns
    n_columns = 1 if targets.task == "classification" else targets.Y.shape[1]
    return names is None or (len(names) == n_columns == len(set(names)))


def check_fitted(model: Any) -> None:
    """Check that a model is a fitted estimator whose graph, labels and features have the same
    nodes."""
    from ..._utils.targets import Targets
    from ...graph.graph import Graph
    from ...models.base.estimator import GraphEstimator

    inner: Any = model.__dict__.get("model", model)
    if not isinstance(inner, GraphEstimator):
        raise ValueError("it does not hold an estimator")
    if inner is not model and not {"features_", "_signal"} <= set(model.__dict__):
        raise ValueError("parts of the estimator are missing")
    state: Any = vars(inner)
    graph, targets = state.get("graph_"), state.get("targets_")
    if not isinstance(graph, Graph) or not isinstance(targets, Targets):
        raise ValueError("it does not hold a fitted estimator")
    if not isinstance(state.get("_cache"), dict):
        raise ValueError("parts of the estimator are missing")
    n = graph.n_nodes
    for known in (targets, state.get("validation_targets_", targets)):
        if not isinstance(known, Targets) or len(known.labeled) != n:
            raise ValueError("graph and labels have different nodes")
    for name, known in (("labeled_", targets), ("validation_", state.get("validation_targets_"))):
        nodes: Any = state.get(name)
        if known is None:
            continue
        wanted = np.flatnonzero(known.labeled)
        # An empty array of floats equals an empty array of integers.
        if not np.array_equal(nodes, wanted) or np.asarray(nodes).dtype.kind not in "iu":
            raise ValueError(f"{name} does not fit the labels")
    prior: Any = state.get("prior_")
    if np.shape(prior) != targets.Y.shape[1:]:
        raise ValueError("prior_ does not fit the labels")
    features = state.get("features_")
    values = getattr(features, "values", features)
    if values is not None and getattr(values, "shape", (n,))[0] != n:
        raise ValueError("graph and features have different nodes")
    check = getattr(inner, "_check_parameters", None)
    if check is not None:
        check()
