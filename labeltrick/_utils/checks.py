"""Input checks and their error messages: what was expected, what was given, what to do."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# Sums, inverses and squares of weights in this range cannot overflow or underflow.
_LIGHTEST, _HEAVIEST = 1e-75, 1e75


def warn_caller(text: str) -> None:
    """Warn about the line of the caller's code that led here."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_ours(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def _is_ours(frame: Any) -> bool:
    return frame.f_globals.get("__name__", "").startswith("labeltrick.")  # missing under exec


def as_numpy(name: str, value: Any) -> np.ndarray:
    """A NumPy array of any array-like: lists, polars, pandas, torch tensors on any device."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "to_numpy") and not isinstance(value, np.ndarray):
        value = value.to_numpy()
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"`{name}` must be a plain array; got a masked array. Fill or drop the masked entries."
        )
    array = np.asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype == object and array.ndim == 0:
        raise TypeError(
            f"`{name}` must be an array; got {type(value).__name__}. "
            "Pass a numpy array, a list, a polars or pandas column, or a torch tensor."
        )
    return array


def check_node_ids(name: str, value: Any, n_nodes: int | None) -> np.ndarray:
    """A one-dimensional array of integers ≥ 0, below ``n_nodes`` if that is given."""
    ids = as_numpy(name, value)
    if ids.ndim != 1:
        raise ValueError(f"`{name}` must be one-dimensional; got shape {ids.shape}.")
    if len(ids) == 0:
        return ids.astype(np.int64)
    if ids.dtype.kind not in "iu":
        row = 0  # of the first float that is not a whole number, if there is one
        if ids.dtype.kind == "f":
            row = int(np.argmax(~np.isfinite(ids) | (ids != np.floor(ids))))
        raise TypeError(
            f"`{name}` must hold integer node ids; got {ids.dtype} (row {row}: {ids[row]!s}). "
            "Cast whole numbers with .astype('int64'); number other ids 0…n−1 first."
        )
    if ids.min() < 0:
        raise _at_row(name, ids, ids < 0, "node ids ≥ 0", "Number the nodes 0…n−1 first.")
    if n_nodes is not None and ids.max() >= n_nodes:
        advice = "Pass a larger `n_nodes`, or number the nodes 0…n−1 first."
        raise _at_row(name, ids, ids >= n_nodes, f"node ids below n_nodes={n_nodes}", advice)
    return ids


def check_edge_weights(name: str, value: Any, n_edges: int) -> np.ndarray:
    """One finite number ≥ 0 per edge, as float32 or float64."""
    weights = as_numpy(name, value)
    if weights.ndim != 1 or len(weights) != n_edges:
        raise ValueError(
            f"`{name}` must have one entry per edge ({n_edges}); got shape {weights.shape}."
        )
    if weights.dtype.kind not in "fiub":
        raise TypeError(f"`{name}` must hold numbers; got {weights.dtype}.")
    if weights.dtype not in (np.float32, np.float64):
        weights = weights.astype(np.float64)
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        advice = "Drop these edges, or map the weights to non-negative numbers first."
        raise _at_row(name, weights, bad, "finite weights ≥ 0", advice)
    wide = weights.astype(np.float64, copy=False)
    extreme = (wide > 0) & ((wide < _LIGHTEST) | (wide > _HEAVIEST))
    if extreme.any():
        wanted = f"zeros and weights between {_LIGHTEST:g} and {_HEAVIEST:g}"
        advice = "Divide all weights by a typical one, or set negligible ones to 0."
        raise _at_row(name, weights, extreme, wanted, advice)
    return weights


def _at_row(name: str, values: np.ndarray, bad: np.ndarray, wanted: str, advice: str) -> ValueError:
    """The error for the first bad value."""
    row = int(np.argmax(bad))
    return ValueError(f"`{name}` must hold {wanted}; got {values[row]} at row {row}. {advice}")


def check_ids_are_dense(n_nodes: int, n_edges: int) -> None:
    """Refuse a node count that only a stray id can explain: memory grows with the largest id."""
    if n_nodes > 10_000_000 and n_nodes > 1000 * n_edges:
        raise ValueError(
            f"`src` and `dst` must be numbered 0…n−1; got {n_edges} edges and ids up to "
            f"{n_nodes - 1}. Number the nodes first (np.unique with return_inverse), or pass "
            "`n_nodes` if there really are that many."
        )


def check_same_length(name_a: str, a: Sequence | np.ndarray, name_b: str, b: Any) -> None:
    """Refuse two columns of different lengths."""
    if len(a) != len(b):
        raise ValueError(
            f"`{name_a}` and `{name_b}` must have the same length; got {len(a)} and {len(b)}."
        )


def check_count(name: str, value: Any, minimum: int = 0) -> int:
    """A whole number ≥ ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"`{name}` must be an integer; got {value!r} ({type(value).__name__}).")
    if value < minimum:
        raise ValueError(f"`{name}` must be at least {minimum}; got {value}.")
    return int(value)


