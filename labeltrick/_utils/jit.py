"""Compiles kernels: releases the GIL, caches on disk if possible, and tells the user, since seconds
of silence would look like a hang."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit
from numba.core import event

_announced = False


class _CompileListener(event.Listener):
    # "numba:compile" is sent only for real compilations, not for loads from the disk cache.
    def on_start(self, event: event.Event) -> None:
        global _announced
        # The listener is called for all kernels in the process; some have no module.
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        module = getattr(function, "__module__", None) or ""
        if _announced or not module.startswith("labeltrick"):
            return
        _announced = True
        if not os.environ.get("LABELTRICK_QUIET"):
            print(
                "labeltrick: compiling kernels for this machine "
                "(a few seconds, only the first time; then cached on disk)",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _CompileListener())


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` that releases the GIL and caches on disk."""

    def compile_later(function: Callable[..., Any]) -> Any:
        try:
            compiled = njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:
            # No writable cache, as in a read-only installation: compile in each process.
            return njit(nogil=True, **options)(function)
        _survive_full_disks(compiled)
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
