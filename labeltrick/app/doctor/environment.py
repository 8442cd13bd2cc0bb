"""Describes the installation: versions, CPUs, threads, the cache of kernels, extras."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from ..._utils import cpus
from ..._utils.threads import get_num_threads
from ..._utils.version import __version__
from .requirements import Requirement, requirements
from .self_test import run_self_test

# Extras for people who work on the package; their absence tells nothing about an installation.
_FOR_DEVELOPERS = ("all", "dev", "docs", "fuzz", "test")


def examine() -> dict[str, Any]:
    """All facts about the installation, with a list of problems."""
    declared = requirements()
    needed = [entry for entry in declared if entry.extra is None]
    threads, problem = _threads()
    cache = describe_cache()
    tested = run_self_test()
    return {
        "labeltrick": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "dependencies": {entry.name: entry.version for entry in needed},
        "extras": _extras(declared),
        "cpus": {
            "machine": os.cpu_count(),
            "allowed": cpus.allowed_cpus(),
            "quota": cpus.cpu_quota(),
            "used": cpus.count_cpus(),
        },
        "threads": threads,
        "cache": cache,
        "self_test": tested,
        "problems": [
            *problem,
            *[_wrong(entry) for entry in declared if _is_wrong(entry)],
            *[f"self-test: {k}: {text}" for k, text in tested.items() if text != "passed"],
        ],
    }


def _threads() -> tuple[int | None, list[str]]:
    try:
        return get_num_threads(), []
    except ValueError as error:
        return None, [str(error)]


def _is_wrong(entry: Requirement) -> bool:
    """Whether a dependency is missing or has a version that was not tested. What an extra asks for
    may be missing."""
    if entry.extra in _FOR_DEVELOPERS:
        return False
    return not entry.met and (entry.extra is None or entry.version is not None)


def _wrong(entry: Requirement) -> str:
    has = f"version {entry.version} is installed" if entry.version else "it is not installed"
    extra = f"[{entry.extra}]" if entry.extra else ""
    return (
        f"{entry.name}{entry.bounds} is required, but {has}. Install it with: "
        f'pip install "labeltrick{extra}" --upgrade'
    )


def _extras(declared: list[Requirement]) -> dict[str, dict[str, Any]]:
    """For each extra its packages with their versions, and how to install it if any is missing."""
    found: dict[str, dict[str, Any]] = {}
    for entry in declared:
        if entry.extra is None or entry.extra in _FOR_DEVELOPERS:
            continue
        extra = found.setdefault(entry.extra, {"packages": {}, "install": None})
        extra["packages"][entry.name] = entry.version
        if entry.version is None:
            extra["install"] = f'pip install "labeltrick[{entry.extra}]"'
    return found


def describe_cache() -> dict[str, Any]:
    """Where compiled kernels are kept, and how many there are."""
    from ..._utils.jit import KERNELS
    from ...graph import node_ids, node_keys  # noqa: F401  # they define kernels
    from ...propagation import row_kernels  # noqa: F401
    from ...propagation.diagonal import self_weight  # noqa: F401

    folders = sorted({kernel.stats.cache_path for kernel in KERNELS})
    files = [file for folder in folders for file in Path(folder).glob("*.nb[ci]")]
    return {
        # The folders of the rooms, or one for each room below NUMBA_CACHE_DIR.
        "folder": os.path.commonpath(folders) if folders else None,
        "writable": all(_is_writable(Path(folder)) for folder in folders),
        "kernels": sum(file.suffix == ".nbi" for file in files),
        "variants": sum(file.suffix == ".nbc" for file in files),
    }


def _is_writable(folder: Path) -> bool:
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)
