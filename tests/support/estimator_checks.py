"""scikit-learn's own tests of estimators, and which of them cannot hold for nodes of a graph; what
members of `AutoModel` must not know."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.utils.estimator_checks import check_estimator

from labeltrick import AutoModel
from labeltrick.models.auto import crossfit
from labeltrick.models.base.folds import draw_folds

# scikit-learn tests estimators on rows without a graph. These of its checks do not apply to
# those that use labels alone:
WITHOUT_FEATURES = {
    "check_n_features_in_after_fitting": "X is not used, so predict takes any",
    "check_complex_data": "X is not used, so its values are not looked at",
    "check_dtype_object": "same",
    "check_estimators_empty_data_messages": "same",
    "check_estimators_nan_inf": "same",
    "check_fit1d": "same",
    "check_fit2d_predict1d": "same",
    "check_classifiers_train": "without edges nothing can be learned from X",
    "check_regressors_train": "same",
    "check_class_weight_classifiers": "without edges a node has its own label only",
}
# … and these to any:
NOT_FOR_GRAPHS = {
    "check_methods_subset_invariance": "predictions of nodes depend on the other nodes",
    "check_methods_sample_order_invariance": "rows are nodes: their order is the graph's",
    "check_sample_weight_equivalence_on_dense_data": "a repeated row would be another node",
    "check_sample_weight_equivalence_on_sparse_data": "same",
    "check_classifiers_regression_target": "real targets are welcome: task='auto'",
}


def run_scikit_learns_checks(estimator, also_expected=None, *, uses_features=False):
    """All checks but those above (and others, each with its reason) must pass."""
    oof = {**NOT_FOR_GRAPHS, **({} if uses_features else WITHOUT_FEATURES)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no graph was given")
        results = check_estimator(
            estimator,
            expected_failed_checks={**oof, **(also_expected or {})},
            on_fail=None,
            on_skip=None,
        )
    failed = {r["check_name"] for r in results if r["status"] == "failed"}
    assert failed == set()
    assert sum(r["status"] == "passed" for r in results) >= 35


def check_out_of_fold_rows(graph, X, _, y, place=4, **options):
    """Each learner of `AutoModel` predicts a left-out node the same, whatever its label is."""
    rows = []
    for shift in (0, 1):
        other = y.copy()
        node = np.flatnonzero(y >= 0)[place]
        other[node] = (other[node] + shift) % 3
        model = AutoModel(n_folds=3, progress=False, **options).fit(X, other, graph=graph)
        inputs = model.fitted_inputs
        fold = draw_folds(model.targets_, model.labeled_, 3, 0)
        parts = model._maker, inputs, model.validation_targets_, fold, 0, model._dropout
        fitter = crossfit.CrossFitter(*parts)
        rows.append({found.name: fitter.predict(found)[1] for found in model._learners})
    for name in rows[0]:
        np.testing.assert_allclose(rows[0][name][place], rows[1][name][place], atol=1e-6)
        assert np.abs(rows[0][name] - rows[1][name]).max() > 1e-6
