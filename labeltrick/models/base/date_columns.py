"""Dates as columns of numbers: their parts, and their age relative to a fixed day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

AGE, YEAR, MONTH, WEEKDAY, HOUR = "age in days", "year", "month", "day of week", "hour"
PARTS = (AGE, YEAR, MONTH, WEEKDAY, HOUR)
_DAY = np.timedelta64(86_400_000_000, "us")


@dataclass(frozen=True)
class DateColumns:
    """The numbers that a column of dates becomes, NaN where a date is missing.

    ``reference`` is the latest date of the fit, in days since 1970. Ages are counted from it, so
    that a later date has a negative age whenever it is predicted. ``parts`` are those that differ
    between rows of the fit. Mondays are 0. Dates with a time zone are converted to UTC.
    """

    name: str
    reference: float
    parts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not np.isfinite(self.reference) or not set(self.parts) <= set(PARTS):
            raise ValueError("the dates in it do not fit together")

    @classmethod
    def of(cls, name: str, dates: np.ndarray) -> DateColumns:
        """Choose the parts of ``dates``, an array of type datetime64[us]."""
        known = dates[~np.isnat(dates)]
        if not len(known):
            return cls(name, 0.0, (AGE,))
        found = cls(name, float((known.max() - np.datetime64(0, "us")) / _DAY), PARTS)
        values = found.values(known)
        differ = [part for part, x in zip(PARTS, values.T, strict=True) if x.min() < x.max()]
        return cls(name, found.reference, tuple(differ) or (AGE,))

    @property
    def names(self) -> list[str]:
        return [f"{self.name}: {part}" for part in self.parts]

    def values(self, dates: np.ndarray) -> np.ndarray:
        """One column per part."""
        missing = np.isnat(dates)
        moments = np.where(missing, np.datetime64(0, "us"), dates).astype("datetime64[us]")
        days = moments.astype("datetime64[D]")
        of_part = {
            AGE: lambda: self.reference - (moments - np.datetime64(0, "us")) / _DAY,
            YEAR: lambda: moments.astype("datetime64[Y]").astype(np.int64) + 1970,
            MONTH: lambda: moments.astype("datetime64[M]").astype(np.int64) % 12 + 1,
            WEEKDAY: lambda: (days.astype(np.int64) + 3) % 7,  # 1970 began on a Thursday
            HOUR: lambda: (moments - days) // np.timedelta64(3_600_000_000, "us"),
        }
        found = [np.asarray(of_part[part](), np.float64) for part in self.parts]
        return np.where(missing[:, None], np.nan, np.column_stack(found))
