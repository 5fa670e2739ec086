"""Instants of texts: ISO 8601 with seconds, `T` or a space, UTC where no offset is named.

    2024-01-01T09:00:00Z    2024-01-01 09:00:00.123    2024-01-01T09:00:00+02, +0200, +02:00

What is finer than a microsecond is cut off. Invariant: whether a text is
accepted does not depend on the texts beside it, though they are parsed together, for speed.

>>> instants_of_texts(pl.Series(["1970-01-01T02:00:01+02", "1970-01-01"])).dt.timestamp().to_list()
[1000000, None]
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.schema import INSTANT, TIMESTAMP

SHORTEST = len("2024-01-01T09:00:00")
COLONS = (len("2024-01-01T09"), len("2024-01-01T09:00"))


def instants_of_texts(texts: pl.Series) -> pl.Series:
    known = _all_at_once(texts)
    return _each(texts) if known is None else known


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
            return pl.Series(array.cast(type_).cast(pa.int64())).cast(INSTANT)
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
    zoned = trimmed.str.contains(r"(?i)(Z|[+-][0-9]{2}(:?[0-9]{2})?)$")
    whole = pl.when(zoned).then(trimmed).otherwise(trimmed + "Z")
    text = texts.to_frame("t").select(whole.str.replace(r"^([0-9]{4}-[0-9]{2}-[0-9]{2}) ", "${1}T"))
    return text.to_series().str.to_datetime(
        "%Y-%m-%dT%H:%M:%S%.f%#z", time_unit="us", time_zone="UTC", strict=False
    )
