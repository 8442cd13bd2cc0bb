import numpy as np
import pytest

from labeltrick import Graph, LabelPropagation
from labeltrick.evaluation import metrics
from labeltrick.evaluation.calibration import Calibration, fit_calibration


def confident(seed, temperature, n=4000, c=4):
    """Probabilities whose true temperature is known, and labels drawn from the true ones."""
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(n, c))
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    codes = np.array([rng.choice(c, p=row) for row in true])
    claimed = np.exp(logits / temperature)
    return claimed / claimed.sum(axis=1, keepdims=True), np.eye(c)[codes], codes


@pytest.mark.parametrize("temperature", [0.4, 2.5])
def test_a_wrong_temperature_is_found_and_undone(temperature):
    proba, Y, _ = confident(0, temperature)
    found = fit_calibration(proba, Y, "classification")
    assert found.temperature == pytest.approx(1 / temperature, rel=0.15)
    assert found.ece_after < 0.03 < found.ece_before
    fixed = found.apply(proba, "classification")
    np.testing.assert_allclose(fixed.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fixed.argmax(axis=1), proba.argmax(axis=1))
    # and on labels it was not fitted on
    fresh, _, fresh_codes = confident(1, temperature)
    before = metrics.expected_calibration_error(fresh, fresh_codes)
    after = metrics.expected_calibration_error(found.apply(fresh, "classification"), fresh_codes)
    assert after < before / 2


def test_multilabel():
    proba, Y, _ = confident(2, 0.4, c=2)
    found = fit_calibration(proba, Y, "multilabel")
    assert found.ece_after < found.ece_before
    fixed = found.apply(proba, "multilabel")
    np.testing.assert_array_equal(fixed > 0.5, proba > 0.5)


def test_nothing_is_changed_where_there_is_nothing_to_learn():
    few = fit_calibration(np.full((3, 2), 0.5), np.eye(2)[[0, 1, 1]], "classification")
    assert (few.temperature, few.smoothing) == (1.0, 0.0)
    rows = np.random.default_rng(0).random((5, 3))
    assert Calibration().apply(rows, "classification") is rows


def test_label_propagation_is_calibrated_on_nodes_never_seen():
    """Communities of two classes with noise: shares of few neighbors claim too much."""
    rng = np.random.default_rng(0)
    n = 4000
    truth = rng.integers(0, 2, n)
    src = rng.integers(0, n, 12_000)
    same = rng.random(len(src)) < 0.7
    pools = [np.flatnonzero(truth == k) for k in (0, 1)]
    wanted = np.where(same, truth[src], 1 - truth[src])
    dst = np.array([rng.choice(pools[k]) for k in wanted])
    graph = Graph.from_edges(src, dst, n_nodes=n)
    y = np.where(rng.random(n) < 0.5, truth, -1)
    hidden = y < 0
    gaps = {}
    for calibrate in (False, True):
        model = LabelPropagation(0.5, calibrate=calibrate).fit(None, y, graph=graph)
        gaps[calibrate] = metrics.expected_calibration_error(
            model.predict_proba()[hidden], truth[hidden]
        )
    assert gaps[True] < 0.04 < gaps[False]
    assert model.calibration_.ece_after < model.calibration_.ece_before
