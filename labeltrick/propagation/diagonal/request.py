"""What is wanted of diag(P), in one record that is passed along."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.progress import Progress


@dataclass(frozen=True)
class SelfWeightRequest:
    """A checked request for self-weights.

    Parameters
    ----------
    nodes : array of int
        Nodes to compute C for.
    max_memory : int
        Bytes that whole columns may take.
    tol : float, default=1e-4
        Error to reach where the method has a tolerance.
    method : str, default="auto"
        See `diagonal.self_weight`; clusters also use "local" and "columns".
    rows : array of int or None, default=None
        Rows of the column energies; None if only C is wanted.
    energy_rtol, energy_atol : float, default=1e-2 and 0.0
        Relative and absolute error of the energies; meeting one of them suffices.
    progress : bool, callable or None, default=None
        How progress is shown.
    """

    nodes: np.ndarray
    max_memory: int
    tol: float = 1e-4
    method: str = "auto"
    rows: np.ndarray | None = None
    progress: Progress = None
    energy_rtol: float = 1e-2
    energy_atol: float = 0.0

    def accepts(self, energy: np.ndarray, energy_bound: np.ndarray) -> np.ndarray:
        """Which energies are as accurate as requested; all of them if none are wanted."""
        if self.rows is None:
            return np.ones(len(energy), bool)
        return energy_bound <= np.maximum(self.energy_rtol * energy, self.energy_atol)

    def row_mask(self, n_nodes: int) -> np.ndarray:
        """Which of all nodes are in ``rows``."""
        mask = np.zeros(n_nodes, bool)
        if self.rows is not None:
            mask[self.rows] = True
        return mask
