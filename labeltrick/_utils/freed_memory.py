"""Memory that arrays give back, kept for the next arrays."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

_SET_BY_DASK = ("MALLOC_TRIM_THRESHOLD_", "65536")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of malloc.h
_KEPT, _LARGEST = 64 * 2**20, 32 * 2**20  # bytes; what glibc comes to by itself


@cache
def keep_freed_memory() -> bool:
    """Undo a setting of Dask's workers; returns whether there was one.

    By it, glibc returns memory to the system at once. Each step of a training then has to get its
    memory from the system again: a graph network took 1.8 to 2.5 times as long.
    """
    name, value = _SET_BY_DASK
    if os.environ.get(name) != value or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # another C library
        return False
    return bool(mallopt(_M_TRIM_THRESHOLD, _KEPT) and mallopt(_M_MMAP_THRESHOLD, _LARGEST))
