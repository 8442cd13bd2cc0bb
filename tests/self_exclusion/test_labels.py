"""Matrices of labels and random splits of them."""

import numpy as np
import pytest

from labeltrick import (
    label_matrix,
    split_labels,
)


def test_split_labels():
    mask = np.arange(10_000) % 2 == 0
    split = split_labels(mask, 0.3, random_state=0)
    assert not (split.in_mask & split.out_mask).any()
    np.testing.assert_array_equal(split.in_mask | split.out_mask, mask)
    assert split.in_mask.sum() == pytest.approx(1500, abs=150)
    again = split_labels(np.flatnonzero(mask), 0.3, random_state=0, n_nodes=10_000)
    np.testing.assert_array_equal(split.in_mask, again.in_mask)
    generator = np.random.default_rng(0)
    first, second = (split_labels(mask, 0.3, generator) for _ in range(2))
    assert not np.array_equal(first.in_mask, second.in_mask)


def test_label_matrix():
    np.testing.assert_array_equal(label_matrix([2, -1, 0]), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(label_matrix([1, 0], train=[1], n_classes=2), [[0, 0], [1, 0]])
    np.testing.assert_array_equal(label_matrix([1.5, np.nan]), [[1.5], [0.0]])
    many = np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, 4.0]])
    np.testing.assert_array_equal(label_matrix(many, train=[0]), [[1, 2], [0, 0], [0, 0]])
    with pytest.raises(ValueError, match="`train` must hold labeled nodes only; node 1 has no"):
        label_matrix([0, -1], train=[0, 1])
    np.testing.assert_array_equal(label_matrix([0.0, np.nan, 1.0]), [[1, 0], [0, 0], [0, 1]])
    np.testing.assert_array_equal(label_matrix(np.array([0, 1], np.uint8)), np.eye(2))
    np.testing.assert_array_equal(label_matrix([True, False]), [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="`y` must hold classes ≥ 0, or −1 where unknown; got -7"):
        label_matrix([0, -7, 1])
    with pytest.raises(ValueError, match="one or two dimensions"):
        label_matrix(np.zeros((2, 2, 2)))
    with pytest.raises(TypeError, match="class numbers"):
        label_matrix(["a", "b"])
    with pytest.raises(ValueError, match="`n_classes` must be at least 3"):
        label_matrix([2, 0], n_classes=2)
