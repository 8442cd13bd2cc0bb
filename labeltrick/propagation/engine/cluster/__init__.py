"""Propagation and self-weights on a Dask cluster: columns to workers, no traffic between them."""

from .columns import apply
from .recipe import Recipe
from .weights import self_weight

__all__ = ["Recipe", "apply", "self_weight"]
