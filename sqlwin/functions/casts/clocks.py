"""Instants as the clocks of the session's zone show them, and back.

What a clock shows is a TIMESTAMP again, as if it was UTC, so that all that is computed in UTC is
computed of it. In UTC both are the same, and nothing is written.

    HOUR(ts)                 hour of shown(ts)
    DATE_TRUNC('DAY', ts)    near(date_trunc of shown(ts), ts)
    CAST(d AS TIMESTAMP)     at_clock(midnight of d)

A time that clocks show twice is the earlier instant, and one that they skip is as much later as
they were put forward. `near` keeps the offset that the instant had where it may, as java.time
does: the hour that begins with the second 01:00 is not the first one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.session_zone import is_utc, session_zone
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import STRING
from sqlwin.functions.core.vectors import only, vector
from sqlwin.functions.instants.iso import masked, micros
from sqlwin.functions.instants.zones import Zone, zone
from sqlwin.schema import TIMESTAMP


def _zone_of(names: pa.Array) -> Zone:
    """The one that all rows have."""
    return zone(only(names) or "UTC")


@vector("clockshows")
def _shows(instants: pa.Array, names: pa.Array) -> pa.Array:
    return masked(_zone_of(names).local(micros(instants)), TIMESTAMP, instants)


@vector("clockinstant")
def _instant(clocks: pa.Array, names: pa.Array) -> pa.Array:
    return masked(_zone_of(names).instants(micros(clocks)), TIMESTAMP, clocks)


@vector("clocknear")
def _near(clocks: pa.Array, instants: pa.Array, names: pa.Array) -> pa.Array:
    found, local, near = _zone_of(names), micros(clocks), micros(instants)
    kept = local - found.offsets(near)
    made = np.where(found.local(kept) == local, kept, found.instants(local))
    return masked(made, TIMESTAMP, clocks, instants)


def _called(name: str, *texts: str) -> str:
    return f"{name}({', '.join(texts)}, '{session_zone()}')"


def shown(instant: Typed) -> Typed:
    """What clocks show at an instant."""
    return instant if is_utc() else replace(instant, sql=shown_text(instant.sql))


def shown_text(instant: str) -> str:
    if is_utc():
        return instant
    return _called(_shows.named([TIMESTAMP, STRING], TIMESTAMP), instant)


def at_clock(clock: str) -> str:
    """The instant at which clocks show this. clock: text of DuckDB, as the result is."""
    return clock if is_utc() else _called(_instant.named([TIMESTAMP, STRING], TIMESTAMP), clock)


def near(clock: str, instant: str) -> str:
    """The same, with the offset of an instant where clocks show it twice."""
    if is_utc():
        return clock
    return _called(_near.named([TIMESTAMP, TIMESTAMP, STRING], TIMESTAMP), clock, instant)
