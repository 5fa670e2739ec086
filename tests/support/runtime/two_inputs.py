"""A query of two inputs that joins nothing, to test what hosts do with several.

Each row of either side goes out once: when the watermark of the query has passed it,
or at once where the watermark of its own stream had. It says which side it is of, and
the watermark it went out under.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import polars as pl
import pyarrow as pa

from sqlwin.instants import END, MINUTE, START
from sqlwin.operators.contract import Stores
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.plan.ir.nodes import Stream, column_of
from sqlwin.plan.ir.statements import Query
from sqlwin.polars_frames import PLACE
from sqlwin.runtime.inputs.admission import Admission
from sqlwin.runtime.inputs.input import Input
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.schema import EMIT, OP, PART, POSITION, REVISION, ROW_KEY, SEQ, TS, Column
from sqlwin.state.combine import keep_all
from sqlwin.state.contract import Layout
from tests.support.spark.scripts import COLUMNS, tumble

SIDE = "side"
OUTPUT = (
    Column(SIDE, pa.int64()),
    Column("product", pa.string()),
    Column("value", pa.int64()),
    Column("under", pa.int64()),
)
RECORD: dict[str, pl.DataType] = {
    **PLACE,
    SIDE: pl.Int64(),
    "product": pl.String(),
    "value": pl.Int64(),
}
WAITING = Layout("both", tuple(RECORD.items()), (SIDE,), POSITION, MINUTE)


def stream(name: str, delay: int = 0, offset: str | None = None) -> Stream:
    files = (("connector", "files"), ("format", "json"), ("path", f"{name}/*.jsonl"))
    return Stream(name, COLUMNS, "ts", delay, offset=offset, options=files)


ORDERS, SHIPMENTS = stream("orders"), stream("shipments", delay=10_000_000)


@dataclass(frozen=True)
class Both:
    """The operator; see above."""

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        return rows.with_columns(pl.lit(side, pl.Int64).alias(SIDE)).select(*RECORD)

    def stores(self) -> list[StoreSpec]:
        return [StoreSpec(WAITING, keep_all(WAITING), "rows that wait")]

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        rows = pl.concat([left.select(*RECORD), right.select(*RECORD)])
        reached = pl.col(SIDE).replace_strict(dict(enumerate(stores.input_watermarks)))
        stores["both"].put(rows.filter(pl.col(TS) >= reached))
        return _emissions(rows.filter(pl.col(TS) < reached), stores.watermark, "late")

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        full = stores["both"].scan(START, watermark)
        stores["both"].expire(watermark)
        stores.watermark = max(watermark, stores.watermark)
        return _emissions(full, watermark, "full")

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return _emissions(WAITING.empty(), 0, "full")

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        rest = stores["both"].scan(START, END)
        stores["both"].expire(END)
        return _emissions(rest, stores.watermark, "full")

    def horizons(self, stores: Stores) -> pl.DataFrame:
        raise NotImplementedError

    def next_deadline(self, stores: Stores) -> int | None:
        return None


def _emissions(rows: pl.DataFrame, under: int, emit: str) -> pl.DataFrame:
    return rows.select(
        SIDE,
        "product",
        "value",
        pl.lit(under, pl.Int64).alias("under"),
        pl.lit("+I").alias(OP),
        pl.lit(emit).alias(EMIT),
        pl.lit(0, pl.Int32).alias(REVISION),
        pl.concat_str([SIDE, PART, SEQ], separator=":").alias(ROW_KEY),
    )


def both(
    query: Query, derives: bool = False, streams: tuple[Stream, Stream] = (ORDERS, SHIPMENTS)
) -> Lowered:
    """RETAIN 1 MINUTE; a stream with an OFFSET has its messages admitted."""
    base = lower(query)
    (read,) = base.inputs
    inputs = tuple(_input(read, at, each) for at, each in enumerate(streams))
    output = tuple((column.name, column_of(column)) for column in OUTPUT)
    return replace(base, inputs=inputs, operator=Both(), having=None, output=output)


def _input(read: Input, at: int, each: Stream) -> Input:
    rule = Admission(each.name, True, False, None, RowRetention(MINUTE), MINUTE, at=at)
    return replace(
        read,
        stream=each,
        retention=RowRetention(MINUTE),
        admission=None if each.offset is None else rule,
    )


QUERY = tumble(ORDERS)
themselves = partial(both, streams=(ORDERS, ORDERS))
