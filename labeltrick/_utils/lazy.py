"""Public names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: dict[str, str], modules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``homes`` holds the module that defines each public name, relative to the package. A name that
    ends its own path, such as ``"datasets": "io.datasets"``, is that module. The submodules
    ``modules`` are attributes too, but not in ``__all__``: a star import does not need their
    dependencies.
    """

    def get(name: str) -> Any:
        if name in modules:
            return import_module(f".{name}", package)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f".{homes[name]}", package)
        value = module if homes[name].split(".")[-1] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), list(homes)
