"""Tables of words for networks that are trained side by side."""

import numpy as np
import scipy.sparse as sp

from labeltrick._utils.feature_tables import SparseTable

N, WIDTH = 80, 30


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, WIDTH, 0.2, "csr", dtype=np.float32, rng=rng)
    return SparseTable(sp.csr_array(X), rng.random(WIDTH).astype(np.float32))


def dense(rows):
    return rows.X.toarray() - rows.center


def one_hot(seed=0):
    return np.eye(3)[np.random.default_rng(seed).integers(0, 3, N)]
