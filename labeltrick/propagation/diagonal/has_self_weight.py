"""The half of `Propagation` that computes diag(P) and column energies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_number, check_share
from ..._utils.progress import Progress
from ...graph.normalized import NormalizedAdjacency
from . import random_signs, self_weight
from .request import SelfWeightRequest
from .self_weight import SelfWeight, check_nodes

_EACH_NODE = 1_000_000_000  # nodes × columns up to which each energy is accurate by itself
_SAMPLE = 500  # nodes whose energies tell their mean


class HasSelfWeight(ABC):
    """Base class that derives self-weights from the coefficients on the powers of S."""

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
        energy_rtol: float = 1e-2,
        energy_atol: float = 0.0,
        n_probes: int = 64,
        random_state: int = 0,
        progress: Progress = None,
    ) -> SelfWeight:
        """Compute C = diag(P): how much of its own value each node gets back.

        Parameters
        ----------
        nodes : array of int or bool, or None, default=None
            Node numbers, or a mask with one entry per node. None means all nodes.
        tol : float, default=1e-4
            Certified error to reach, for the methods "push" and "auto".
        method : {"auto", "exact", "short", "push", "probe"}, default="auto"
            "exact" computes whole columns of P; "short" walks the neighborhood of each node, for
            kinds with few steps; "push" approximates damped kinds from the neighborhood with a
            certified bound; "probe" estimates C from random signs, with a standard error; "auto"
            takes the cheapest method that meets the tolerance.
        rows : array of int or bool, or None, default=None
            If given, the column energies Σ_{k in rows, k ≠ i} P_ki² are computed too.
        energy_rtol : float, default=1e-2
            Certified error of each energy relative to it; on large graphs, of their sum.
            ``energy_bound`` says what holds.
        energy_atol : float, default=0.0
            If positive, the error of each energy instead.
        n_probes : int, default=64
            Number of random vectors for "probe".
        random_state : int, default=0
            Seed of the random vectors for "probe".
        progress : bool, callable or None, default=None
            None shows a bar on a terminal after a second; True or False always or never shows
            one; a function is called as ``f(done, total)``.

        Returns
        -------
        SelfWeight
            C of each node, the bound of its error, and the method that found it.

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
        counted = None if rows is None else np.sort(check_nodes("rows", rows, self.n_nodes))
        energy_rtol = check_number("energy_rtol", energy_rtol, 0.0, 1.0)
        energy_atol = check_share("energy_atol", energy_atol)
        request = SelfWeightRequest(wanted, self.max_memory, tol, method, counted, progress)
        if method == "probe":
            if rows is not None:
                raise ValueError(
                    "`rows` must be None for method='probe'; probes do not estimate energies."
                )
            found = self._probed(request, check_count("n_probes", n_probes, 2), random_state)
        elif counted is not None:
            found = self._with_energies(request, energy_rtol, energy_atol)
        else:
            found = self._find_self_weight(request)
        return replace(found, nodes=wanted, rows=counted)

    def _with_energies(self, request: SelfWeightRequest, rtol: float, atol: float) -> SelfWeight:
        """Self-weights with column energies whose sum is accurate to ``rtol``."""
        if not self._approximates_energies:
            found = self._find_self_weight(request)
            energy = self_weight.columns_by_apply(self.apply, self.n_nodes, request)[1]
            steps, size = self._n_hops() + 1, self._coefficient_size()
            rounding = steps * size * self_weight.rounding_allowance(self.S)
            error = 2 * np.sqrt(energy) * rounding + rounding**2
            return replace(found, column_energy=energy, energy_bound=error)
        if atol > 0.0:  # the error that counts
            return self._find_self_weight(replace(request, energy_rtol=1e-12, energy_atol=atol))
        if self.n_nodes * len(request.nodes) <= _EACH_NODE:
            return self._find_self_weight(replace(request, energy_rtol=rtol))
        return self._with_energy_sum(request, rtol)

    def _with_energy_sum(self, request: SelfWeightRequest, rtol: float) -> SelfWeight:
        """Energies that are accurate relative to their mean, which a sample tells first: most of
        the work would go into energies that hardly count."""
        nodes = request.nodes
        some = nodes[:: -(-len(nodes) // _SAMPLE)]
        energy = self._find_self_weight(replace(request, nodes=some, energy_rtol=0.3)).column_energy
        assert energy is not None
        atol = rtol / 2 * float(energy.mean())
        precise = replace(request, energy_rtol=rtol / 2, energy_atol=atol)
        found = self._find_self_weight(precise)
        energy, bound = found.column_energy, found.energy_bound
        assert energy is not None
        assert bound is not None
        if bound.sum() <= rtol * energy.sum():
            return found
        # The sample was not typical: energies have a few large values. Now their sum is known.
        again = replace(precise, energy_atol=rtol / 4 * float(energy.mean()))
        left = ~again.accepts(energy, bound)
        finer = self._find_self_weight(replace(again, nodes=nodes[left]))
        for name in ("value", "error_bound", "method", "column_energy", "energy_bound"):
            getattr(found, name)[left] = getattr(finer, name)
        return found

    def column_energy(
        self,
        rows: Any,
        nodes: Any = None,
        *,
        rtol: float = 1e-2,
        atol: float = 0.0,
        method: str = "auto",
        progress: Progress = None,
    ) -> SelfWeight:
        """Compute the column energy Σ_{k in rows, k ≠ i} P_ki² of each node i, together with C.

        With the training nodes as ``rows``, these are the squared row weights of Theorem 1's
        penalty.

        Parameters
        ----------
        rows : array of int or bool
            Rows to sum over, as node numbers or a mask.
        nodes : array of int or bool, or None, default=None
            Nodes whose columns are used. None means all nodes.
        rtol : float, default=1e-2
            Certified error of each energy relative to it; on large graphs, of their sum.
            ``energy_bound`` says what holds: rounding limits energies below about 1e-20.
        atol : float, default=0.0
            If positive, the error of each energy instead.
        method : {"auto", "exact", "short", "push"}, default="auto"
            How C is computed; see `self_weight`.
        progress : bool, callable or None, default=None
            None shows a bar on a terminal after a second; True or False always or never shows
            one; a function is called as ``f(done, total)``.

        Returns
        -------
        SelfWeight
            With ``column_energy`` and ``energy_bound`` set.
        """
        return self.self_weight(
            nodes,
            method=method,
            rows=rows,
            energy_rtol=rtol,
            energy_atol=atol,
            progress=progress,
        )

    @abstractmethod
    def _find_self_weight(self, request: SelfWeightRequest) -> SelfWeight:
        """Run `_self_weight` on the engine."""

    def _self_weight(self, request: SelfWeightRequest) -> SelfWeight:
        if request.method == "push":
            raise ValueError(
                "`method` must be 'auto', 'exact', 'short' or 'probe' for "
                f"{type(self).__name__}; got 'push', which is for damped propagation."
            )
        return self_weight.polynomial_self_weight(
            self.S, self._weigh_hops, self._n_hops(), request, self._coefficient_size()
        )

    @property
    def _approximates_energies(self) -> bool:
        """Whether `_self_weight` computes energies to a tolerance; otherwise they are exact."""
        return False

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

    def _probed(self, request: SelfWeightRequest, n_probes: int, seed: int) -> SelfWeight:
        value, error = random_signs.probe_diagonal(
            lambda z: self.apply(z, progress=False),
            self.S,
            self._probe_coefficients(),
            n_probes=n_probes,
            seed=seed,
            progress=request.progress,
        )
        nodes = request.nodes
        return SelfWeight(value[nodes], error[nodes], np.full(len(nodes), "probe"))
