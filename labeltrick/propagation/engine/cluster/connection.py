"""The Dask cluster: connected to or started, and checked before any work is sent there."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...._utils.extras import require
from ...._utils.threads import get_num_threads
from ...._utils.version import __version__
from ....graph.compute import Compute

_ANSWER_SECONDS = 5
_LOOPBACK = "127.0.0.1"
WORKER_SECONDS = 20  # to wait for the first worker, or for one that restarts
_own: dict[str, Any] = {}  # the cluster started by this process, and its client
_clients: dict[str, Any] = {}  # by address

# Sent as text: a worker without the package could not unpickle one of its functions.
_LOOK = """
def look(files):
    from pathlib import Path
    try:
        import labeltrick
        version = labeltrick.__version__
    except Exception as error:
        version = "none (" + type(error).__name__ + ")"
    unseen = []
    for file in files:
        try:
            if not Path(file).exists():
                unseen.append(file)
        except OSError:
            unseen.append(file)
    return version, unseen
"""


class ClusterError(RuntimeError):
    """The cluster cannot do the work, or failed while doing it."""


@dataclass(frozen=True)
class Cluster:
    """A client, and the memory limit of each worker (None: no limit) by address."""

    client: Any
    workers: dict[str, int | None]

    def memory_for(self, compute: Compute) -> int | None:
        """Bytes that the smallest worker may take; None if there is no limit."""
        limits = [limit for limit in self.workers.values() if limit]
        if compute.max_memory is not None:
            limits.append(compute.memory_bytes)
        return min(limits) if limits else None


def connect(compute: Compute, folder: Path, graph: Path) -> Cluster:
    """The cluster of a setting. Its workers must run this version and see both ``folder``, where
    files are exchanged, and the folder of the graph."""
    client = _client_of(compute)
    _wait_for_a_worker(client)
    _look_over(client, folder, graph)
    found = known_workers(client)
    if not found:  # it has left since, or the scheduler is late with what it knows
        _wait_for_a_worker(client)
        found = known_workers(client)
    if not found:
        raise _no_worker(client)
    limits = {address: facts.get("memory_limit") for address, facts in found.items()}
    return Cluster(client, limits)


def _wait_for_a_worker(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise _no_worker(client) from None


def _no_worker(client: Any) -> ClusterError:
    address = client.scheduler.address
    return ClusterError(
        f"no worker joined the scheduler at {address} in {WORKER_SECONDS} seconds. Start some: "
        f"dask worker {address}"
    )


def known_workers(client: Any) -> dict[str, dict[str, Any]]:
    """What the scheduler knows about each worker, by address."""
    try:  # newer versions of Dask list five workers by default
        return client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:
        return client.scheduler_info()["workers"]


def _client_of(compute: Compute) -> Any:
    distributed = require("distributed", "engine='dask'")
    address = compute.address
    if address is None:
        return _own_client(distributed)
    client = _clients.get(address)
    if client is None or client.status != "running":
        try:
            client = distributed.Client(
                address, timeout=_ANSWER_SECONDS, set_as_default=False, name="labeltrick"
            )
        except Exception as error:  # whatever answers may not be a scheduler
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ConnectionError(
                f"no Dask scheduler answered at {address} within {_ANSWER_SECONDS} seconds "
                f"({reason}). Start one with `dask scheduler`, or correct the address."
            ) from None
        _clients[address] = client
    return client


def _own_client(distributed: Any) -> Any:
    client = _own.get("client")
    if client is None or client.status != "running":
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise RuntimeError(
                "engine='dask' must be used under `if __name__ == '__main__':`, because the "
                "workers that it starts import the script. Move it there."
            )
        try:
            # One worker with all threads reads and stores the graph once, and its threads share
            # all cache lines of a row; columns cannot always be divided evenly.
            with _environment_kept():
                _own["cluster"] = distributed.LocalCluster(
                    n_workers=1,
                    threads_per_worker=get_num_threads(),
                    # Anyone who reaches these ports can run code here: never on the network.
                    host=_LOOPBACK,
                    dashboard_address=f"{_LOOPBACK}:0",
                    worker_dashboard_address=f"{_LOOPBACK}:0",
                    silence_logs="CRITICAL",
                )
        except RuntimeError as error:
            raise ClusterError(
                f"no workers could be started on this machine ({error}). In a script, "
                "engine='dask' must be used under `if __name__ == '__main__':`."
            ) from None
        client = _own["client"] = distributed.Client(_own["cluster"], set_as_default=False)
    return client


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Undo what Dask sets in this process for its workers (``OMP_NUM_THREADS=1`` and others):
    every program started later would inherit it."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@atexit.register
def close() -> None:
    """Stop the workers that this process started; leave other clusters alone."""
    for client in [*_clients.values(), _own.pop("client", None)]:
        if client is not None:
            client.close(timeout=2)
    _clients.clear()
    cluster = _own.pop("cluster", None)
    if cluster is not None:
        cluster.close(timeout=5)


def _look_over(client: Any, folder: Path, graph: Path) -> None:
    names: dict[str, Callable[..., Any]] = {}
    exec(_LOOK, names)
    token = f"seen-{uuid.uuid4().hex}"
    (folder / token).touch()
    try:
        wanted = [str(folder / token), str(graph / "meta.json")]
        answers = client.run(names["look"], wanted)
    finally:
        (folder / token).unlink(missing_ok=True)
    for address, (version, unseen) in answers.items():
        if version != __version__:
            raise ClusterError(
                f"the worker at {address} must have labeltrick {__version__}, as here; it has "
                f"{version}. Install it there: pip install labeltrick=={__version__}"
            )
        if unseen:
            raise ClusterError(
                f"the worker at {address} cannot see '{Path(unseen[0]).parent}'. Set "
                "`checkpoint_dir` to a folder on a disk that this machine and all workers share."
            )
