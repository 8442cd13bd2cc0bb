"""Interprets `y`: classes, several labels per node, or numbers, some of them missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .checks import as_numpy, check_choice, warn_caller
from .class_warnings import warn_of_classes
from .label_arrays import label_array, whole_numbers

TASKS = ("auto", "classification", "multilabel", "regression")


@dataclass(frozen=True)
class Targets:
    """Labels as numbers, one row per node."""

    task: str  # "classification", "multilabel" or "regression"
    Y: np.ndarray  # one-hot codes, indicators or values as float64; zeros where unlabeled
    labeled: np.ndarray  # which nodes have a known label
    classes: np.ndarray | None  # ascending; column numbers for multilabel, None for regression
    flat: bool  # whether `y` was one-dimensional; predictions then are too
    # The weight of each label, by default 1; zeros where unlabeled.
    weight: np.ndarray = None  # type: ignore[assignment]  # set below
    # Weights without those of "balanced" classes, which depend on the labels present: `only`
    # computes them again, or a label left out would still count.
    before_balance: np.ndarray | None = None
    # Keys for random draws that do not depend on node numbers; see `graph.node_keys`.
    keys: np.ndarray | None = None
    # Names of the columns of `y`, if it was a data frame whose columns are named by texts.
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.weight is None:
            object.__setattr__(self, "weight", self.labeled.astype(np.float64))

    @property
    def codes(self) -> np.ndarray:
        """Class numbers; −1 if unlabeled."""
        return np.where(self.labeled, self.Y.argmax(axis=1), -1)

    @property
    def class_names(self) -> list[str]:
        """The classes as texts. Whole numbers have no fraction, though gaps made floats of them."""
        assert self.classes is not None
        whole = self.classes.dtype.kind == "f" and (self.classes == np.floor(self.classes)).all()
        return [str(int(name) if whole else name) for name in self.classes.tolist()]

    @property
    def prior(self) -> np.ndarray:
        """Weighted mean of the labeled rows: class shares, or mean targets."""
        return self.weight @ self.Y / self.weight.sum()

    def only(self, nodes: np.ndarray) -> Targets:
        """The same labels at some nodes only; the others count as unlabeled."""
        keep = np.zeros(len(self.Y), bool)
        keep[nodes] = True
        keep &= self.labeled
        if keep.sum() == self.labeled.sum():
            return self
        Y = np.zeros_like(self.Y)
        Y[keep] = self.Y[keep]
        weight = np.where(keep, self.weight, 0.0)
        if self.before_balance is None:
            return replace(self, Y=Y, labeled=keep, weight=weight)
        base = np.where(keep, self.before_balance, 0.0)
        found = replace(self, Y=Y, labeled=keep, weight=base, before_balance=base)
        if not keep.any():
            return found
        return replace(found, weight=base * found._class_weights("balanced"))

    @property
    def weight_before_balance(self) -> np.ndarray:
        return self.weight if self.before_balance is None else self.before_balance

    def balanced_without_own(self, rows: np.ndarray) -> np.ndarray:
        """Class shares of the labeled nodes, made with `weight_before_balance`, with each class
        weighted as if the row's own label were unknown."""
        if self.before_balance is None:
            return rows
        own = self.Y[self.labeled]
        count = own.sum(axis=0) - own
        rows = rows / np.maximum(count, 1.0)
        return rows / rows.sum(axis=1, keepdims=True)

    def joined(self, other: Targets, class_weight: Any = None) -> Targets:
        """These labels and those of ``other``, which may have fewer nodes. With the class weights
        of these labels, the others get them too; "balanced" ones follow from all labels."""
        balanced = isinstance(class_weight, str)
        Y, weight = self.Y.copy(), (self.weight_before_balance if balanced else self.weight).copy()
        labeled, nodes = self.labeled.copy(), np.flatnonzero(other.labeled)
        Y[nodes], weight[nodes], labeled[nodes] = other.Y[nodes], other.weight[nodes], True
        found = replace(self, Y=Y, labeled=labeled, weight=weight, before_balance=None)
        if balanced:
            return found.weighted(weight, class_weight)
        if class_weight is not None:
            weight[nodes] *= found._class_weights(class_weight)[nodes]
            return found.only(np.flatnonzero(weight > 0))
        return found

    def weighted(self, sample_weight: Any, class_weight: Any) -> Targets:
        """The same labels with sample weights and class weights like scikit-learn's."""
        weight = self.labeled.astype(np.float64)
        if sample_weight is not None:
            weight *= check_sample_weight(sample_weight, len(self.Y))
        base = weight.copy() if isinstance(class_weight, str) else None
        if class_weight is not None and self.labeled.any():
            weight *= self._class_weights(class_weight)
        if not weight.any() and self.labeled.any():
            raise ValueError("`sample_weight` must not be zero at every labeled node; it is.")
        # A label of weight 0 counts as unlabeled.
        found = replace(self, weight=weight, before_balance=base)
        return found.only(np.flatnonzero(weight > 0))

    def _class_weights(self, class_weight: Any) -> np.ndarray:
        if self.task != "classification":
            raise ValueError(f"`class_weight` must be None for {self.task}; got {class_weight!r}.")
        from sklearn.utils.class_weight import compute_class_weight

        assert self.classes is not None
        if isinstance(class_weight, dict):
            unknown = [name for name in class_weight if name not in self.classes]
            if unknown:
                raise ValueError(f"`class_weight` must name classes of y; got {unknown[0]!r}.")
            class_weight = {name: class_weight.get(name, 1.0) for name in self.classes.tolist()}

        codes = self.codes
        present = np.unique(codes[self.labeled])
        known = self.classes[codes[self.labeled]]
        each = np.ones(len(self.classes))
        each[present] = compute_class_weight(class_weight, classes=self.classes[present], y=known)
        if not (np.isfinite(each) & (each >= 0)).all() or not each[present].any():
            raise ValueError(f"`class_weight` must be finite and above 0; got {class_weight!r}.")
        return np.where(self.labeled, each[np.maximum(codes, 0)], 0.0)


