"""The self-test of an installation: it passes here, and finds wrong results and errors."""

import numpy as np

from labeltrick.app.doctor.self_test import run_self_test
from labeltrick.propagation import Resolvent


def test_it_passes_here():
    assert run_self_test() == {"propagation": "passed", "self-exclusion": "passed"}


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
