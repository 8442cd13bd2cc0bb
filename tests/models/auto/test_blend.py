"""Shares of learners, and corrections by residuals of others."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

from labeltrick import Graph
from labeltrick.models.auto.blend import (
    Correction,
    choose_correction,
    choose_shares,
    mixed,
    nearby_residuals,
    residual_views,
)
from labeltrick.models.auto.learners.rows import row_loss
from tests.support.auto import numbers, quick


def test_shares_are_those_of_least_loss():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(200, 1))
    noise = [rng.normal(size=(200, 1)) for _ in range(2)]
    rows = [Y + noise[0], Y - noise[0], Y + 10 * noise[1]]
    shares = choose_shares(rows, Y, np.ones(200), "regression")
    assert shares[2] == 0
    assert sorted(shares)[1:] == [0.4, 0.6]
    best = row_loss("regression", Y, mixed(rows, shares), np.ones(200))
    assert best <= min(row_loss("regression", Y, part, np.ones(200)) for part in rows)


def test_residuals_of_others_leave_out_the_own():
    graph, _, value, y = numbers(3, 60)
    labeled = ~np.isnan(y)
    residual = np.where(labeled, value, 0.0)[:, None]
    before = nearby_residuals(residual, labeled, residual_views(graph, 0.8))
    node = np.flatnonzero(labeled)[5]
    changed = residual.copy()
    changed[node] += 100
    after = nearby_residuals(changed, labeled, residual_views(graph, 0.8))
    assert np.abs(after - before)[node] < 1e-6
    assert np.abs(after - before).max() > 1


def test_labels_that_come_later_hand_no_residual_back():
    graph, X, value, y = numbers(5, 120)
    model = quick().fit(X, y, graph=graph)
    nodes = model.labeled_
    model._correction = Correction(0.8, 1.0, nodes, model.oof_rows_, model.targets_.Y[nodes])
    now = np.where(np.isnan(y) & (np.arange(120) % 2 == 0), value, y)
    node = np.flatnonzero(np.isnan(y) & ~np.isnan(now))[3]
    changed = now.copy()
    changed[node] += 5.0
    before, after = (model.predict(X, labels, graph=graph) for labels in (now, changed))
    assert abs(after - before)[node] < 1e-6
    assert np.abs(after - before).max() > 1e-3


def test_a_correction_that_gains_nothing_is_none():
    graph, X, _, y = numbers(4, 200)
    model = quick().fit(X, y, graph=graph)
    rng = np.random.default_rng(0)
    nodes = model.labeled_
    rows = model.targets_.Y[nodes]
    rows = rows + rng.normal(size=rows.shape)  # residuals that tell nothing of each other
    choosing = np.arange(len(nodes)), model.targets_.Y[nodes], np.ones(len(nodes))
    found, same = choose_correction(rows, nodes, rows, model.fitted_inputs, choosing, {})
    assert found is None
    assert same is rows


def test_residuals_belong_to_the_nodes_of_the_fit():
    """Node k of another graph is another node, even if its label is the same."""
    graph, X, _, y = numbers(5, 120)
    model = quick(budget=1e-9).fit(X, y, graph=graph)
    other = Graph.from_edges(np.arange(119), np.arange(1, 120) - np.arange(119) % 2, n_nodes=120)
    rows = []
    for size in (1.0, 0.5):
        nodes = model.labeled_
        model._correction = Correction(
            0.8, size, nodes, 0 * model.oof_rows_, model.targets_.Y[nodes]
        )
        rows.append(model.predict(X, y, graph=other))
        model._cache.pop("residual views", None)
    np.testing.assert_array_equal(*rows)


def test_residuals_follow_names_to_extended_and_reordered_graphs():
    """Where nothing is new nearby, predictions are those of the fit, correction included."""
    graph, X, _, y = numbers(5, 120)
    A = graph.to_scipy().tocsr()
    names = [f"p{k}" for k in range(240)]
    twice = Graph.from_scipy(sp.block_diag([A, A]).tocsr()).with_names(names)
    X, y = np.concatenate([X, X]), np.concatenate([y, y])
    model = quick(budget=1e-9).fit(X, y, graph=twice)
    nodes = model.labeled_
    model._correction = None
    plain = model.predict()
    model._correction = Correction(0.8, 1.0, nodes, 0 * model.oof_rows_, model.targets_.Y[nodes])
    expected = model.predict()
    assert np.abs(expected - plain).max() > 0.1
    more = model.extend(pd.DataFrame(X[:1], index=["new"]), (["new"], ["p200"]))
    found = more.predict()
    np.testing.assert_allclose(found[:120], expected[:120], atol=1e-5)  # the other half changes
    assert np.abs(found[120:240] - expected[120:]).max() > 1e-4
    order = np.random.default_rng(0).permutation(240)
    np.testing.assert_allclose(
        model.predict(X[order], graph=twice.permuted(order)), expected[order], atol=1e-5
    )


def test_residuals_stay_with_old_nodes_that_only_have_numbers():
    graph, X, _, y = numbers(5, 120)
    A = graph.to_scipy().tocsr()
    twice = Graph.from_scipy(sp.block_diag([A, A]).tocsr())
    X, y = np.concatenate([X, X]), np.concatenate([y, y])
    model = quick(budget=1e-9).fit(X, y, graph=twice)
    nodes = model.labeled_
    model._correction = Correction(0.8, 1.0, nodes, 0 * model.oof_rows_, model.targets_.Y[nodes])
    expected = model.predict()
    more = model.extend(X[:1], ([240], [200]))
    again = more.extend(X[:1], ([241], [240]))
    for found in (more, again):  # nothing is new near the first half
        np.testing.assert_allclose(found.predict()[:120], expected[:120], atol=1e-5)
