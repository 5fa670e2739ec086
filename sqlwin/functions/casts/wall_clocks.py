"""TIMESTAMP_NTZ: what a clock shows, of no zone; casts from it and to it.

DuckDB computes it as a TIMESTAMP. `as_instant` is what `clocks.shown` makes of a TIMESTAMP: a
TIMESTAMP whose UTC is what the clock shows, so that all that is computed in UTC is computed of it.

    CAST(ntz AS STRING)       as_instant(ntz) printed in UTC
    CAST(ntz AS TIMESTAMP)    at_clock(as_instant(ntz))
    CAST(ts AS TIMESTAMP_NTZ) of_instant(shown(ts))

A text's zone is left out, as in Spark: '2024-03-10 02:30:00+05:00' is half past two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.casts.clocks import at_clock, shown_text
from sqlwin.functions.casts.time_texts import UTC, malformed, quickly, timestamp_to_text
from sqlwin.functions.casts.times import MIDNIGHT, usual_instant
from sqlwin.functions.core.quick import usual
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, STRING
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.instants.iso import clock_of
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

_INSTANT = "make_timestamptz(epoch_us({0}))"


def as_instant(wall: Typed) -> Typed:
    """As a TIMESTAMP that is shown. wall: a TIMESTAMP_NTZ."""
    return replace(wall, sql=_INSTANT.format(wall.sql), type=TIMESTAMP)


def of_instant(shown: Typed) -> Typed:
    """The other way."""
    return replace(shown, sql=UTC.format(shown.sql), type=TIMESTAMP_NTZ)


def _read(texts: pa.Array, strict: bool) -> pa.Array:
    quick = quickly(texts)

    def one(text: str) -> int | None:
        found = clock_of(text)
        if found is None and strict:
            raise malformed(text, TIMESTAMP_NTZ)
        return found

    return (by_value(one, texts, type=BIGINT) if quick is None else quick).cast(TIMESTAMP_NTZ)


@vector("text_to_wall")
def text_to_wall(texts: pa.Array) -> pa.Array:
    return _read(texts, strict=True)


@vector("try_text_to_wall")
def try_text_to_wall(texts: pa.Array) -> pa.Array:
    return _read(texts, strict=False)


def _from_text(casting: Casting) -> Typed:
    given = casting.given
    if isinstance(given.value, str) and given.value.strip().lower() == "epoch":
        return casting.text("make_timestamp(0)")
    chosen = try_text_to_wall if casting.safe else text_to_wall
    exact = f"{chosen.named([STRING], TIMESTAMP_NTZ)}({{0}})"
    test, instant = usual_instant("{0}")
    made = casting.text(usual(test, UTC.format(instant), exact))
    return replace(made, fails=given.fails or not casting.safe)


def _to_text(casting: Casting) -> Typed:
    first, last = "'0001-01-01'", "'9999-12-31 23:59:59.999999'"
    slow = f"{timestamp_to_text.named([TIMESTAMP], STRING)}({_INSTANT})"
    inside = f"{{0}} BETWEEN TIMESTAMP {first} AND TIMESTAMP {last}"
    return casting.text(f"CASE WHEN {inside} THEN CAST({{0}} AS VARCHAR) ELSE {slow} END")


def _text(made: Callable[[str], str], fails: bool = False) -> How:
    return lambda casting: casting.text(made("{0}"), fails=fails)


CASTS: dict[tuple[str, str], How] = {
    ("string", "timestamp_ntz"): _from_text,
    ("timestamp_ntz", "string"): _to_text,
    ("timestamp_ntz", "date"): _text(lambda x: f"CAST({x} AS DATE)"),
    ("date", "timestamp_ntz"): _text(lambda x: UTC.format(MIDNIGHT.format(x)), fails=True),
    ("timestamp_ntz", "timestamp"): _text(lambda x: at_clock(_INSTANT.format(x))),
    ("timestamp", "timestamp_ntz"): _text(lambda x: UTC.format(shown_text(x))),
}
