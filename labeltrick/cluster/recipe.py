"""What a worker needs to make a propagation of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..graph import Graph


class Recipe(NamedTuple):
    """A kind of propagation and its parameters, without the graph."""

    kind: type
    parameters: dict[str, Any]
    transposed: bool = False

    def make(self, graph: Graph) -> Any:
        made = self.kind(graph, **self.parameters)
        if self.transposed:
            made._transposed = True
        return made
