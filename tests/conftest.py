"""Fixtures shared by the tests."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib.util
import os
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

# Tests that run side by side have a core each; with more threads they would wait for each other,
# spinning. Programs that they start inherit it. Before anything that reads it is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
# A kernel may be compiled in any test, and the line about it would stand between printed ones.
os.environ.setdefault("LABELTRICK_QUIET", "1")

import pytest
from hypothesis import settings

# `make test-fast` runs what needs no torch, and makes sure of it.
if "LABELTRICK_WITHOUT_TORCH" in os.environ:

    class WithoutTorch(MetaPathFinder):
        def find_spec(self, name, *_):
            if name.partition(".")[0] in ("torch", "torch_geometric"):
                raise ModuleNotFoundError(f"No module named '{name}': `make test-fast` hides it")

    sys.meta_path.insert(0, WithoutTorch())
    _find_spec = importlib.util.find_spec

    def find_spec(name, package=None):
        hidden = name.partition(".")[0] in ("torch", "torch_geometric")
        return None if hidden else _find_spec(name, package)

    importlib.util.find_spec = find_spec

# The first call of a kernel compiles it: the time of an example means nothing.
settings.register_profile("labeltrick", deadline=None)
settings.load_profile("labeltrick")

# Markers that follow from the fixtures that a test asks for, and from what its module imports.
_BY_FIXTURE = {
    "data_dir": "data",
    "cluster": "dask",
    "browser": "browser",
    "fitted": "process",
}
_BY_IMPORT = {
    "torch": "torch",
    "torch_geometric": "torch",
    "distributed": "dask",
    "subprocess": "process",
    "multiprocessing": "process",
    "run_command": "process",
    "Command": "process",
    "run_python": "process",
    "run_cases": "process",
    "run_jobs": "process",
    "fit_files": "process",
    "kill_after": "process",
    "OwnCluster": "dask",
    "make_graph": "dask",
}


def pytest_sessionstart(session):
    """Every second process imports the tests from the last to the first. Those of before then find
    half of them compiled by the others, where all would compile the same ones at the same time."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    if int(number) % 2 and session.config.args == session.config.getini("testpaths"):
        for path in sorted((ROOT / "tests").rglob("test_*.py"), reverse=True):
            # What stands in the way of an import, as a missing extra, is for the collection to say.
            with contextlib.suppress(Exception, pytest.skip.Exception):
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_configure():
    gc.disable()  # until all is imported


def pytest_collection_finish():
    """What has been imported and collected stays. Looking through all of it again and again would
    take the garbage collector a tenth of the time of the tests."""
    gc.collect()
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)  # libraries complain of what is left at the end


def pytest_collection_modifyitems(items):
    for item in items:
        marks = {mark for name, mark in _BY_FIXTURE.items() if name in item.fixturenames}
        marks |= {mark for name, mark in _BY_IMPORT.items() if hasattr(item.module, name)}
        for mark in marks:
            item.add_marker(mark)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Where torch is hidden or not installed, a test that asks for it is skipped."""
    try:
        return (yield)
    except ImportError as error:
        if importlib.util.find_spec("torch") is None and "torch" in str(error):
            pytest.skip(str(error))
        raise


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the public datasets; tests that use it are skipped where it is absent."""
    given = os.environ.get("LABELTRICK_DATA")
    folder = Path(given).expanduser() if given else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(
            "set LABELTRICK_DATA to the folder that holds the datasets (planetoid/, npz/, …); "
            f"'{folder}' is not there"
        )
    return folder.resolve()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler with two workers; see `clusters`."""
    from tests.support.clusters import OwnCluster

    with OwnCluster(tmp_path_factory.mktemp("cluster"), 2) as own:
        yield own
