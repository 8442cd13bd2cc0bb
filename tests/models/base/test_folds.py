"""Folds of labeled nodes."""

import numpy as np
import pytest

from labeltrick._utils.targets import encode_targets
from labeltrick.models.base.draws import draw_part
from labeltrick.models.base.folds import draw_folds


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 5, 7, 40, 201])
def test_folds_are_even_and_keep_equal_keys_together(n, n_folds):
    rng = np.random.default_rng(n)
    nodes = np.arange(n)
    for n_kinds in (1, max(1, n // 3), 10 * n):
        known = encode_targets(np.zeros(n, int), n)
        keys = rng.integers(0, n_kinds, n).astype(np.uint64)
        object.__setattr__(known, "keys", keys)
        fold = draw_folds(known, nodes, n_folds, 0)
        size = np.bincount(fold, minlength=min(n, n_folds))
        largest = max(np.bincount(keys.astype(int)).max(), 1)
        assert size.min() >= 1
        assert np.ptp(size) <= (1 if largest > n // n_folds else max(1, largest))
        for key in np.unique(keys):
            if (keys == key).sum() <= n // min(n, n_folds):
                assert len(np.unique(fold[keys == key])) == 1
        kept, drawn = draw_part(known, nodes, n // 4, np.random.default_rng(0))
        assert np.array_equal(np.sort(np.concatenate([kept, drawn])), nodes)