@dataclass(frozen=True)
class TargetScale:
    """Center and spread of numeric targets for training; classes are not scaled."""

    center: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, targets: Targets) -> TargetScale:
        Y = targets.Y[targets.labeled]
        if targets.task != "regression":
            return cls(np.zeros(Y.shape[1]), np.ones(Y.shape[1]))
        # Medians: one extreme target must not set its own scale.
        center = np.median(Y, axis=0)
        spread = 1.4826 * np.median(np.abs(Y - center), axis=0)
        spread = np.where(spread > 0, spread, Y.std(axis=0))
        return cls(center, np.where(spread > 0, spread, 1.0))

    def to(self, Y: np.ndarray) -> np.ndarray:
        return (Y - self.center) / self.spread

    def inputs(self, targets: Targets) -> np.ndarray:
        """Y_tr in the units of training; zeros where no label is known."""
        return np.where(targets.labeled[:, None], self.to(targets.Y), 0.0)

    def back(self, rows: np.ndarray) -> np.ndarray:
        return rows * self.spread + self.center


def check_sample_weight(value: Any, n_nodes: int) -> np.ndarray:
    """Weights ≥ 0, one per node; a scalar applies to all nodes."""
    weight = as_numpy("sample_weight", value)
    if weight.ndim == 0:
        weight = np.full(n_nodes, weight)
    if weight.shape != (n_nodes,) or weight.dtype.kind not in "biuf":
        raise ValueError(
            f"`sample_weight` must be one number per node ({n_nodes}); got {weight.dtype} of shape "
            f"{weight.shape}. Sample weights must be 1D array or scalar."
        )
    weight = weight.astype(np.float64)
    if not (np.isfinite(weight) & (weight >= 0)).all():
        row = int(np.argmax(~(np.isfinite(weight) & (weight >= 0))))
        raise ValueError(f"`sample_weight` must be finite and ≥ 0; row {row} is {weight[row]}.")
    return weight


