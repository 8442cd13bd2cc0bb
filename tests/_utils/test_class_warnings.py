"""Classes that may not be what the caller means."""

import warnings

import numpy as np
import pytest

from labeltrick._utils.targets import encode_targets


@pytest.mark.parametrize("blank", ["", "nan", "None", "-1", "Unknown"])
def test_classes_that_look_like_missing_labels_are_reported(blank):
    with pytest.warns(UserWarning, match="looks like a missing label"):
        encode_targets(["a", blank, "b"], 3)


@pytest.mark.parametrize("other", ["Yes", "yes ", "YES"])
def test_classes_in_two_spellings_are_reported(other):
    with pytest.warns(UserWarning, match="differ only in case or spaces"):
        encode_targets(["yes", other, "no"], 3)


AMOUNTS = np.random.default_rng(0).integers(100, 900, 60)


@pytest.mark.parametrize("y", [AMOUNTS, AMOUNTS.astype(float), [*AMOUNTS.tolist(), None]])
def test_amounts_that_are_taken_as_classes_are_reported(y):
    with pytest.warns(UserWarning, match=r"whole numbers from 10\d to .* task='regression'"):
        assert encode_targets(y, len(y)).task == "classification"


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "A", "b"], "auto"),
        (np.arange(90) % 45, "auto"),
        (np.delete(np.arange(70), [3, 9]), "auto"),  # a class that no node has
        (np.arange(1, 70), "auto"),
        ([5, 80, 900], "auto"),
        (AMOUNTS, "classification"),
        (AMOUNTS, "regression"),
    ],
)
def test_usual_labels_are_not(y, task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_targets(y, len(y), task=task)
