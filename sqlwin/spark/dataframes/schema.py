"""Streams and static tables as their DataFrames declare them, where the query's text does not.

Columns and types are the DataFrame's, event time and the watermark's delay those of
`withWatermark`, which Spark keeps in the metadata of the column. Columns of types that SQL has no
name for here (MAP, intervals) are not carried.

    orders.withWatermark("ts", "5 seconds")
    CREATE STREAM orders (…, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)

Both are the same stream.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import StructField, StructType

from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.schema import RESERVED, TIMESTAMP, Column, type_name, type_of

DELAY = "spark.watermarkDelayMs"
"""In the metadata of the column that `withWatermark` names."""


def undeclared(inputs: Mapping[str, StructType], declared: Collection[str]) -> dict[str, Stream]:
    """A stream for each input that is not declared. declared: names in lower case.

    InputError for two columns of one name, and for event time that is no TIMESTAMP.
    """
    known = {name: schema for name, schema in inputs.items() if name.lower() not in declared}
    return {name: stream_of(name, schema) for name, schema in known.items()}


def stream_of(name: str, schema: StructType) -> Stream:
    """
    >>> from pyspark.sql.types import LongType, TimestampType
    >>> ts = StructField("ts", TimestampType(), metadata={DELAY: 5000})
    >>> made = stream_of("orders", StructType([StructField("n", LongType()), ts]))
    >>> made.ts, made.delay, [column.name for column in made.columns]
    ('ts', 5000000, ['n', 'ts'])
    """
    _check_distinct(name, schema)
    typed = {field.name: _arrow_type(field) for field in schema.fields}
    columns = tuple(Column(each, type_) for each, type_ in typed.items() if type_ is not None)
    timed = [field for field in schema.fields if DELAY in field.metadata]
    for field in timed:
        if typed[field.name] != TIMESTAMP:
            raise InputError(
                f"the event time of {name}, {field.name}, is {field.dataType.simpleString()}; "
                "legal is a column of Spark's TIMESTAMP: cast it before withWatermark"
            )
    ts, delay = (timed[0].name, timed[0].metadata[DELAY] * 1_000) if timed else (None, 0)
    return Stream(name, columns, ts, delay)


def _check_distinct(name: str, schema: StructType) -> None:
    lower = [field.name.lower() for field in schema.fields]
    twice = [field.name for field in schema.fields if lower.count(field.name.lower()) > 1]
    if twice:
        raise InputError(
            f"the DataFrame of {name} has the column {twice[0]} twice; "
            "case does not distinguish names: rename one"
        )


def _arrow_type(field: StructField) -> pa.DataType | None:
    """None where a stream cannot have the column."""
    if field.name.startswith(RESERVED):
        return None
    try:
        found = to_arrow_type(field.dataType, timezone="UTC")
    except PySparkException:
        return None
    named = type_of(type_name(found))
    return found if named is not None and named.equals(found) else None
