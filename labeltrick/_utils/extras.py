"""Imports optional dependencies when needed, or says what to install."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

# import name → extra of this package that installs it
_EXTRA_OF = {
    "torch": "torch", "torch_geometric": "pyg", "dask": "dask", "distributed": "dask",
    "fastexcel": "excel", "xlsxwriter": "excel", "sqlalchemy": "sql",
    "duckdb": "sql", "pyarrow": "sql",
}  # fmt: skip


def require(module: str, purpose: str) -> ModuleType:
    """Import ``module``, or raise a one-line `ImportError` that says what to install.

    >>> require("json", "an example").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError as error:
        root = module.split(".")[0]
        if root not in _EXTRA_OF or (error.name or root).split(".")[0] != root:
            raise
        extra = _EXTRA_OF[root]
        raise ImportError(
            f'{purpose} needs {root}. Install it with: pip install "labeltrick[{extra}]"', name=root
        ) from None


def is_installed(module: str) -> bool:
    """Whether an optional module can be imported, without importing it."""
    return find_spec(module) is not None
