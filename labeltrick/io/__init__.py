"""Files: tables of edges and nodes, saved models, public datasets."""

from .._utils.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__, {"load_model": "model_files", "save_model": "model_files"}
)
