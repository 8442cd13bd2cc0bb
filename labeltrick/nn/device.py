"""Propagation by torch's sparse products, for tensors on a GPU."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import torch

from ..graph.normalized import NormalizedAdjacency
from ..propagation.base import Propagation
from ..propagation.hops import Hops
from ..propagation.resolvent import Resolvent
from ..propagation.unfolded import Unfolded
from .sparse_rows import csr_tensor

# S as a tensor, kept as long as its operator lives: every training step uses it.
_TENSORS: WeakKeyDictionary[NormalizedAdjacency, dict] = WeakKeyDictionary()


def applied_on_device(P: Propagation, F: torch.Tensor) -> torch.Tensor:
    """P·F on the device of F, by Horner's rule on the coefficients of P."""
    S = _tensor(P.S, F)
    if isinstance(P, Hops):
        return _hops(P, S, F)
    if isinstance(P, Unfolded) and P.precondition:
        q, t = P.coefficients()
        inverse = torch.from_numpy(P.inverse_preconditioner).to(F)[:, None]
        if P._transposed:
            return _polynomial(S, q, F) + inverse * _polynomial(S, t, F)
        return _polynomial(S, q, F) + _polynomial(S, t, inverse * F)
    if isinstance(P, Resolvent):
        n_terms = int(np.ceil(np.log(P.tol) / np.log(P.damping))) + 1
        coefficients = P.coefficients(n_terms)
        coefficients[-1] /= 1 - P.damping  # the rest of the series
        return _polynomial(S, coefficients, F)
    return _polynomial(S, P.coefficients(), F)


def _polynomial(S: torch.Tensor, coefficients: np.ndarray, F: torch.Tensor) -> torch.Tensor:
    result = float(coefficients[-1]) * F
    for c in coefficients[-2::-1]:
        result = S @ result + float(c) * F
    return result


def _hops(P: Hops, S: torch.Tensor, F: torch.Tensor) -> torch.Tensor:
    n_hops = P.n_steps + 1
    if P._transposed:
        parts = F.reshape(len(F), n_hops, -1)
        result = parts[:, -1]
        for k in range(n_hops - 2, -1, -1):
            result = S @ result.contiguous() + parts[:, k]
        return result
    columns = [F]
    for _ in range(P.n_steps):
        columns.append(S @ columns[-1])
    return torch.cat(columns, dim=1)


def _tensor(S: NormalizedAdjacency, like: torch.Tensor) -> torch.Tensor:
    known = _TENSORS.setdefault(S, {})
    key = (like.device, like.dtype)
    if key not in known:
        known[key] = csr_tensor(S.to_scipy()).to(device=like.device, dtype=like.dtype)
    return known[key]
