"""Instants of texts: ISO 8601 with seconds, `T` or a space. Where no offset is named they are of
the clocks of a zone, that of the column, which mostly is UTC.

    2024-01-01T09:00:00Z    2024-01-01 09:00:00.123    2024-01-01T09:00:00+02, +0200, +02:00

What is finer than a microsecond is cut off. Invariant: whether a text is
accepted does not depend on the texts beside it, though they are parsed together, for speed.

>>> instants_of_texts(pl.Series(["1970-01-01T02:00:01+02", "1970-01-01"])).dt.timestamp().to_list()
[1000000, None]
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.functions.instants import zones
from sqlwin.polars_frames import INSTANT
from sqlwin.schema import TIMESTAMP

SHORTEST = len("2024-01-01T09:00:00")
_OFFSET = r"(?i)(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
COLONS = (len("2024-01-01T09"), len("2024-01-01T09:00"))
FEW = 256
"""Texts that Polars reads sooner than Arrow; and a run that reads no more need not import Arrow's
functions."""

_ZONE: ContextVar[str] = ContextVar("zone", default="UTC")


@contextmanager
def clocks_of(zone: str) -> Iterator[None]:
    """By whose clocks values without an offset are read meanwhile."""
    before = _ZONE.set(zone)
    try:
        yield
    finally:
        _ZONE.reset(before)


def at_clocks(clocks: pl.Series) -> pl.Series:
    """The instants at which clocks show these, which are given as if they were UTC.

    >>> with clocks_of("Europe/Berlin"):
    ...     at_clocks(pl.Series([7_200_000_000]).cast(INSTANT)).dt.timestamp().to_list()
    [3600000000]
    """
    if _ZONE.get() == "UTC":
        return clocks
    zone = zones.zone(_ZONE.get())
    moved = pl.Series(zone.instants(clocks.cast(pl.Int64).fill_null(0).to_numpy()))
    frame = pl.DataFrame({"there": clocks.is_not_null(), "moved": moved.cast(INSTANT)})
    return frame.select(pl.when("there").then("moved")).to_series().alias(clocks.name)


def instants_of_texts(texts: pl.Series) -> pl.Series:
    known = _all_at_once(texts) if len(texts) > FEW else None
    return _each(texts) if known is None else known


def wall_clocks_of_texts(texts: pl.Series) -> pl.Series:
    """What clocks show, of a TIMESTAMP_NTZ; NULL where a text names an offset.

    >>> wall_clocks_of_texts(pl.Series(["1970-01-01T02:00:01", "1970-01-01T02:00:01Z"])).to_list()
    [datetime.datetime(1970, 1, 1, 2, 0, 1), None]
    """
    frame = texts.to_frame("t")
    zoned = pl.col("t").str.strip_chars().str.contains(_OFFSET)
    plain = frame.select(pl.when(~zoned).then("t")).to_series()
    with clocks_of("UTC"):
        return instants_of_texts(plain).dt.replace_time_zone(None).alias(texts.name)


def _all_at_once(texts: pl.Series) -> pl.Series | None:
    """None where they are not all of one form.

    Arrow would take a mere date, hour or minute too. Such texts go the other way.
    """
    shortest = texts.str.len_bytes().min()
    if not isinstance(shortest, int) or shortest < SHORTEST:
        return None
    array = texts.to_arrow().cast(pa.string())
    if not _have_seconds(array):
        return None
    for type_ in (TIMESTAMP, pa.timestamp("us")):  # with a zone, or without one
        try:
            read = pl.Series(array.cast(type_).cast(pa.int64())).cast(INSTANT)
            return read if type_ == TIMESTAMP else at_clocks(read)
        except pa.ArrowInvalid:
            continue
    return None


def _have_seconds(array: pa.StringArray) -> bool:
    """Whether all have a colon before minutes and seconds; each is `SHORTEST` or longer."""
    _, offsets, data = array.drop_null().buffers()
    if data is None:
        return True
    ends = np.frombuffer(offsets, np.int32)[: len(array) - array.null_count + 1]
    starts, letters = ends[:-1], np.frombuffer(data, np.uint8)
    if (length := int(ends[1] - ends[0])) * len(starts) == ends[-1] - ends[0] and (
        (np.diff(ends) == length).all()
    ):  # mostly all are of one length, and then no place is looked up
        rows = letters[ends[0] : ends[-1]].reshape(-1, length)
        return all(bool((rows[:, at] == ord(":")).all()) for at in COLONS)
    return all(bool((letters[starts + at] == ord(":")).all()) for at in COLONS)


def _each(texts: pl.Series) -> pl.Series:
    """Text by text; NULL where one is no instant."""
    trimmed = pl.col("t").str.strip_chars()
    zoned = trimmed.str.contains(_OFFSET)
    whole = pl.when(zoned).then(trimmed).otherwise(trimmed + "Z")
    iso = whole.str.replace(r"^([0-9]{4}-[0-9]{2}-[0-9]{2}) ", "${1}T")
    read = iso.str.to_datetime(
        "%Y-%m-%dT%H:%M:%S%.f%#z", time_unit="us", time_zone="UTC", strict=False
    )
    frame = texts.to_frame("t").select(read.alias("read"), zoned.fill_null(True).alias("zoned"))
    if _ZONE.get() == "UTC":
        return frame["read"]
    frame = frame.with_columns(at_clocks(frame["read"]).alias("moved"))
    return frame.select(pl.when("zoned").then("read").otherwise("moved")).to_series()
