"""Label views that spread the same labels only once."""

import numpy as np
import pytest

from labeltrick import Graph, LabelPropagation
from labeltrick.models.auto.kept_spread import KeptSpread
from labeltrick.self_exclusion.label_views import LabelViews, label_columns

N = 60


@pytest.fixture
def n_spreads(monkeypatch):
    """How often labels were propagated."""
    calls, plain = [], LabelViews._spread_at

    def counted(self, *given):
        calls.append(given)
        return plain(self, *given)

    monkeypatch.setattr(LabelViews, "_spread_at", counted)
    return lambda: len(calls)


def test_views_are_those_of_label_views_and_labels_are_spread_once(n_spreads):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, N, (2, 2 * N)), n_nodes=N)
    Y, labeled = np.eye(3)[rng.integers(0, 3, N)], rng.random(N) < 0.5
    nodes = np.flatnonzero(labeled | (rng.random(N) < 0.3))
    plain = LabelPropagation(0.8).views_of(graph)
    kept = KeptSpread(plain.kinds, nodes)
    columns = label_columns(Y, labeled.astype(float))
    without = label_columns(Y, (labeled & (np.arange(N) % 5 > 0)).astype(float))
    for given in (columns, without, columns, without):
        for at in (nodes, np.flatnonzero(labeled), nodes[::2]):
            before = n_spreads()
            expected = plain.inputs(given, at, progress=False)
            assert n_spreads() == before + 1
            found = kept.inputs(given, at, progress=False)
            np.testing.assert_array_equal(found.values, expected.values)
            np.testing.assert_array_equal(found.reached, expected.reached)
    assert n_spreads() - 4 * 3 == 2


def test_other_labels_replace_those_used_longest_ago(n_spreads):
    graph = Graph.from_edges(np.arange(N - 1), np.arange(1, N))
    kept = KeptSpread(LabelPropagation(0.5).views_of(graph).kinds, np.arange(N))
    labels = [label_columns(np.full((N, 1), float(k)), np.ones(N)) for k in range(3)]
    for k, expected in ((0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (1, 4)):
        kept.inputs(labels[k], progress=False)
        assert n_spreads() == expected


def test_other_nodes_may_be_asked_for(n_spreads):
    graph = Graph.from_edges(np.arange(N - 1), np.arange(1, N))
    plain = LabelPropagation(0.5).views_of(graph)
    columns = label_columns(np.arange(N, dtype=float)[:, None], np.ones(N))
    kept = KeptSpread(plain.kinds, np.arange(0, N // 2, 2))
    for nodes in (np.arange(0, N // 2, 4), np.arange(1, 9), np.arange(N), np.arange(0, N // 2, 2)):
        found = kept.inputs(columns, nodes, progress=False)
        expected = plain.inputs(columns, nodes, progress=False)
        np.testing.assert_array_equal(found.values, expected.values)
    assert n_spreads() == 4 + 3


def test_single_precision_stays_within_the_tolerance():
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(*rng.integers(0, N, (2, 3 * N)), n_nodes=N)
    labeled = rng.random(N) < 0.5
    columns = label_columns(np.eye(3)[rng.integers(0, 3, N)], labeled.astype(float))
    nodes, kinds = np.arange(N), LabelPropagation(0.9).views_of(graph).kinds
    found = KeptSpread(kinds, nodes, np.float32).inputs(columns, nodes, progress=False)
    expected = KeptSpread(kinds, nodes).inputs(columns, nodes, progress=False)
    np.testing.assert_array_equal(found.reached, expected.reached)
    np.testing.assert_allclose(found.values, expected.values, atol=2e-6)
    assert found.values.dtype == np.float64
