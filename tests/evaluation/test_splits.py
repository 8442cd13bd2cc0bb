"""Splits of nodes: disjoint, seeded, of the right size."""

import numpy as np
import pytest

from labeltrick.evaluation.splits import split_nodes


# -- splits ----------------------------------------------------------------------------------
def test_splits_are_disjoint_seeded_and_of_the_right_size():
    y = np.array([0, 1, -1, 1, 0] * 20)
    split = split_nodes(y, random_state=3)
    parts = np.concatenate([split.train, split.val, split.test])
    assert len(parts) == len(set(parts)) == 80
    assert (len(split.train), len(split.val), len(split.test)) == (48, 16, 16)
    assert (y[parts] >= 0).all()
    np.testing.assert_array_equal(split.train, split_nodes(y, random_state=3).train)
    assert not np.array_equal(split.train, split_nodes(y, random_state=4).train)


def test_stratified_splits_keep_shares():
    y = np.array([0] * 90 + [1] * 10)
    split = split_nodes(y, (0.5, 0.3, 0.2), random_state=0, stratify=True)
    assert [int((y[part] == 1).sum()) for part in (split.train, split.val, split.test)] == [5, 3, 2]


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.2, 0.2), (-0.1, 0.5, 0.5), (0, 0, 0)])
def test_bad_shares(shares):
    with pytest.raises(ValueError, match="`shares` must be three numbers"):
        split_nodes(10, shares)
