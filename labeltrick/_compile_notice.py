"""Tell the user, once, when numba compiles a kernel: seconds that would look like a hang."""

from __future__ import annotations

import os
import sys

from numba.core import event

_announced = False


class _CompileListener(event.Listener):
    # "numba:compile" is sent for real compilations only, not for loads from the disk cache.
    def on_start(self, event: event.Event) -> None:
        global _announced
        module = event.data["dispatcher"].py_func.__module__
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
