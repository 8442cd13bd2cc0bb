"""Published figures on ogbn-arxiv; skipped where the data is absent."""

import numpy as np
import pytest

from labeltrick import Iteration, Resolvent
from labeltrick.io import datasets


@pytest.fixture(scope="module")
def arxiv(data_dir):
    return datasets.load("ogbn-arxiv", data_dir)


@pytest.fixture(scope="module")
def Y(arxiv):
    Y = np.zeros((arxiv.graph.n_nodes, 40), np.float32)
    Y[arxiv.split.train, arxiv.y[arxiv.split.train]] = 1
    return Y


def accuracy_on_test(arxiv, F):
    test = arxiv.split.test
    return round(100 * float((F[test].argmax(axis=1) == arxiv.y[test]).mean()), 2)


def test_label_propagation_gives_the_papers_accuracy(arxiv, Y):
    P = Iteration(arxiv.graph, 0.6, 50, self_loops=True)
    assert accuracy_on_test(arxiv, P @ Y) == 67.11


def test_the_resolvent_predicts_as_fifty_steps_do(arxiv, Y):
    steps = Iteration(arxiv.graph, 0.6, 50, self_loops=True) @ Y
    exact = Resolvent(arxiv.graph, 0.6, self_loops=True) @ Y
    assert np.array_equal(steps.argmax(axis=1), exact.argmax(axis=1))
    assert accuracy_on_test(arxiv, exact) == 67.11


def test_correct_and_smooths_variant_with_clamp(arxiv, Y):
    P = Iteration(arxiv.graph, 0.9, 50, norm="col", clamp=(0, 1))
    assert accuracy_on_test(arxiv, P @ Y) == 68.35
