"""Label views that spread the same labels only once.

`AutoModel` asks for label propagation of the same labels several times: to compare dampings, as a
part of the blend, and out of fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._utils.fingerprints import signal_digest
from ..._utils.progress import Progress
from ...propagation.base import Propagation
from ...self_exclusion.label_views import LabelViews

_LABELS_KEPT = 2  # all labels, and those without a fold


class KeptSpread(LabelViews):
    """Views at some ``nodes`` (in ascending order), and others as soon as they are asked for, that
    keep what the last labels spread there. Labels are spread as numbers of type ``dtype``, whose
    rounding must be below the tolerance of the propagation."""

    def __init__(
        self, kinds: Sequence[Propagation], nodes: np.ndarray, dtype: Any = np.float64
    ) -> None:
        super().__init__(kinds)
        self._nodes, self._dtype = nodes, dtype
        self._spreads: dict[str, np.ndarray] = {}

    def _spread_at(
        self, kind: Propagation, columns: np.ndarray, nodes: np.ndarray, progress: Progress
    ) -> np.ndarray:
        if not self._has(nodes):
            self._nodes = np.union1d(self._nodes, nodes)
            self._spreads.clear()
        key = signal_digest(columns, kind.recipe().mark())
        found = self._spreads.pop(key, None)
        if found is None:
            numbers = columns.astype(self._dtype, copy=False)
            found = super()._spread_at(kind, numbers, self._nodes, progress)
        while len(self._spreads) >= _LABELS_KEPT:
            del self._spreads[next(iter(self._spreads))]
        self._spreads[key] = found  # the last one that was used is the last one to go
        return found[np.searchsorted(self._nodes, nodes)]

    def _has(self, nodes: np.ndarray) -> bool:
        place = np.searchsorted(self._nodes, nodes)
        inside = place < len(self._nodes)
        return bool(inside.all()) and np.array_equal(self._nodes[place], nodes)
