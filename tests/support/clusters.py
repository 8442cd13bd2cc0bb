"""A Dask cluster of the tests' own, and what is computed on it."""

import json
import os
import subprocess
import sys
import time

import numpy as np

from labeltrick import Graph
from labeltrick.propagation.engine.cluster.connection import close
from tests.support.commands import Command

N = 2000
F = np.random.default_rng(5).random((N, 20))


class OwnCluster:
    """A scheduler and workers as processes of their own, stopped at the end of a ``with``."""

    def __init__(self, folder, n_workers=0):
        self.file = folder / "scheduler.json"
        self.processes = []
        self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        deadline = time.monotonic() + 60
        while not self.file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.workers = [self.add_worker() for _ in range(n_workers)]
        try:
            self.wait_for(n_workers)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        close()  # our connections, before the scheduler goes
        self.stop()

    def _start(self, program, *options, **environment):
        module = f"distributed.cli.{program}"
        arguments = ["--no-dashboard", "--scheduler-file", str(self.file), *options]
        if environment or not hasattr(os, "fork"):  # what is imported may depend on it
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.file.parent,
                env={**os.environ, **environment},
            )
        else:
            process = Command(*arguments, cwd=self.file.parent, module=module)
        self.processes.append(process)
        return process

    def add_worker(self, *options, **environment):
        fixed = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0")
        return self._start("dask_worker", *fixed, *options, **environment)

    @property
    def address(self):
        return json.loads(self.file.read_text())["address"]

    def wait_for(self, n_workers):
        from distributed import Client

        if not n_workers:
            return
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=60)

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


def make_graph(directed=False, seed=0):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, N, 8000), rng.integers(0, N, 8000)
    source[:500] = 3
    return Graph.from_edges(source, target, directed=directed, n_nodes=N)
