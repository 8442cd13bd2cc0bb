"""diag(P) and column energy of every kind of propagation: the half of `Propagation` that asks
`diagonal` for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_number
from ..._utils.progress import Progress
from ...graph.normalized import NormalizedAdjacency
from . import random_signs, self_weight
from .self_weight import SelfWeight, check_nodes


class Weighed(ABC):
    """Base: self-weights from the coefficients on the powers of S."""

    S: NormalizedAdjacency
    max_memory: int

    @abstractmethod
    def coefficients(self) -> np.ndarray:
        """c_0, c_1, …: the weights of the powers of S in P."""

    @property
    @abstractmethod
    def n_nodes(self) -> int: ...

    @abstractmethod
    def apply(
        self, F: Any, *, out: np.ndarray | None = None, progress: Progress = None
    ) -> np.ndarray: ...

    def self_weight(
        self,
        nodes: Any = None,
        *,
        tol: float = 1e-4,
        method: str = "auto",
        rows: Any = None,
        n_probes: int = 64,
        random_state: int = 0,
        progress: Progress = None,
    ) -> SelfWeight:
        """C = diag(P): how much of its own value each node gets back.

        Parameters
        ----------
        nodes : numbers or a mask; default all nodes.
        tol : certified error to reach ("push" and "auto").
        method : "auto", "exact", "short", "push" or "probe"; see `SelfWeight`.
        rows : if given, the column energies Σ_{k in rows} P_ki² come with it.
        n_probes, random_state : number and seed of the random vectors of "probe".

        Examples
        --------
        >>> from labeltrick import Graph, Resolvent
        >>> graph = Graph.from_edges([0, 1], [1, 2])
        >>> Resolvent(graph, 0.5).self_weight().value.round(3)
        array([0.583, 0.667, 0.583])
        """
        check_choice("method", method, self_weight.METHODS)
        tol = check_number("tol", tol, 1e-14, 1.0)
        wanted = check_nodes("nodes", nodes, self.n_nodes)
        in_rows = None
        if rows is not None:
            in_rows = np.zeros(self.n_nodes, bool)
            in_rows[check_nodes("rows", rows, self.n_nodes)] = True
        if method == "probe":
            if rows is not None:
                raise ValueError("`rows` must be None for method='probe'; energies are not probed.")
            found = self._probed(
                wanted, check_count("n_probes", n_probes, 2), random_state, progress
            )
        else:
            found = self._find_self_weight(wanted, tol, method, in_rows, progress)
        if in_rows is not None and found.column_energy is None:
            energy = self_weight.columns_by_apply(
                lambda unit: self.apply(unit, progress=False),
                self.n_nodes,
                wanted,
                in_rows,
                progress,
                max_memory=self.max_memory,
            )[1]
            steps, size = self._n_hops() + 1, self._coefficient_size()
            rounding = steps * size**2 * self_weight.rounding_allowance(self.S) * (1 + energy)
            found = replace(found, column_energy=energy, energy_bound=rounding)
        asked = None if in_rows is None else np.flatnonzero(in_rows)
        return replace(found, nodes=wanted, rows=asked)

    def column_energy(
        self,
        rows: Any,
        nodes: Any = None,
        *,
        tol: float = 1e-2,
        method: str = "auto",
        progress: Progress = None,
    ) -> SelfWeight:
        """Σ_{k in rows} P_ki² of each node i; C comes with it.

        ``tol`` is the error to reach in the symmetric scale; for the norms "row" and "col"
        entries are √(d_i/d_k) times larger or smaller, and `energy_bound` says what holds. With
        the training nodes as ``rows``, `column_energy` minus C² are the squared row
        weights of Theorem 1's penalty.
        """
        check_number("tol", tol, 0.0, 1.0)
        return self.self_weight(
            nodes, tol=self._tol_for_energy(tol), method=method, rows=rows, progress=progress
        )

    @abstractmethod
    def _find_self_weight(
        self,
        nodes: np.ndarray,
        tol: float,
        method: str,
        in_rows: np.ndarray | None,
        progress: Progress,
    ) -> SelfWeight:
        """Where the engine does it; `_self_weight` is how."""

    def _tol_for_energy(self, tol: float) -> float:
        return 1e-4

    def _self_weight(
        self,
        nodes: np.ndarray,
        tol: float,
        method: str,
        in_rows: np.ndarray | None,
        progress: Progress,
    ) -> SelfWeight:
        if method == "push":
            raise ValueError(
                "`method` must be 'auto', 'exact', 'short' or 'probe' for "
                f"{type(self).__name__}; got 'push', which is for damped propagation."
            )
        return self_weight.polynomial_self_weight(
            self.S,
            self._weigh_hops,
            self._n_hops(),
            nodes,
            method,
            self.max_memory,
            progress,
            size=self._coefficient_size(),
        )

    def _coefficient_size(self) -> float:
        """Bound of Σ_k |c_k|·‖S^k‖, the size of the terms that C is summed from."""
        return float(np.abs(self.coefficients()).sum())

    def _n_hops(self) -> int:
        return len(self.coefficients()) - 1

    def _weigh_hops(self, moments: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """C from the diagonals of the powers of S."""
        return moments @ self.coefficients()

    def _probe_coefficients(self) -> np.ndarray:
        return self.coefficients()

    def _probed(
        self, nodes: np.ndarray, n_probes: int, seed: int, progress: Progress
    ) -> SelfWeight:
        value, error = random_signs.probe_diagonal(
            lambda z: self.apply(z, progress=False),
            self.S,
            self._probe_coefficients(),
            n_probes=n_probes,
            rank=random_signs.RANK,
            seed=seed,
            progress=progress,
        )
        return SelfWeight(value[nodes], error[nodes], np.full(len(nodes), "probe"))
