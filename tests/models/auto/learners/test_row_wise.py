"""Scales of label columns."""

import numpy as np

from labeltrick.models.auto.learners.row_wise import RangeScale, scale_of_labels

SEEN = np.array([[0.0, np.nan, np.nan], [1.0, 2.0, np.nan], [np.nan, 6.0, np.nan]])


def test_numbers_stay_within_the_range_of_the_fit():
    plain = scale_of_labels(SEEN)
    scale = RangeScale.within(plain, SEEN)
    np.testing.assert_array_equal(scale.apply(SEEN), plain.apply(SEEN))
    beyond = scale.apply(np.array([[-3.0, 9.0, 5.0], [0.5, 4.0, np.nan]]))
    expected = plain.apply(np.array([[0.0, 6.0, 0.0], [0.5, 4.0, np.nan]]))
    np.testing.assert_array_equal(beyond, expected)
