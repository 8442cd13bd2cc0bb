"""Commands, and other programs of Python, in processes of their own, each forked from one that has
imported what most of them need: imports would take longer than the commands."""

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Without polars, whose threads a fork would not have.
PRELOADED = (
    "scipy.sparse.linalg", "sklearn.linear_model", "sklearn.decomposition", "lightgbm", "torch",
    "plotly.graph_objects", "plotly.offline", "rich.progress", "distributed", "labeltrick.app.cli",
    "labeltrick.propagation", "labeltrick.nn",
)  # fmt: skip


class Command:
    """A running `labeltrick` with arguments, and what `subprocess.Popen` offers to watch it.

    ``code`` is run in its process before it; ``environment`` is added to that of the tests;
    ``module`` is run in place of `labeltrick`.
    """

    def __init__(self, *arguments, cwd=None, code="", module="labeltrick", **environment):
        self._texts = [_text_file(), _text_file()]
        self.returncode = None
        self.pid = _ask(
            arguments=[str(part) for part in arguments],
            cwd=str(cwd or Path.cwd()),
            code=code,
            module=module,
            environment={**os.environ, **environment},
            texts=[text.name for text in self._texts],
        )

    def poll(self):
        if self.returncode is None:
            self.returncode = _ask(ended=self.pid)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:  # until it was asked for, its number is not given to another
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout=600):
        """The exit code, when it has ended."""
        deadline = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > deadline:
                self.kill()
                raise TimeoutError(f"no end after {timeout} s")
            time.sleep(0.005)
        return self.returncode

    def communicate(self, timeout=600):
        """(output, errors), when it has ended."""
        self.wait(timeout)
        return tuple(_read(text) for text in self._texts)


def run_command(*arguments, **options):
    """A command that has ended, as `subprocess.run` returns it."""
    if not hasattr(os, "fork"):
        return _run_executable(*arguments, **options)
    command = Command(*arguments, **options)
    stdout, stderr = command.communicate()
    return subprocess.CompletedProcess(arguments, command.returncode, stdout, stderr)


def _run_executable(*arguments, cwd=None, code="", **environment):
    start = (
        f"{code}\nimport runpy\nrunpy.run_module('labeltrick', run_name='__main__', alter_sys=True)"
    )
    return subprocess.run(
        [sys.executable, "-c", start, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def _text_file():
    return tempfile.NamedTemporaryFile("w+", encoding="utf-8")


def _read(text):
    with text:
        text.seek(0)
        return text.read()


@cache
def _server():
    """It ends when this process does, and closes its pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.commands"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def _ask(**request):
    server = _server()
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def _serve():
    """Fork for every command; return in the child, with what was asked."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "ended" in asked:
            pid, status = os.waitpid(asked["ended"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                return asked
        print(json.dumps(answer), flush=True)
    sys.exit()


def _preload():
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from labeltrick import Graph, Resolvent

    Resolvent(Graph.from_edges([0], [1]), 0.5) @ [1.0, 0.0]  # its kernels
    assert "polars" not in sys.modules
    gc.freeze()


def _become(asked):
    """Make this process one that was started with all that is asked for."""
    places = [os.devnull, *asked["texts"]]
    for number, place in enumerate(places):
        opened = os.open(place, os.O_RDWR)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None
    os.chdir(asked["cwd"])
    sys.argv = [asked["module"], *asked["arguments"]]


if __name__ == "__main__":
    _preload()
    command = _serve()
    _become(command)
    exec(command["code"], {})
    runpy.run_module(command["module"], run_name="__main__", alter_sys=True)
