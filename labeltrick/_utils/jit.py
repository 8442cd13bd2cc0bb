"""Compiles kernels: releases the GIL, caches on disk if possible, and says so once per machine,
since seconds of silence would look like a hang."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import event

from .version import __version__

KERNELS: list[Any] = []
"""The kernels of the modules that have been imported."""

_announced = False


class _CompileListener(event.Listener):
    # "numba:compile" is sent only for real compilations, not for loads from the disk cache.
    def on_start(self, event: event.Event) -> None:
        # The listener is called for all kernels in the process; some have no module.
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        module = getattr(function, "__module__", None) or ""
        if _announced or not module.startswith("labeltrick") or os.environ.get("LABELTRICK_QUIET"):
            return
        if note_announced():
            print(
                "labeltrick: compiling kernels for this machine (a few seconds, only the first "
                "time; then cached on disk). All at once: labeltrick doctor --warm",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _CompileListener())


def note_announced() -> bool:
    """Note that the user knows about compiling; whether it is the first time on this machine.

    Different commands compile different kernels, and the line should not appear in each of them.
    """
    global _announced
    _announced = True
    try:
        _stamp().parent.mkdir(parents=True, exist_ok=True)
        _stamp().touch(exist_ok=False)
    except FileExistsError:
        return False
    except (OSError, RuntimeError):  # no place for it, or no home: once per process
        return True
    return True


def _stamp() -> Path:
    """The file that stands for the line. Another version or installation compiles again."""
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    base = Path(given) if given else Path.home() / ".cache"
    what = (__version__, numba.__version__, platform.python_version(), __file__)
    return base / "labeltrick" / f"kernels-{hashlib.sha256(repr(what).encode()).hexdigest()[:12]}"


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` that releases the GIL and caches on disk."""

    def compile_later(function: Callable[..., Any]) -> Any:
        try:
            compiled = njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:
            # No writable cache, as without a home: compile in each process.
            return njit(nogil=True, **options)(function)
        _survive_full_disks(compiled)
        KERNELS.append(compiled)
        return compiled

    return compile_later


def _survive_full_disks(compiled: Any) -> None:
    """A kernel that cannot be written to the cache still runs; numba would raise the error."""
    cache: Any = getattr(compiled, "_cache", None)
    save = getattr(cache, "save_overload", None)
    if save is None:
        return

    def save_if_possible(*arguments: Any) -> None:
        with suppress(OSError):
            save(*arguments)

    cache.save_overload = save_if_possible
