"""`AutoModel`: several learners on the same leak-free columns, blended automatically."""

from .estimator import AutoModel
from .trials import Trial

__all__ = ["AutoModel", "Trial"]