def check_number(name: str, value: Any, low: float, high: float, hint: str = "") -> float:
    """A number strictly between ``low`` and ``high``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"`{name}` must be a number; got {value!r} ({type(value).__name__}).")
    number = float(value)
    if not low < number < high:
        room = f"above {low:g}" if high == math.inf else f"strictly between {low:g} and {high:g}"
        raise ValueError(f"`{name}` must be {room}; got {value}.{' ' + hint if hint else ''}")
    return number


def check_share(name: str, value: Any) -> float:
    """A number from 0 to below 1."""
    return 0.0 if value == 0 else check_number(name, value, 0.0, 1.0)


def check_damping(value: Any) -> float:
    """A number strictly between 0 and 1."""
    return check_number(
        "damping", value, 0.0, 1.0, "It is the share of a node's value that comes from neighbors."
    )


def check_flag(name: str, value: Any, *, optional: bool = False) -> Any:
    """True or False; with ``optional``, also None."""
    if isinstance(value, bool | np.bool_) or (optional and value is None):
        return value
    allowed = "True, False or None" if optional else "True or False"
    raise TypeError(f"`{name}` must be {allowed}; got {value!r}.")


def check_choice(name: str, value: Any, options: Iterable[Any]) -> Any:
    """One of the options."""
    options = tuple(options)
    if value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise ValueError(f"`{name}` must be one of {listed}; got {value!r}.")
    return value


def check_clamp(value: Any) -> tuple[float, float] | None:
    """None, or a pair (low, high); either may be None for no bound."""
    if value is None:
        return None
    try:
        low, high = value
        low = -math.inf if low is None else float(low)
        high = math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise TypeError(
            f"`clamp` must be None or a pair (low, high); got {value!r}. Example: clamp=(0, 1)."
        ) from None
    if not low < high:
        raise ValueError(f"`clamp` must be a pair with low < high; got {value!r}.")
    return low, high


def check_signal(name: str, value: Any, n_nodes: int) -> Any:
    """``F`` of a product P·F: real numbers, one row per node; sparse matrices stay sparse."""
    import scipy.sparse as sp

    from .sparse_checks import check_sparse

    array = check_sparse(name, value) if sp.issparse(value) else as_numpy(name, value)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"`{name}` must be a vector or a matrix with one row per node; "
            f"got {array.ndim} dimensions (shape {array.shape})."
        )
    if array.shape[0] != n_nodes:
        turned = array.ndim == 2 and array.shape[1] == n_nodes
        raise ValueError(
            f"`{name}` must have one row per node ({n_nodes}); got {array.shape[0]} "
            f"(shape {array.shape}).{' Transpose it?' if turned else ''}"
        )
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"`{name}` must hold real numbers; got {array.dtype}. "
            "Encode labels first, for example one-hot."
        )
    if array.dtype not in (np.float32, np.float64):
        narrow = array.dtype == np.float16
        array = array.astype(np.float32 if narrow else np.float64)
    return array


def check_out(out: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A writable array of the right shape and dtype."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        got = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValueError(f"`out` must be a numpy array of {dtype} {shape}; got {got}.")
    if not out.flags.writeable:
        raise ValueError("`out` must be writable; got a read-only array. Pass a copy.")
    return out


def not_finite(name: str, row: int) -> ValueError:
    """The error for NaN or infinity in a row."""
    return ValueError(
        f"`{name}` must be finite; row {row} holds NaN or infinity. "
        "Fill missing values first (unlabeled nodes: rows of zeros)."
    )
