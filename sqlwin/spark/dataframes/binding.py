"""A text bound over DataFrames, and checked against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Script
from sqlwin.python_functions.function import UserFunction
from sqlwin.runtime.lowering.chain import chain
from sqlwin.spark.dataframes.query import SparkQuery
from sqlwin.spark.dataframes.schema import undeclared
from sqlwin.spark.session.local import needed
from sqlwin.sql import declared, script

CLOCK = (
    "the query reads processing time, such as NOW(), which nothing records for DataFrames of your "
    "own: a batch that is run again would differ; take it from Spark, with "
    ".withColumn('seen', current_timestamp()), and declare the column seen TIMESTAMP"
)


def bound_over(
    sql: str,
    inputs: Mapping[str, DataFrame],
    streams: Mapping[str, Stream],
    params: Mapping[str, str] | None = None,
    functions: Sequence[UserFunction] = (),
) -> Script:
    """A text bound; streams and tables that neither it nor `streams` declares are as their
    DataFrames."""
    known = {*declared(sql, params, functions), *(name.lower() for name in streams)}
    static = {name: frame.schema for name, frame in inputs.items() if not frame.isStreaming}
    moving = {name: frame.schema for name, frame in inputs.items() if frame.isStreaming}
    named = {**streams, **undeclared(moving, known)}
    return script(sql, named, params, functions, undeclared(static, known))


def query_over(
    spark: SparkSession,
    script: Script,
    inputs: Mapping[str, DataFrame],
    tick: float = 10.0,
) -> SparkQuery:
    """InputError where there is not one SELECT, or a stream of it has no streaming DataFrame.

    A static table has one that is not streaming, and is read whole, on the driver.
    """
    if len(script.queries) != 1:
        raise InputError(
            f"a query over DataFrames is one SELECT, the script has {len(script.queries)}"
        )
    query = chain(script.queries[0])
    if query.clock:
        raise InputError(CLOCK)
    for name in query.streams:
        if query.streams[name].inline:
            continue
        if name not in inputs:
            raise InputError(f"no DataFrame for {name}; given: {', '.join(inputs)}")
        check_ordered(query.streams[name])
        streaming = inputs[name].isStreaming
        if streaming and name in query.tables:
            raise InputError(f"the DataFrame of the table {name} is streaming; use spark.read")
        if not (streaming or name in query.tables or query.streams[name].bounded):
            raise InputError(f"the DataFrame of {name} is not streaming; use spark.readStream")
    return SparkQuery(needed(spark), script, inputs, tick)


def check_ordered(stream: Stream) -> None:
    """InputError where the last change of a key counts, and rows have no positions."""
    if stream.changelog is not None and stream.changelog.key and stream.offset is None:
        raise InputError(
            f"of a key of {stream.name} the last change counts, and rows of a DataFrame have no "
            f"order; OFFSET names the column that says it"
        )
