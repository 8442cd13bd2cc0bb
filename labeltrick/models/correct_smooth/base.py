"""Base predictions: the predictions that Correct & Smooth corrects and smooths.

A base is a scikit-learn or labeltrick estimator, a torch module, or an array of predictions.
Models that are already fitted are used as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..._utils.extras import require
from ..._utils.frame_columns import refused_by_base
from ..._utils.targets import Targets
from ...graph.graph import Graph
from ..base.estimator import GraphEstimator
from ..base.folds import draw_folds
from ..base.node_inputs import NodeInputs
from ..base.unused_types import fitting

BASES = ("mlp", "linear")
_WANTED = "'mlp', 'linear', an estimator, a torch module or an array of predictions"
_SUM_ERROR = 1e-3


def settle_base(base: Any, seed: Any, progress: Any) -> Any:
    """The estimator, module or array given by the parameter ``base``; by name, the MLP of Huang et
    al. (3 layers of 256 units) or one linear layer, on a node's features."""
    if isinstance(base, str):
        if base not in BASES:
            raise ValueError(f"`base` must be {_WANTED}; got {base!r}.")
        require("torch", f"base={base!r}")
        from ..linear_gnn import SGC, SIGN

        options: dict[str, Any] = {"label_trick": None, "calibrate": False, "random_state": seed}
        if base == "linear":
            return SGC(0, progress=progress, **options)
        return SIGN(0, n_layers=3, hidden_norm="batch", progress=progress, **options)
    if hasattr(base, "fit") or is_module(base):
        return base
    if base is None or callable(base):
        raise TypeError(f"`base` must be {_WANTED}; got {base!r}.")
    return np.asarray(base)


def is_module(base: Any) -> bool:
    torch = sys.modules.get("torch")  # a module exists only if torch was imported
    return torch is not None and isinstance(base, torch.nn.Module)


def can_be_fitted(base: Any) -> bool:
    """Whether `fit_base` fits it: an estimator that is not fitted yet."""
    if not hasattr(base, "fit") or is_module(base):
        return False
    try:
        check_is_fitted(base, "targets_" if isinstance(base, GraphEstimator) else None)
    except NotFittedError:
        return True
    return False


