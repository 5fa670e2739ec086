"""UNPACK: payloads back to typed rows of one query, as a Spark DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import polars as pl
import pyarrow as pa

from sqlwin.policies import Expired
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.rows.error_stream import REJECT_SCHEMA, delivered
from sqlwin.schema import TIMESTAMP, Column, Schema, arrow_schema, type_name
from sqlwin.spark.stages.wire import decode

Batches = Iterable[pa.RecordBatch]

CHANGES: Schema = (
    Column("op", pa.string()),
    Column("emit", pa.string()),
    Column("revision", pa.int32()),
    Column("row_key", pa.string()),
)
ERRORS_SCHEMA: Schema = tuple(
    Column(name, TIMESTAMP if isinstance(dtype, pl.Datetime) else pa.string())
    for name, dtype in REJECT_SCHEMA.items()
)


def results_schema(query: Lowered) -> Schema:
    """The select list, then op, emit, revision, row_key."""
    return (*(Column(name, scalar.type) for name, scalar in query.output), *CHANGES)


def ddl(schema: Schema) -> str:
    """The schema as Spark reads it; SQL's names of types are Spark's.

    >>> ddl((Column("n", pa.int64()), Column("window start", TIMESTAMP)))
    '`n` BIGINT, `window start` TIMESTAMP'
    """
    return ", ".join(
        f"`{column.name.replace('`', '``')}` {type_name(column.type)}" for column in schema
    )


def unpacker(
    schema: Schema, expired: Expired = Expired.STREAM
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """What mapInArrow runs over a column of payloads. expired: what becomes of such rows."""

    def unpack(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for payload in batch.column(0):
                frame = decode(payload.as_py())
                rows_ = delivered(frame, expired) if schema == ERRORS_SCHEMA else frame
                yield from rows_.to_arrow().cast(arrow_schema(schema)).to_batches()

    return unpack
