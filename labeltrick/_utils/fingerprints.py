"""Hashes that identify arrays."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def as_bytes(array: np.ndarray) -> memoryview:
    """The bytes of an array."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def fingerprint(ends: np.ndarray, neighbors: np.ndarray, weights: np.ndarray | None) -> str:
    """The fingerprint of a graph from its arrays; ``ends`` are the ends of the rows."""
    arrays = (b"" if array is None else as_bytes(array) for array in (ends, neighbors, weights))
    return joined(*(hashlib.sha256(array).hexdigest() for array in arrays))


def joined(*digests: str) -> str:
    """The fingerprint of a graph from the SHA-256 of the ends of its rows, of its neighbors and of
    its weights (of the empty string, if unweighted)."""
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:32]


def signal_digest(F: Any, settings: str) -> str:
    """A hash of the input of a run, dense or sparse, and of its settings."""
    digest = hashlib.blake2b(f"{settings} {F.shape} {F.dtype}".encode(), digest_size=12)
    if isinstance(F, np.ndarray):
        step = max(1, (1 << 24) // max(1, F.shape[1] * F.itemsize))
        for first in range(0, len(F), step):
            digest.update(as_bytes(F[first : first + step]))
    else:
        F = F.tocsc()
        for array in (F.indptr, F.indices, F.data):
            digest.update(as_bytes(array))
    return digest.hexdigest()
