"""Hashes that identify arrays."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def as_bytes(array: np.ndarray) -> memoryview:
    """The bytes of an array."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


class Fingerprint:
    """A mark of a graph's arrays, which may come row range by row range.

    >>> whole, pieces = Fingerprint(), Fingerprint()
    >>> whole.update(np.array([2, 3]), np.array([0, 1, 1]), None)
    >>> pieces.update(np.array([2]), np.array([0, 1]), None)
    >>> pieces.update(np.array([3]), np.array([1]), None)
    >>> whole.hexdigest() == pieces.hexdigest()
    True
    """

    def __init__(self) -> None:
        self._parts = [hashlib.sha256() for _ in range(3)]

    def update(self, *arrays: np.ndarray | None) -> None:
        """Ends of rows, neighbors and weights of further rows."""
        for part, array in zip(self._parts, arrays, strict=True):
            if array is not None:
                part.update(as_bytes(array))

    def hexdigest(self) -> str:
        return joined(*(part.hexdigest() for part in self._parts))


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
