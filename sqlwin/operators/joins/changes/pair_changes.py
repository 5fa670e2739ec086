"""Pairs of two streams as changes of the ledger: their word, their key, and when they go out."""

from __future__ import annotations

import polars as pl

from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.emitter.schema import DUE, SIGN
from sqlwin.operators.joins.changes.change_ledger import ChangeLedger
from sqlwin.operators.joins.changes.due_changes import Due
from sqlwin.operators.joins.pairing import AT, marked
from sqlwin.operators.joins.sides import Side
from sqlwin.schema import EMIT, ROW_KEY


def pair_changes(
    pairs: pl.DataFrame, sign: int, ledger: ChangeLedger, due: Due, watermark: int
) -> pl.DataFrame:
    """sign: 1 of pairs that become true, -1 of those that no longer are. `late` where the
    watermark had passed both rows."""
    late = (pl.col(AT) < watermark) & pl.lit(ledger.dated)
    times = (pl.lit(due.late, pl.Int64()), pl.lit(due.early, pl.Int64()))
    return pairs.with_columns(
        pl.lit(sign, pl.Int8()).alias(SIGN),
        pl.when(late).then(pl.lit("late")).otherwise(pl.lit("full")).alias(EMIT),
        pl.when(late).then(times[0]).otherwise(times[1]).alias(DUE),
        _row_key(ledger.left, ledger.right),
    ).select(*ledger.columns)


def _row_key(left: Side, right: Side) -> pl.Expr:
    places = [
        row_key({marked(side)[name]: dtype for name, dtype in side.place.items()})
        for side in (left, right)
    ]
    parts = [pl.lit("["), places[0], pl.lit(","), places[1], pl.lit("]")]
    return pl.concat_str(parts).alias(ROW_KEY)
