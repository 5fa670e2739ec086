"""Columns as Polars holds them: their dtypes, and frames of them.

Invariant: a frame without rows, or one of which nothing is left out, costs no query: in most
batches nothing is late, expired or refused, so most frames are such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import polars as pl
import pyarrow as pa

from sqlwin.instants import SECOND
from sqlwin.schema import PART, SEQ, TIMESTAMP, TS, Schema

DType = pl.DataType | type[pl.DataType]


INSTANT = pl.Datetime("us", "UTC")
"""Of a TIMESTAMP's values."""
PLACE: dict[str, pl.DataType] = {TS: pl.Int64(), PART: pl.Int32(), SEQ: pl.Int64()}
"""Of `POSITION`."""


@cache
def polars_type(type_: pa.DataType) -> pl.DataType:
    """The Polars dtype that holds an Arrow type's values.

    >>> all(polars_type(type_) == pl.Series(values=pa.nulls(0, type_)).dtype for type_ in _PLAIN)
    True
    """
    if type_ == TIMESTAMP:
        return INSTANT
    if type_ in _PLAIN:
        return _PLAIN[type_]
    return pl.Series(values=pa.nulls(0, type_)).dtype


_PLAIN: dict[pa.DataType, pl.DataType] = {
    pa.int64(): pl.Int64(),
    pa.int32(): pl.Int32(),
    pa.float64(): pl.Float64(),
    pa.bool_(): pl.Boolean(),
    pa.string(): pl.String(),
    pa.date32(): pl.Date(),
}
"""Without an array: with the first one that it is given Polars imports `pyarrow.compute`."""


def empty(schema: Mapping[str, DType]) -> pl.DataFrame:
    """No rows of these columns. To make one costs as much as a small query, so each is made once.

    >>> import polars as pl
    >>> empty({"n": pl.Int64()}).shape
    (0, 1)
    """
    return _empty(tuple(schema.items())).clone()


@cache
def _empty(schema: tuple[tuple[str, DType], ...]) -> pl.DataFrame:
    return pl.DataFrame(schema=dict(schema))


def stacked(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Frames of one schema, at least one, below each other. Those without rows cost nothing.

    >>> import polars as pl
    >>> one = pl.DataFrame({"n": [1]})
    >>> stacked([one.clear(), one, one.clear()]) is one
    True
    """
    frames = list(frames)
    full = [frame for frame in frames if frame.height] if len(frames) > 1 else frames
    if len(full) > 2:
        return pl.concat(full)
    return full[0].vstack(full[1]) if len(full) == 2 else (full or frames)[0]


def arrow(frame: pl.DataFrame) -> pa.Table:
    """As `frame.to_arrow()`, in one chunk. That hands each column to Arrow by itself, which of few
    rows costs twice as much as all of them as one column of structs.

    >>> import polars as pl
    >>> few = pl.DataFrame({"n": [1, None], "word": ["x", "y"]})
    >>> arrow(few).equals(few.to_arrow())
    True
    """
    if not frame.height:
        return frame.to_arrow()
    return pa.Table.from_struct_array(frame.to_struct().to_arrow())


def whole(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame for a left join by one column: in one chunk if it has maps, for of several Polars
    2.1 panics, on either side. By several columns it does not.

    >>> import polars as pl
    >>> import pyarrow as pa
    >>> maps = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    >>> one = pl.DataFrame({"k": [1], "m": maps})
    >>> whole(pl.concat([one, one]))["m"].n_chunks()
    1
    """
    maps = any(isinstance(dtype, pl.Map) for dtype in frame.dtypes)
    return frame.rechunk() if maps else frame


def where(frame: pl.DataFrame, mask: pl.Series) -> pl.DataFrame:
    """The rows of which `mask` is true, not NULL. Where it is of all or of none, no query.

    >>> import polars as pl
    >>> few = pl.DataFrame({"n": [1, None, 3]})
    >>> where(few, few["n"] > 1)["n"].to_list(), where(few, few["n"] > 3)["n"].to_list()
    ([3], [])
    """
    kept = mask.sum()
    if kept == frame.height:
        return frame
    return frame.filter(mask) if kept else frame.clear()


def dropped(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The frame without these columns, which need not be there; no query, as `drop` is one.

    >>> import polars as pl
    >>> dropped(pl.DataFrame({"n": [1], "m": [2]}), "m").columns
    ['n']
    """
    there = [name for name in names if name in frame.columns]
    if not there:
        return frame
    kept = frame.clone()
    for name in there:
        kept.drop_in_place(name)
    return kept


def polars_schema(columns: Schema) -> dict[str, pl.DataType]:
    return {column.name: polars_type(column.type) for column in columns}


def iso(instants: pl.Expr, zoned: bool = True) -> pl.Expr:
    """TIMESTAMPs as text, all at once: what `format_instant` makes of each. zoned: with a Z behind,
    which a TIMESTAMP_NTZ has not.

    >>> import polars as pl
    >>> far = pl.Series([0, 500_000, 253_402_300_800_000_000]).cast(INSTANT)
    >>> pl.select(iso(pl.lit(far))).to_series().to_list()
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.500000Z', '+10000-01-01T00:00:00Z']
    """
    whole = instants.dt.timestamp("us") % SECOND == 0
    z = "Z" if zoned else ""
    seconds = instants.dt.strftime(f"%Y-%m-%dT%H:%M:%S{z}")
    return pl.when(whole).then(seconds).otherwise(instants.dt.strftime(f"%Y-%m-%dT%H:%M:%S%.6f{z}"))


def iso_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Every TIMESTAMP and TIMESTAMP_NTZ column as text; Python's datetime ends with the year 9999,
    this does not."""
    return frame.with_columns(
        iso(pl.col(name), zoned=dtype.time_zone is not None)
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.Datetime)
    )
