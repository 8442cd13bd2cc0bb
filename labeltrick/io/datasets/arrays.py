"""Checked conversion of arrays from files to labels, features and nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMBERS = "fiub"


def whole_numbers(where: str, array: Any) -> np.ndarray:
    """Convert an array of whole numbers to int64; 2.0 is a whole number, 2.5 and NaN are not.

    ``where`` begins the error message, such as "`labels` in 'a.npz'".
    """
    array = np.asarray(array)
    if array.dtype.kind not in _NUMBERS:
        raise ValueError(f"{where} must hold whole numbers; got {array.dtype}.")
    if array.dtype.kind == "f":
        bad = ~(np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2**53))
    else:
        bad = array > np.iinfo(np.int64).max if array.dtype.kind == "u" else np.zeros(1, bool)
    if bad.any():
        at = tuple(int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"{where} must hold whole numbers; got {array[at]} at index {at[0]}. Write −1 where a "
            "label is missing."
        )
    return array.astype(np.int64)


def class_labels(where: str, array: Any, n_nodes: int) -> np.ndarray:
    """One class per node, counted from 0; −1 where it is missing."""
    shape = np.shape(array)
    if shape != (n_nodes,):
        raise ValueError(f"{where} must have one entry per node ({n_nodes},); got shape {shape}.")
    labels = whole_numbers(where, array)
    bad = labels < -1
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{where} must hold classes from 0 on, or −1 for a missing one; got {labels[row]} at "
            f"index {row}."
        )
    return labels


def feature_matrix(where: str, array: Any, n_nodes: int) -> np.ndarray:
    """One row of numbers per node, as float32; NaN marks a missing value."""
    array = np.asarray(array)
    if array.ndim != 2 or len(array) != n_nodes:
        raise ValueError(f"{where} must have one row per node ({n_nodes}); got {array.shape}.")
    if array.dtype.kind not in _NUMBERS:
        raise ValueError(f"{where} must hold numbers; got {array.dtype}.")
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32)
    if np.isinf(narrow).any():
        row = int(np.argmax(np.isinf(narrow).any(axis=1)))
        raise ValueError(
            f"{where} must hold numbers that fit into 32 bits; row {row} (counted from 0) holds "
            "infinity or a larger number. Scale the column, or write NaN for a missing value."
        )
    return narrow


def nodes_of_mask(where: str, mask: Any, n_nodes: int) -> np.ndarray:
    """The nodes at which a mask is true."""
    mask = np.asarray(mask)
    if mask.shape != (n_nodes,):
        raise ValueError(
            f"{where} must have one entry per node ({n_nodes},); got shape {mask.shape}."
        )
    if mask.dtype != bool and not (mask.dtype.kind in "iu" and np.isin(mask, (0, 1)).all()):
        raise ValueError(f"{where} must hold true and false; got {mask.dtype}.")
    return np.flatnonzero(mask)
