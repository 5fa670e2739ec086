"""Instants as clocks of another zone show them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Function, function, of
from sqlwin.functions.core.session_zone import session_zone
from sqlwin.functions.core.vectors import only, vector
from sqlwin.functions.instants.calendar import Ints
from sqlwin.functions.instants.iso import masked, micros
from sqlwin.functions.instants.zones import Zone, zone
from sqlwin.schema import TIMESTAMP


def _moved(given: pa.Array, names: pa.Array, move: Callable[[Zone, Ints], Ints]) -> pa.Array:
    """Each by its zone, all of one zone at once."""
    values, one = micros(given), only(names)
    if given.null_count == len(given):
        return given
    if one is not None:
        return masked(move(zone(one), values), TIMESTAMP, given)
    found = values.copy()
    present = pc.and_(pc.is_valid(names), pc.is_valid(given))
    for name in pc.unique(names.filter(present)).to_pylist():
        rows = np.asarray(pc.fill_null(pc.and_(pc.equal(names, name), present), False))
        found[rows] = move(zone(name), values[rows])
    return masked(found, TIMESTAMP, given, names)


@vector("from_utc_timestamp")
def from_utc(given: pa.Array, names: pa.Array) -> pa.Array:
    return _moved(given, names, Zone.local)


@vector("to_utc_timestamp")
def to_utc(given: pa.Array, names: pa.Array) -> pa.Array:
    return _moved(given, names, Zone.instants)


ZONED: tuple[Function, ...] = (
    function(
        "from_utc_timestamp",
        of("(TIMESTAMP, STRING) -> TIMESTAMP", from_utc),
        doc="What clocks of a zone show at an instant, as if they showed UTC.",
    ),
    function(
        "to_utc_timestamp",
        of("(TIMESTAMP, STRING) -> TIMESTAMP", to_utc),
        doc="The instant at which clocks of a zone show a time that is given as UTC.",
    ),
    function(
        "current_timezone",
        of("() -> STRING", lambda _: f"'{session_zone()}'"),
        doc="The zone that `SET 'time.zone'` names; `UTC` without it.",
    ),
)
