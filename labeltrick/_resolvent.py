"""Solves X = λ M X + (1−λ) F⁰ on a column block, with a stop by the residual."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from ._engine import Block, Recurrence, Result


class ConvergenceWarning(UserWarning):
    """An iteration stopped before its residual met the tolerance."""


@dataclass
class SolveInfo:
    """How the last solve went: most steps of any column block, its largest relative residual."""

    n_steps: int = 0
    residual: float = 0.0
    converged: bool = True


def chebyshev_rate(lam: float) -> float:
    """Error factor a step of Chebyshev iteration when the spectrum of M lies in [−1, 1]."""
    return lam / (1 + math.sqrt(1 - lam * lam))


def expected_steps(lam: float, symmetric: bool, tol: float) -> int:
    """Steps after which theory promises an error below ``tol``."""
    rate = chebyshev_rate(lam) if symmetric else lam
    return max(1, math.ceil(math.log(tol / 2) / math.log(rate)))


def resolvent(
    lam: float, symmetric: bool, tol: float, max_steps: int | None, info: SolveInfo
) -> Recurrence:
    """(1−λ)(I − λM)⁻¹F⁰.

    Where M is similar to a symmetric matrix its spectrum lies in [−1, 1] and Chebyshev
    iteration is optimal: error factor λ/(1+√(1−λ²)) a step. Otherwise the spectrum lies
    anywhere in the unit disc, for which the plain iteration, factor λ, is the optimal one.

    Stops when each column's residual, in the largest entry, is at most tol·(1−λ) of the
    column's largest input: the factor 1−λ turns a residual into an error. Rounding sets a
    floor of 8 units in the last place.
    """

    def recurrence(block: Block) -> Result:
        floor = 8 * float(np.finfo(block.layout.dtype).eps)
        target = max(tol * (1 - lam), floor)
        theory = expected_steps(lam, symmetric, target)
        limit = max(3, max_steps if max_steps is not None else 2 * theory + 10)
        largest = np.where(block.largest > 0, block.largest, 1.0)
        # X⁰ = (1−λ)F⁰ is exact where M is zero, and needs no buffer of its own: while it is
        # the previous iterate (k = 2), its term joins that of F⁰.
        guess = 1 - lam
        previous, current = block.second, block.first
        block.step(block.base, current, lam * guess, own=1 - lam)
        omega, residual = 1.0, math.inf
        for k in range(2, limit + 1):
            if symmetric:
                omega = 2 / (2 - lam * lam) if k == 2 else 1 / (1 - lam * lam * omega / 4)
            # Theory is pessimistic by a few steps: from two thirds of it on, look each time.
            look = k > 2 and (3 * k > 2 * theory or k == limit)
            worst = block.step(
                current,
                previous,
                omega * lam,
                base=omega * (1 - lam) + ((1 - omega) * guess if k == 2 else 0.0),
                previous=1 - omega if k > 2 else 0.0,
                residual_scale=1 / omega if look else None,
            )
            previous, current = current, previous
            if worst is not None:
                residual = float(np.max(worst / largest))
                if residual <= target:
                    break
        info.n_steps = max(info.n_steps, k)
        info.residual = max(info.residual, residual)
        info.converged &= residual <= target
        return current, 1.0

    return recurrence


def warn_if_unconverged(info: SolveInfo, tol: float) -> None:
    if not info.converged:
        warnings.warn(
            f"the resolvent did not reach tol={tol:g}: relative residual {info.residual:.2g} "
            f"after {info.n_steps} steps. Raise `max_steps` or `tol`, or pass float64 input.",
            ConvergenceWarning,
            stacklevel=4,
        )
