"""The self-test of an installation: it passes here, and finds wrong results and errors."""

import sys
from importlib.abc import MetaPathFinder

import numpy as np

from labeltrick.app.doctor.self_test import run_self_test
from labeltrick.propagation import Resolvent


def test_it_passes_here():
    names = ("propagation", "self-exclusion", "trees")
    assert run_self_test() == dict.fromkeys(names, "passed")


def test_a_wrong_product_is_found(monkeypatch):
    right = Resolvent.apply
    monkeypatch.setattr(Resolvent, "apply", lambda P, F, **k: right(P, np.multiply(F, 1.001), **k))
    found = run_self_test()
    assert "differs from the dense formula" in found["propagation"]
    assert "differs from the dense formula" in found["self-exclusion"]


def test_an_error_is_a_finding(monkeypatch):
    def fail(*_, **__):
        raise OSError("no such library")

    monkeypatch.setattr(Resolvent, "apply", fail)
    assert run_self_test()["propagation"] == "OSError: no such library"


def test_trees_without_openmp_are_a_finding_with_a_remedy(monkeypatch):
    class WithoutOpenMP(MetaPathFinder):
        def find_spec(self, name, *_):
            if name == "lightgbm":
                raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    monkeypatch.setattr(sys, "meta_path", [WithoutOpenMP(), *sys.meta_path])
    found = run_self_test()
    assert found["propagation"] == "passed"
    assert found["trees"].startswith("OSError: libgomp.so.1: cannot open shared object file")
    assert "apt-get install libgomp1" in found["trees"]
