"""Which learners go on after a first look."""

import numpy as np

from labeltrick._utils.targets import encode_targets
from labeltrick.models.auto.looks import Look, without_hope


def look_of(n, seed=0):
    rng = np.random.default_rng(seed)
    known = encode_targets(rng.integers(0, 3, n), n, "classification")
    return Look(np.arange(n), known), rng


def guesses(look, rng, right):
    """Probabilities that favor the true class in a share of the nodes."""
    n, c = look.known.Y.shape
    says = np.where(rng.random(n) < right, look.known.Y.argmax(axis=1), rng.integers(0, c, n))
    return np.eye(c)[says] * 0.6 + 0.4 / c


def test_a_learner_without_information_is_dropped():
    look, rng = look_of(1000)
    found = {"good": guesses(look, rng, 0.9), "blind": np.full((1000, 3), 1 / 3)}
    dropped = without_hope(look, found)
    assert list(dropped) == ["blind"]
    assert "clearly worse than good" in dropped["blind"]


def test_a_weak_learner_that_knows_something_else_goes_on():
    look, rng = look_of(4000)
    found = {"good": guesses(look, rng, 0.8), "other": guesses(look, rng, 0.5)}
    assert without_hope(look, found) == {}


def test_few_nodes_drop_nothing():
    look, rng = look_of(150)
    found = {"good": guesses(look, rng, 0.95), "blind": np.full((150, 3), 1 / 3)}
    assert not look.decides
    assert without_hope(look, found) == {}


def test_with_many_nodes_a_copy_is_dropped():
    look, rng = look_of(6000)
    rows = guesses(look, rng, 0.7)
    assert list(without_hope(look, {"one": rows, "copy": rows.copy()})) == ["copy"]


def test_noise_hardly_drops_anything():
    """Learners of equal worth are dropped about as often as chance allows."""
    dropped = 0
    for seed in range(40):
        look, rng = look_of(300, seed)
        found = {str(k): guesses(look, rng, 0.0) for k in range(4)}
        dropped += len(without_hope(look, found))
    assert dropped <= 4
