"""Tables of features."""

import numpy as np
import pytest
import scipy.sparse as sp

from labeltrick._utils.feature_tables import FeatureScale


def words(n=60, width=200, share=0.03, seed=0):
    made = sp.random(n, width, share, "csr", rng=np.random.default_rng(seed))
    return sp.csr_array(made, dtype=np.float32)


@pytest.mark.parametrize("how", ["global", "columns", False])
def test_scale_of_sparse_features_is_that_of_dense_ones(how):
    X = words()
    sparse, dense = FeatureScale.of(X, how), FeatureScale.of(X.toarray(), how)
    np.testing.assert_allclose(sparse.center, dense.center, atol=1e-6)
    np.testing.assert_allclose(sparse.spread, dense.spread, rtol=1e-5)