def missing_labels(labels: np.ndarray) -> np.ndarray:
    """Where a label is missing: −1 of integers, NaN of floats, None or NaN of objects."""
    if labels.dtype.kind in "iu":
        missing = labels == -1
    elif labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        flat = [_is_missing(value) for value in labels.ravel().tolist()]
        missing = np.array(flat, dtype=bool).reshape(labels.shape)
    else:
        missing = np.zeros(labels.shape, bool)
    return missing if missing.ndim == 1 else missing.any(axis=1)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True


def narrowed(known: np.ndarray) -> np.ndarray:
    """Objects converted to strings, booleans or numbers, if all have the same type."""
    if known.dtype.kind != "O" or known.size == 0:
        return known
    kinds = {_kind(value) for value in known.ravel().tolist()}
    if known.ndim == 2 and kinds == {"boolean", "number"}:
        return known.astype(np.float64)  # a data frame with columns of both types
    if len(kinds) > 1:
        raise TypeError(
            "`y` must hold labels of one type; got a mix. Make them all strings or all numbers."
        )
    if kinds == {"sequence"}:
        raise TypeError(
            "`y` must hold one label per node; got lists. For several labels per node pass a "
            "matrix of zeros and ones (see scikit-learn's MultiLabelBinarizer), NaN if unknown."
        )
    return known if kinds == {"other"} else np.array(known.tolist())


def _kind(value: Any) -> str:
    if isinstance(value, str | bytes):
        return "string"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | float | np.number):
        return "number"
    return "sequence" if isinstance(value, list | tuple | set | np.ndarray) else "other"


def infer_task(labels: np.ndarray, missing: np.ndarray, task: str) -> str:
    """Resolve the task "auto" from dtype, shape, and whether floats have fractions."""
    check_choice("task", task, TASKS)
    if task != "auto":
        return task
    known = narrowed(labels[~missing])
    if labels.ndim == 2 and labels.shape[1] > 1:
        binary = known.dtype.kind in "biuf" and np.isin(known, (0, 1)).all()
        return "multilabel" if binary else "regression"
    if known.dtype.kind == "f" and (known != np.floor(known)).any():
        return "regression"
    return "classification"


def encode_targets(
    y: Any,
    n_nodes: int,
    task: str = "auto",
    classes: np.ndarray | None = None,
    *,
    columns: tuple[str, ...] | None = None,
    allow_none: bool = False,
) -> Targets:
    """`Targets` of any ``y``; ``classes`` and ``columns`` are those of an earlier fit.

    If both have named columns, ``y`` is brought into the order of ``columns``. ``allow_none``
    accepts labels that are all missing.

    >>> encode_targets(["b", None, "a"], 3).Y
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """
    found = column_names(y)
    if columns is not None and found is not None and found != columns and len(columns) > 1:
        y, found = _in_order(y, found, columns), columns
    labels = _as_labels(y)
    if len(labels) != n_nodes:
        raise ValueError(
            f"`y` must have one label per node ({n_nodes}); got {len(labels)}. "
            "Mark unlabeled nodes with −1 (integers), None (strings) or NaN (numbers)."
        )
    missing = missing_labels(labels)
    if task == "regression" and labels.dtype.kind in "iu":
        missing = np.zeros(len(labels), bool)  # −1 is an ordinary number there
    asked, task = task, infer_task(labels, missing, task)
    if task == "classification" and labels.dtype.kind == "f" and labels.ndim == 1:
        missing = missing | (labels == -1)  # integers that went through floats
    elif task == "classification" and labels.ndim == 1 and whole_numbers(labels, missing):
        missing = missing.copy()
        missing[~missing] = labels[~missing] == -1
    if missing.all() and not allow_none:
        raise ValueError("`y` must hold at least one label; all are missing.")
    flat = labels.ndim == 1 or (labels.shape[1] == 1 and task == "classification")
    if task == "classification":
        encoded = _encode_classes(labels, missing, classes)
        if classes is None and encoded.classes is not None:
            warn_of_classes(encoded.classes, chosen=asked != "auto")
        return replace(encoded, columns=found)
    matrix = (labels[:, None] if labels.ndim == 1 else labels).copy()
    if matrix.dtype.kind == "O":
        matrix[missing] = np.nan
    try:
        values = matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`y` must hold numbers for {task}; got {labels.dtype}.") from None
    values[missing] = 0
    if not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values).all(axis=1)))
        raise ValueError(f"`y` must be finite; row {row} holds infinity. Mark it missing (NaN).")
    if task == "multilabel" and not np.isin(values, (0, 1)).all():
        raise ValueError("`y` must hold zeros and ones for multilabel; got other numbers.")
    names = np.arange(values.shape[1]) if task == "multilabel" else None
    return Targets(task, values, ~missing, names, flat, columns=found)


