"""MONTHS_BETWEEN: months of the calendar, and a rest of days and seconds in months of 31 days.

The seconds are those since the day began, as in Spark: on a day on which clocks of the session's
zone are put forward at 02:00, 03:30 is 2.5 hours after midnight.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Call, function, of
from sqlwin.functions.core.session_zone import session_zone
from sqlwin.functions.core.types import DOUBLE, STRING
from sqlwin.functions.core.vectors import only, vector
from sqlwin.functions.instants.calendar import DAY, Ints, civil, month_length
from sqlwin.functions.instants.iso import micros
from sqlwin.functions.instants.zones import Zone, zone
from sqlwin.schema import TIMESTAMP


@vector("months_between")
def _months_between(one: pa.Array, other: pa.Array, rounded: pa.Array, zones: pa.Array) -> pa.Array:
    """zones: whose clocks, the same in all rows."""
    clocks = zone(only(zones) or "UTC")
    (y1, m1, d1), rest1 = _day_and_seconds(clocks, micros(one))
    (y2, m2, d2), rest2 = _day_and_seconds(clocks, micros(other))
    months = (y1 * 12 + m1 - y2 * 12 - m2).astype(float)
    last = (d1 == month_length(y1, m1)) & (d2 == month_length(y2, m2))
    seconds = (d1 - d2) * 86_400 + rest1 - rest2
    found = np.where((d1 == d2) | last, months, months + seconds / (31 * 86_400))
    exact = np.asarray(rounded.fill_null(False)) == 0
    found = np.where(exact, found, np.floor(np.abs(found) * 1e8 + 0.5) / 1e8 * np.sign(found))
    missing = np.zeros(len(found), bool)
    for array in (one, other, rounded):
        missing |= np.asarray(pc.is_null(array))
    return pa.array(found, DOUBLE, mask=missing)


def _day_and_seconds(clocks: Zone, instants: Ints) -> tuple[tuple[Ints, Ints, Ints], Ints]:
    day = clocks.local(instants) // DAY
    return civil(day), (instants - clocks.instants(day * DAY)) // 1_000_000


def _rounded(whether: str) -> Callable[[Call], str]:
    """whether: to 8 digits, a text of DuckDB."""
    types = [TIMESTAMP, TIMESTAMP, pa.bool_(), STRING]

    def how(call: Call) -> str:
        named = _months_between.named(types, DOUBLE)
        return call.filled(f"{named}({{0}}, {{1}}, {whether}, '{session_zone()}')")

    return how


MONTHS_BETWEEN = function(
    "months_between",
    of("(TIMESTAMP, TIMESTAMP) -> DOUBLE", _rounded("true")),
    of("(TIMESTAMP, TIMESTAMP, BOOLEAN) -> DOUBLE", _rounded("{2}")),
    doc="Months from the second instant to the first, of 31 days each where days differ.",
)
