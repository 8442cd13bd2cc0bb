"""The two steps of Correct and Smooth, against formulas and PyG."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick import CorrectAndSmooth, Spread
from labeltrick.models.correct_smooth.steps import correction, smoothed
from tests import reference
from tests.support.correct_smooth import given

NORMS = ["sym", "row", "col"]


# -- against formulas ----------------------------------------------------------------------------
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("scale", ["auto", 1.0, 2.5])
def test_steps_are_those_of_the_original(norm, scale):
    graph, A, base, Y, train = given()
    S = reference.normalized(A, norm)
    spread = Spread(0.9, 12, norm=norm)
    found = base + correction(base, Y, train, graph, spread, scale)
    expected = reference.correct(S, 0.9, 12, base, Y, train, scale)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    found = smoothed(found, Y, train, graph, Spread(0.7, 8, norm=norm))
    np.testing.assert_allclose(found, reference.smooth(S, 0.7, 8, expected, Y, train), atol=1e-10)


def test_limits_are_those_of_many_steps():
    graph, _, base, Y, train = given(1)
    for scale in ("auto", "mean", 1.0):
        for clamp in (False, True) if scale == 1.0 else (False,):
            many = correction(base, Y, train, graph, Spread(0.8, 400, clamp=clamp), scale)
            limit = correction(base, Y, train, graph, Spread(0.8, None, clamp=clamp), scale)
            np.testing.assert_allclose(limit, many, atol=1e-5)


@pytest.mark.parametrize("scale", ["auto", 1.5])
@pytest.mark.parametrize("norm", NORMS)
def test_same_as_pyg(norm, scale):
    torch = pytest.importorskip("torch")
    models = pytest.importorskip("torch_geometric.nn.models")
    graph, A, base, Y, train = given(2, n=200)
    options = {} if scale == "auto" else {"autoscale": False, "scale": scale}
    peer = models.CorrectAndSmooth(50, 0.979, 50, 0.756, **options)
    S = sp.coo_array(reference.normalized(A, norm))
    edges = torch.from_numpy(np.stack([S.col, S.row]).astype(np.int64))
    labels = torch.from_numpy(Y[train].argmax(axis=1))
    rest = (labels, torch.from_numpy(train), edges, torch.from_numpy(S.data).float())
    rows = peer.correct(torch.from_numpy(base).float(), *rest)
    expected = peer.smooth(rows, *rest).numpy()
    steps = Spread(0.979, norm=norm), Spread(0.756, norm=norm)
    found = base + correction(base, Y, train, graph, steps[0], scale)
    np.testing.assert_allclose(found, rows.numpy(), atol=1e-5)
    found = smoothed(found, Y, train, graph, steps[1])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    y = np.where(train, Y.argmax(axis=1), -1)
    model = CorrectAndSmooth(base, correct=steps[0], smooth=steps[1], scale=scale, calibrate=False)
    proba = model.fit(None, y, graph=graph).predict_proba()
    assert (proba.argmax(axis=1) == expected.argmax(axis=1))[:-2].all()
