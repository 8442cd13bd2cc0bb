"""Propagation and self-weights on a Dask cluster, with columns or rows spread over workers."""

from .columns import apply
from .tasks import Recipe
from .weights import self_weight

__all__ = ["Recipe", "apply", "self_weight"]