@dataclass(frozen=True)
class FittedBase:
    """A model fitted on all labeled nodes and, for out-of-fold predictions, the nodes of each fold
    with the model fitted without their labels.

    ``fitted_here`` says whether `fit_base` fitted the model, on class numbers instead of names.
    """

    model: Any
    fitted_here: bool = False
    folds: tuple[tuple[np.ndarray, Any], ...] = ()

    def by_fold(self, inputs: NodeInputs) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(nodes of a fold, predictions of all nodes by the fold's model) for each fold."""
        for nodes, model in self.folds:
            yield nodes, predict_base(model, inputs, self.fitted_here)

    def rows(self, inputs: NodeInputs) -> np.ndarray:
        """(n, c) predictions of all nodes; those of a fold come from its model, wherever the
        fold's nodes are in these inputs."""
        rows = predict_base(self.model, inputs, self.fitted_here)
        for nodes, model in self.folds:
            here = nodes if inputs.of_fit is None else np.flatnonzero(np.isin(inputs.of_fit, nodes))
            if isinstance(model, GraphEstimator):
                rows[here] = predict_base(model, inputs, self.fitted_here)[here]
            elif len(here):
                some = replace(inputs, X=_safe_indexing(inputs.X, here))
                rows[here] = predict_base(model, some, self.fitted_here)
        return rows


def fit_base(
    base: Any, inputs: NodeInputs, validation: Targets, *, n_folds: int = 0, seed: int = 0
) -> FittedBase:
    """Fit a base on the labeled nodes, and ``n_folds`` copies of it without one fold each."""
    if not can_be_fitted(base):
        return FittedBase(base)
    known, nodes = inputs.targets, np.flatnonzero(inputs.targets.labeled)
    base = _seeded(base, seed)
    whole = _fit_one(base, inputs, validation)
    n_folds = min(n_folds, len(nodes))
    folds: list[tuple[np.ndarray, Any]] = []
    if n_folds >= 2:
        fold = draw_folds(known, nodes, n_folds, seed)
        for k in range(n_folds):
            some = replace(inputs, targets=known.only(nodes[fold != k]))
            folds.append((nodes[fold == k], _fit_one(base, some, validation)))
    return FittedBase(whole, True, tuple(folds))


def _seeded(base: Any, seed: int) -> Any:
    """A copy in which every ``random_state`` is set."""
    copy, rng = clone(base), np.random.default_rng(seed)
    free = [
        name
        for name, value in sorted(copy.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return copy.set_params(**{name: int(rng.integers(2**31)) for name in free})


def _fit_one(base: Any, inputs: NodeInputs, validation: Targets) -> Any:
    known, nodes = inputs.targets, np.flatnonzero(inputs.targets.labeled)
    if isinstance(base, GraphEstimator):
        model = clone(base)
        if "task" in model.get_params():
            model.set_params(task=known.task)
        options: dict[str, Any] = {"sample_weight": known.weight + validation.weight}
        if validation.labeled.any():
            options["validation"] = np.flatnonzero(validation.labeled)
        return model.fit(inputs.X, with_gaps(known, validation), graph=inputs.graph, **options)
    model, weight, options = _for_columns(clone(base), known), known.weight[nodes], {}
    if np.ptp(weight) > 0:
        if not has_fit_parameter(base, "sample_weight"):
            raise ValueError(
                f"`base` must accept sample_weight in fit to be fitted with weights; "
                f"{type(base).__name__} does not. Omit sample_weight and class_weight."
            )
        options["sample_weight"] = weight
    y = with_gaps(known)[nodes]
    y = y if known.task == "regression" else y.astype(np.int64)
    with _explained(model, inputs.X):
        return model.fit(_safe_indexing(inputs.X, nodes), y, **options)


@contextmanager
def _explained(model: Any, X: Any) -> Iterator[None]:
    """Say which columns a base model may not take, if it fails on them."""
    try:
        yield
    except (TypeError, ValueError) as error:
        clear = None
        if not isinstance(model, GraphEstimator):
            clear = refused_by_base(f"the base {type(model).__name__}", X, error)
        if clear is None:
            raise
        raise clear from error


def _for_columns(model: Any, known: Targets) -> Any:
    """The model, wrapped to fit one copy per column of ``y`` if it supports only one; for a single
    class, a dummy classifier."""
    if known.task == "classification" and (known.Y.sum(axis=0) > 0).sum() == 1:
        from sklearn.dummy import DummyClassifier

        return DummyClassifier()
    tags = get_tags(model)
    if known.task == "multilabel" and not (
        tags.classifier_tags is not None and tags.classifier_tags.multi_label
    ):
        from sklearn.multiclass import OneVsRestClassifier

        return OneVsRestClassifier(model)
    several = known.task == "regression" and known.Y.shape[1] > 1
    if several and not tags.target_tags.multi_output:
        from sklearn.multioutput import MultiOutputRegressor

        return MultiOutputRegressor(model)
    return model


def with_gaps(known: Targets, validation: Targets | None = None) -> np.ndarray:
    """Targets of all nodes in scikit-learn's form, with classes as numbers; NaN where neither has a
    label."""
    known = known if validation is None else known.joined(validation)
    if known.task == "classification":
        return np.where(known.labeled, known.codes, np.nan)
    Y = np.where(known.labeled[:, None], known.Y, np.nan)
    return Y[:, 0] if known.task == "regression" and known.flat else Y


# -- predictions -------------------------------------------------------------------------------
def predict_base(model: Any, inputs: NodeInputs, fitted_here: bool) -> np.ndarray:
    """(n, c) checked predictions of a fitted base."""
    with fitting():
        return check_predictions(_rows_of(model, inputs, fitted_here), inputs.targets)


def _rows_of(model: Any, inputs: NodeInputs, fitted_here: bool) -> np.ndarray:
    options: dict[str, Any] = {}
    if isinstance(model, GraphEstimator):
        options["graph"] = inputs.graph
        if inputs.graph is not model.graph_:  # its own labels belong to the nodes of the fit
            options["y"] = with_gaps(inputs.targets)
    if isinstance(model, np.ndarray):
        rows = _given_rows(model, inputs.graph)
    elif is_module(model):
        rows = _module_rows(model, inputs)
    elif inputs.targets.task == "regression":
        with _explained(model, inputs.X):
            rows = np.asarray(model.predict(inputs.X, **options), np.float64)
    elif not hasattr(model, "predict_proba"):
        raise TypeError(
            f"`base` must have predict_proba to predict classes; {type(model).__name__} does not. "
            "Wrap it in sklearn.calibration.CalibratedClassifierCV, or pass task='regression' if "
            "y holds numbers to predict."
        )
    else:
        with _explained(model, inputs.X):
            found = model.predict_proba(inputs.X, **options)
        rows = _probabilities(found, model, inputs.targets, fitted_here)
    return rows.reshape(len(rows), -1)


def _given_rows(rows: np.ndarray, graph: Graph) -> np.ndarray:
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"`base` must be an array of numbers; got dtype {rows.dtype}.")
    if len(rows) != graph.n_nodes:
        raise ValueError(
            f"`base` must have one row of predictions per node ({graph.n_nodes}); got "
            f"{len(rows)}. For another graph, use an estimator or a torch module as base."
        )
    return rows if rows.dtype == np.float32 else rows.astype(np.float64)


def _probabilities(found: Any, model: Any, known: Targets, fitted_here: bool) -> np.ndarray:
    """Columns in the order of the classes of ``y``; zeros for classes the model never saw."""
    if isinstance(found, list):  # scikit-learn: for each label one array, (n, 2) if both occurred
        each = zip(found, model.classes_, strict=True)
        found = np.stack([rows @ (np.asarray(classes) == 1) for rows, classes in each], axis=1)
    found = np.asarray(found, np.float64)
    if known.task == "multilabel":
        return found[:, 1:] if known.Y.shape[1] == 1 and found.shape[1] == 2 else found
    assert known.classes is not None
    c, named = len(known.classes), getattr(model, "classes_", None)
    if named is None:
        return found
    if fitted_here:  # on class numbers; a class that only validation nodes have may be missing
        rows = np.zeros((len(found), c))
        rows[:, np.asarray(named, np.int64)] = found
        return rows
    names = np.asarray(named).tolist()
    missing = [name for name in known.classes.tolist() if name not in names]
    if missing:
        raise ValueError(
            f"`base` must know the {c} classes of y; it was fitted on {len(names)} classes, "
            f"without {missing[0]!r}. Fit it on all classes, or pass it unfitted."
        )
    rows = found[:, [names.index(name) for name in known.classes.tolist()]]
    if len(names) == c:
        return rows
    total = rows.sum(axis=1, keepdims=True)  # it may know classes that y does not have
    return np.where(total > 0, rows / np.where(total > 0, total, 1.0), 1 / c)


def _module_rows(module: Any, inputs: NodeInputs) -> np.ndarray:
    """Outputs of a torch module on the features, with scores turned into probabilities."""
    import torch

    from ...nn.training import linked

    X = inputs.X.toarray() if hasattr(inputs.X, "toarray") else inputs.X
    like = next(module.parameters(), torch.zeros(0))
    x = torch.from_numpy(np.ascontiguousarray(X, np.float64)).to(like.device, like.dtype)
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            found = module(x).cpu()
    finally:
        for part, training in modes.items():
            part.training = training
    rows, task = found.numpy(), inputs.targets.task
    if task == "regression" or rows.ndim != 2:
        return rows
    if task == "multilabel":
        return linked(found, "sigmoid").numpy()
    inside = (rows >= 0).all() and (rows <= 1).all()
    if inside and np.abs(rows.sum(axis=1) - 1).max(initial=0.0) < _SUM_ERROR:
        return rows
    return linked(found, "softmax").numpy()


def check_predictions(rows: np.ndarray, known: Targets) -> np.ndarray:
    """Check that rows are finite, as wide as the labels and, for classes, probabilities."""
    c = known.Y.shape[1]
    if rows.shape[1] != c:
        what = "one column per class" if known.task == "classification" else "the columns of y"
        raise ValueError(f"`base` must predict {what} ({c}); got {rows.shape[1]} columns.")
    if not np.isfinite(rows).all():
        row = int(np.argwhere(~np.isfinite(rows).all(axis=1))[0, 0])
        raise ValueError(f"`base` must predict finite numbers; row {row} contains NaN or infinity.")
    if known.task == "regression":
        return rows
    out = (rows < -_SUM_ERROR) | (rows > 1 + _SUM_ERROR)
    if out.any():
        row = int(np.argwhere(out.any(axis=1))[0, 0])
        raise ValueError(
            f"`base` must predict probabilities; row {row} contains {rows[row][out[row]][0]:.4g}. "
            "Apply a softmax to scores first."
        )
    if known.task == "classification":
        total = rows.sum(axis=1)
        row = int(np.abs(total - 1).argmax()) if len(rows) else 0
        if len(rows) and abs(total[row] - 1) > _SUM_ERROR:
            raise ValueError(
                f"`base` must predict probabilities that sum to one; row {row} sums to "
                f"{total[row]:.4g}. Divide the rows by their sums, or apply a softmax to scores."
            )
    return rows
