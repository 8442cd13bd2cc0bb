"""What a worker needs to make a propagation of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....graph.graph import Graph


class Recipe(NamedTuple):
    """A kind of propagation and its parameters, without the graph."""

    kind: type
    parameters: dict[str, Any]
    transposed: bool = False

    def mark(self) -> str:
        """A text that tells it from all others; arrays are told apart by every bit."""
        told = [f"{self.kind.__module__}.{self.kind.__qualname__}", str(self.transposed)]
        for name, value in self.parameters.items():
            if isinstance(value, np.ndarray):
                value = f"{value.dtype} {value.shape} {value.tobytes().hex()}"
            told.append(f"{name}={value!r}")
        return "; ".join(told)

    def make(self, graph: Graph) -> Any:
        made = self.kind(graph, **self.parameters)
        if self.transposed:
            made._transposed = True
        return made
