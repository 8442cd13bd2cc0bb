"""Rows of SGC and SIGN against the formula."""

import numpy as np
import pytest

from labeltrick import SGC, SIGN, label_matrix
from tests import reference
from tests.support.graphs import random_graph

torch = pytest.importorskip("torch")


# -- against dense formulas ----------------------------------------------------------------------
@pytest.mark.parametrize("hops", [None, "sum", "concat"])
def test_rows_are_those_of_the_formula(hops):
    A, graph = random_graph(3, n=20, n_edges=45)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), np.where(rng.random(20) < 0.6, rng.integers(0, 3, 20), -1)
    model = SGC(3) if hops is None else SIGN(3, hops=hops, hidden=4)
    model.set_params(scale=False, max_epochs=1).fit(X, y, graph=graph)
    S = reference.normalized(A + np.diag(1.0 - (np.diag(A) > 0)), "sym")
    powers = [np.linalg.matrix_power(S, k) for k in range(4)]
    Y = label_matrix(y, n_classes=3)
    kinds = {None: [powers[3]], "sum": [sum(powers)], "concat": powers}[hops]
    features = np.concatenate([P @ X for P in kinds], axis=1)
    views = [P @ Y - np.diag(P)[:, None] * Y for P in kinds]
    views = np.concatenate(views[1:] if hops == "concat" else views, axis=1)
    inputs = model.fitted_inputs
    np.testing.assert_allclose(model._rows.features(inputs), features, atol=1e-5)
    np.testing.assert_allclose(model._rows.labels(inputs), views, atol=1e-6)
    table = model._table(inputs, model.network_.label_size)[:]
    size = np.sqrt((views**2).mean())
    np.testing.assert_allclose(table[:, features.shape[1] :], views / size, atol=1e-4)
    with torch.no_grad():
        scores = model.network_(torch.from_numpy(table)).softmax(1).numpy()
    np.testing.assert_allclose(model.set_params(calibrate=False).predict_proba(), scores, atol=1e-6)
