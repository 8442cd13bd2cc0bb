"""A two-second test of an installation: propagation and self-exclusion against dense formulas, and
whether the library of boosted trees can be loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_DAMPING = 0.6
_ERROR = 1e-10  # asked of the operators
_TOLERANCE = 1e-8


def run_self_test() -> dict[str, str]:
    """What each check found: "passed", or what is wrong."""
    checks: dict[str, Callable[[], str]] = {
        "propagation": _propagation,
        "self-exclusion": _self_exclusion,
        "trees": _trees,
    }
    found = {}
    for name, check in checks.items():
        try:
            found[name] = check() or "passed"
        except Exception as error:  # whatever is broken here, the report must be printed
            found[name] = f"{type(error).__name__}: {error}"
    return found


def _problem() -> tuple[Any, np.ndarray, np.ndarray]:
    """A small graph, its label propagation as a dense matrix, and labels."""
    from ...graph import Graph

    rng = np.random.default_rng(0)
    n = 40
    source, target = rng.integers(0, n, (2, 120))
    source, target = source[source != target], target[source != target]
    A = np.zeros((n, n))
    A[source, target] = A[target, source] = 1
    A[np.arange(n), (np.arange(n) + 1) % n] = A[(np.arange(n) + 1) % n, np.arange(n)] = 1
    degree = A.sum(axis=1)
    S = A / np.sqrt(np.outer(degree, degree))
    P = (1 - _DAMPING) * np.linalg.inv(np.eye(n) - _DAMPING * S)
    start, end = np.nonzero(np.triu(A))
    return Graph.from_edges(start, end, n_nodes=n), P, np.eye(3)[rng.integers(0, 3, n)]


def _propagation() -> str:
    from ...propagation import Resolvent

    graph, P, Y = _problem()
    error = np.abs(Resolvent(graph, damping=_DAMPING, tol=_ERROR) @ Y - P @ Y).max()
    return "" if error < _TOLERANCE else f"differs from the dense formula by {error:.2g}"


def _self_exclusion() -> str:
    from ...propagation import Resolvent
    from ...self_exclusion import self_excluded

    graph, P, Y = _problem()
    labeled = np.arange(0, len(Y), 2)
    known = np.zeros_like(Y)
    known[labeled] = Y[labeled]
    operator = Resolvent(graph, damping=_DAMPING, tol=_ERROR)
    view = self_excluded(operator, known, labeled, tol=_ERROR)
    error = np.abs(view - (P - np.diag(np.diag(P))) @ known).max()
    if not error < _TOLERANCE:
        return f"differs from the dense formula by {error:.2g}"
    changed = known.copy()
    changed[labeled[0]] = np.roll(changed[labeled[0]], 1)
    moved = np.abs(self_excluded(operator, changed, labeled, tol=_ERROR) - view)[labeled[0]].max()
    return "" if moved < _TOLERANCE else f"a node's own label moves its input by {moved:.2g}"


def _trees() -> str:
    try:
        import lightgbm  # noqa: F401
    except OSError as error:  # its wheel has no OpenMP of its own
        return (
            f"OSError: {error}. LightGBM needs OpenMP. Install it with: apt-get install libgomp1 "
            "(Debian, Ubuntu), or brew install libomp (macOS)"
        )
    return ""
