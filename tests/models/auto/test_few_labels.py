"""The say of label propagation where few labels arrive."""

import numpy as np
import pytest

from labeltrick import Graph
from labeltrick._utils.targets import encode_targets
from labeltrick.models.auto.few_labels import mass_nearby, trust_in_labels, without_labels_alone


def test_the_mass_is_that_of_the_labels_of_others():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], n_nodes=6)
    known = encode_targets(np.array([0, -1, 1, -1, 1, -1]), 6, "classification")
    mass = mass_nearby(0.5, graph, known)
    S = graph.normalized("row").to_scipy().toarray()
    P = 0.5 * np.linalg.inv(np.eye(6) - 0.5 * S)
    expected = (P - np.diag(np.diag(P))) @ known.labeled
    np.testing.assert_allclose(mass, expected, atol=1e-7)
    assert mass[4] == mass[5] == 0
    np.testing.assert_array_equal(mass_nearby(0.5, graph, known, np.array([2, 4])), mass[[2, 4]])


def test_trust_grows_with_the_mass_up_to_half_the_usual_one():
    usual = np.array([0.0, 0.2, 0.4, 0.6])
    found = trust_in_labels(np.array([0.0, 0.05, 0.1, 0.2, 0.9]), usual)
    np.testing.assert_allclose(found, [0, 0.25, 0.5, 1, 1])
    np.testing.assert_array_equal(trust_in_labels(np.array([0.0, 0.1]), np.zeros(3)), [0, 1])


def test_shares_without_label_propagation():
    shares = {"label propagation": 0.4, "trees": 0.45, "linear": 0.15}
    found = without_labels_alone(shares, ["trees", "linear", "network"])
    assert found == pytest.approx({"trees": 0.75, "linear": 0.25})
    alone = without_labels_alone({"label propagation": 1.0}, ["trees", "linear"])
    assert alone == {"trees": 0.5, "linear": 0.5}
