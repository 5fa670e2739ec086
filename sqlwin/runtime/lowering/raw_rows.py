"""Columns that the input pipeline gives rows on their way: their time, their number, their text.

Invariant: `__raw` is the place of a row among those that were timed, so that a row which is refused
later goes to the error stream whole, with columns that nothing after WHERE has any more.
"""

from __future__ import annotations

import polars as pl

from sqlwin.functions.core.volatility import NOW
from sqlwin.polars_frames import INSTANT
from sqlwin.runtime.rows.error_stream import WHOLE, texts
from sqlwin.schema import PART, TS

RAW = "__raw"


def with_now(rows: pl.DataFrame, now: int) -> pl.DataFrame:
    """With the processing time that calls read."""
    return rows.with_columns(pl.lit(now, pl.Int64).cast(INSTANT).alias(NOW))


def stamped(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """With `__ts` of a column of instants."""
    instants = rows.get_column(column)
    if instants.dtype == INSTANT and TS not in rows.columns:  # no query for a cast
        return rows.hstack([instants.cast(pl.Int64).alias(TS)])
    return rows.with_columns(pl.col(column).dt.timestamp("us").alias(TS))


def greatest(rows: pl.DataFrame, column: str) -> dict[int, int]:
    """Of each partition; rows pushed, or of a file, have one."""
    parts = rows.get_column(PART)
    first = parts.min()
    if first is not None and first == parts.max():
        return {first: rows.get_column(column).max()}  # type: ignore[dict-item]
    return dict(rows.group_by(PART).agg(pl.col(column).max()).iter_rows())


def with_text(rows: pl.DataFrame, timed_rows: pl.DataFrame, which: pl.Expr) -> pl.DataFrame:
    """Rows with `__whole`, the JSON text of those meant, NULL of the others."""
    wanted = rows.filter(which)
    if wanted.is_empty():
        return rows.with_columns(pl.lit(None, pl.String).alias(WHOLE))
    text = pl.DataFrame(
        {RAW: wanted[RAW], WHOLE: texts(timed_rows[wanted[RAW].to_list()])},
        schema={RAW: rows.schema[RAW], WHOLE: pl.String},
    )
    return rows.join(text, on=RAW, how="left", maintain_order="left")
