"""Counts the CPUs that this process may use: by affinity, and by the quota of its container."""

from __future__ import annotations

import math
import os
import time
from functools import lru_cache
from pathlib import Path


def count_cpus() -> int:
    """The number of CPUs this process may use, at least 1."""
    quota = _quota_in(int(time.monotonic()))
    allowed = allowed_cpus()
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


def allowed_cpus() -> int:
    """The number of CPUs of the machine that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=1)
def _quota_in(second: int) -> float | None:
    """The quota, read once per second: every product asks, and a small one takes less time than
    reading the files."""
    return cpu_quota()


def cpu_quota(root: str | os.PathLike[str] = "/") -> float | None:
    """CPUs that the control groups of this process allow, or None without a limit.

    A container with ``--cpus 1.5`` still sees all CPUs of its host; more threads than its quota
    are stopped for most of each tenth of a second.
    """
    base = Path(root)
    try:
        groups = (base / "proc/self/cgroup").read_text().splitlines()
    except (OSError, UnicodeError):
        return None
    found = []
    for line in groups:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = base / "sys/fs/cgroup" / ("cpu" if controllers else "")
        inside = Path(path.lstrip("/"))
        # A limit of any group above holds too; inside a container the root is its own group.
        for group in [inside, *inside.parents]:
            found.append(_quota_of(mount / group, unified=not controllers))
    limits = [quota for quota in found if quota is not None]
    return min(limits) if limits else None


def _quota_of(group: Path, *, unified: bool) -> float | None:
    """The limit of one group: from cpu.max (version 2) or cpu.cfs_quota_us (version 1)."""
    try:
        if unified:
            quota, period = (group / "cpu.max").read_text().split()
        else:
            quota = (group / "cpu.cfs_quota_us").read_text()
            period = (group / "cpu.cfs_period_us").read_text()
        return int(quota) / int(period) if int(quota) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max": no limit
        return None
