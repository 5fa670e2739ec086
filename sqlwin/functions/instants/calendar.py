"""The proleptic Gregorian calendar over numpy arrays: days since 1970 and years, months, days.

Years count through 0 to negative ones; any 64-bit number of days has its date. The rule is
Howard Hinnant's: years begin in March, so that the leap day is the last of one, and 400 years
are an era of 146,097 days.

>>> [int(part[0]) for part in civil(np.array([19782]))], int(days(2024, 2, 29))
([2024, 2, 29], 19782)
>>> [int(part[0]) for part in civil(np.array([-719529]))]
[-1, 12, 31]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
DAY = 86_400_000_000
"""Microseconds."""
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def civil(days_: Ints) -> tuple[Ints, Ints, Ints]:
    """Year, month and day of the month."""
    shifted = days_ + 719_468
    era, of_era = np.divmod(shifted, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = np.where(month < 10, month + 3, month - 9)
    return year + era * 400 + (month <= 2), month, day


def days(year: Any, month: Any, day: Any) -> Any:
    """Since 1970; of a day past the end of its month, one of the next."""
    year = year - (np.asarray(month) <= 2)
    era, of_era = np.divmod(year, 400)
    of_year = (153 * (month + np.where(np.asarray(month) > 2, -3, 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def is_leap(year: Any) -> Any:
    return (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))


_LENGTHS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


def month_length(year: Any, month: Any) -> Any:
    """month: from 1 to 12."""
    return _LENGTHS[np.asarray(month) - 1] + ((np.asarray(month) == 2) & is_leap(year))


def plus_months(days_: Ints, months: Ints) -> Ints:
    """The same day of another month, or its last."""
    year, month, day = civil(days_)
    total = year * 12 + (month - 1) + months
    year, month = total // 12, total % 12 + 1
    found: Ints = days(year, month, np.minimum(day, month_length(year, month)))
    return found


def whole_months(start: Ints, end: Ints) -> Ints:
    """From one instant to another, in microseconds, toward zero, as java.time counts them: the
    end's date is moved by a day where its time of day is not reached, then days are compared."""
    first, from_time = np.divmod(start, DAY)
    last, to_time = np.divmod(end, DAY)
    last = (
        last - ((last > first) & (to_time < from_time)) + ((last < first) & (to_time > from_time))
    )
    distance = _packed(last) - _packed(first)
    found: Ints = np.abs(distance) // 32 * np.sign(distance)
    return found


def _packed(days_: Ints) -> Ints:
    year, month, day = civil(days_)
    return (year * 12 + month) * 32 + day


def weekday(days_: Any) -> Any:
    """0 for Monday."""
    return (days_ + 3) % 7