def column_names(y: Any) -> tuple[str, ...] | None:
    """The column names of a data frame (pandas, polars); None if they are not texts, like
    scikit-learn's ``feature_names_in_``."""
    names = getattr(y, "columns", None)
    if names is None or not hasattr(y, "to_numpy"):
        return None
    found = tuple(names)
    if not all(isinstance(name, str) for name in found):
        return None
    twice = [name for k, name in enumerate(found) if name in found[:k]]
    if twice:
        raise ValueError(f"`y` must have different column names; got {twice[0]!r} twice.")
    return tuple(map(str, found))


def _in_order(y: Any, found: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
    if set(found) != set(wanted):
        odd = sorted(set(found) ^ set(wanted))[0]
        what = "lacks" if odd in wanted else "also has"
        raise ValueError(
            f"`y` must have the columns of the fit ({', '.join(map(repr, wanted[:5]))}"
            f"{', …' if len(wanted) > 5 else ''}); it {what} {odd!r}."
        )
    return y[list(wanted)]


def _as_labels(y: Any) -> np.ndarray:
    texts = isinstance(y, list | tuple) and any(v is None or isinstance(v, str) for v in y)
    # NumPy would turn all of them into strings.
    labels = np.array(y, dtype=object) if texts else label_array("y", y)
    if labels.ndim not in (1, 2) or (labels.shape[-1:] == (0,) and labels.ndim == 2):
        raise ValueError(f"`y` must have one or two dimensions; got shape {labels.shape}.")
    if labels.dtype.kind not in "biufOUS":
        raise TypeError(
            f"`y` must hold classes or real numbers; got {labels.dtype}. Convert it first."
        )
    if labels.ndim == 2 and labels.shape[1] == 1 and labels.dtype.kind in "OUSb":
        labels = labels[:, 0]
    return labels


def _encode_classes(labels: np.ndarray, missing: np.ndarray, classes: np.ndarray | None) -> Targets:
    if labels.ndim == 2:
        if labels.shape[1] > 1:
            raise ValueError(
                f"`y` must be one column for classification; got {labels.shape[1]}. "
                "Use task='multilabel' for indicators."
            )
        labels = labels[:, 0]
    known = narrowed(labels[~missing])
    try:
        found = np.unique(known)
    except TypeError:
        raise TypeError(
            "`y` must hold classes that can be sorted; these cannot. Use strings or integers."
        ) from None
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError("`y` must be finite; got infinity. Mark missing labels with NaN.")
    if classes is None:
        classes = found
        if len(found) == 1 and labels.dtype.kind in "iuf" and (labels == -1).any():
            warn_caller(
                f"`y` holds one class only, {found[0]}, because −1 marks a missing label. If −1 is "
                "a class, write the classes as 0 and 1, or as strings."
            )
    elif not np.isin(found, classes).all():
        new = found[~np.isin(found, classes)][0]
        raise ValueError(f"`y` must hold classes seen in fit; got {new!r}. Fit again to add it.")
    Y = np.zeros((len(labels), len(classes)))
    Y[np.flatnonzero(~missing), np.searchsorted(classes, known)] = 1
    return Targets("classification", Y, ~missing, classes, True)
