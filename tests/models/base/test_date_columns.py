"""Dates: parts and age, with a reference that does not move."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltrick.models.base.date_columns import PARTS, DateColumns

moments = st.datetimes(datetime.datetime(1902, 1, 1), datetime.datetime(2200, 1, 1))


def as_dates(values):
    return np.array(values, "datetime64[us]")


@given(st.lists(moments, min_size=1, max_size=5))
def test_parts_are_those_of_the_calendar(values):
    columns = DateColumns("d", DateColumns.of("d", as_dates(values)).reference, PARTS)
    latest = max(values)
    expected = [
        [(latest - v) / datetime.timedelta(days=1), v.year, v.month, v.weekday(), v.hour]
        for v in values
    ]
    np.testing.assert_allclose(columns.values(as_dates(values)), expected, atol=1e-6)


def test_only_parts_that_differ_are_columns():
    days = as_dates(["2024-05-01", "2024-05-02", None])
    found = DateColumns.of("seen", days)
    assert found.names == ["seen: age in days", "seen: day of week"]
    np.testing.assert_array_equal(found.values(days), [[1, 2], [0, 3], [np.nan, np.nan]])
    hours = as_dates(["2024-05-01T08:00", "2024-05-01T09:30"])
    assert DateColumns.of("seen", hours).parts == ("age in days", "hour")
    for few in (as_dates(["2024-05-01"]), as_dates([None])):
        assert DateColumns.of("seen", few).parts == ("age in days",)


def test_the_age_of_a_later_date_is_negative():
    found = DateColumns.of("seen", as_dates(["2024-05-01", "2024-05-03"]))
    np.testing.assert_array_equal(found.values(as_dates(["2024-05-13"]))[:, 0], [-10.0])


def test_parts_from_files_are_checked():
    for state in (("d", 0.0, ("week",)), ("d", float("nan"), ())):
        with pytest.raises(ValueError, match="do not fit together"):
            DateColumns(*state)
