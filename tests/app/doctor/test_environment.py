"""The facts about an installation, and what counts as a problem."""

from labeltrick.app.doctor import environment
from labeltrick.app.doctor.requirements import Requirement
from tests.support.processes import run_python


def test_this_installation_is_sound():
    found = environment.examine()
    assert found["problems"] == []
    assert found["threads"] >= 1
    assert 1 <= found["cpus"]["used"] <= found["cpus"]["allowed"]
    assert found["cache"]["folder"]


def test_old_and_missing_packages(monkeypatch):
    declared = [
        Requirement("numpy", ">=99", None, "2.0"),
        Requirement("gone", ">=1", "torch", None),
        Requirement("ruff", ">=1", "dev", None),
    ]
    monkeypatch.setattr(environment, "requirements", lambda: declared)
    found = environment.examine()
    assert len(found["problems"]) == 1
    assert found["problems"][0].startswith("numpy>=99 is required, but version 2.0 is installed.")
    assert found["extras"] == {
        "torch": {"packages": {"gone": None}, "install": 'pip install "labeltrick[torch]"'}
    }


def test_a_wrong_number_of_threads_is_a_problem(monkeypatch):
    monkeypatch.setenv("LABELTRICK_NUM_THREADS", "many")
    found = environment.examine()
    assert found["threads"] is None
    assert "LABELTRICK_NUM_THREADS must be a positive integer" in found["problems"][0]


def test_kernels_of_all_rooms_are_counted():
    code = """
from labeltrick._utils.jit import KERNELS
from labeltrick.app.doctor.environment import describe_cache
describe_cache()
counted = len(KERNELS)
import labeltrick, pkgutil, importlib
for found in pkgutil.walk_packages(labeltrick.__path__, "labeltrick."):
    if not found.name.startswith(("labeltrick.nn", "labeltrick.__main__")):
        importlib.import_module(found.name)
print(counted, sum(not k.__module__.startswith("labeltrick.nn") for k in KERNELS))
"""
    counted, there_are = run_python(code).stdout.split()
    assert counted == there_are
