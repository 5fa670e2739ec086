"""sqlwin on Spark: the same queries over streaming DataFrames, or over files.

    import sqlwin.spark
    q = sqlwin.spark.query(spark, "SELECT …", {"orders": spark.readStream…})
    q.to(write, errors=write_errors).start(checkpoint="state")

    sqlwin.spark.query(spark, "CREATE STREAM …; INSERT INTO …").run(checkpoint="state")
    sqlwin.spark.state(spark, "state").fetch("tea")

Nothing but this package needs pyspark or a JVM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, overload

from sqlwin.errors import UnreadErrors

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from sqlwin.plan.ir.nodes import Stream
    from sqlwin.python_functions.function import UserFunction
    from sqlwin.runtime.checkpoint.snapshot import Snapshot
    from sqlwin.spark.dataframes.query import SparkQuery
    from sqlwin.spark.scripts import SparkScript

__all__ = ["UnreadErrors", "query", "state"]

Streams = Mapping[str, "Stream"]


@overload
def query(
    spark: SparkSession,
    sql: str,
    inputs: None = None,
    streams: Streams | None = None,
    params: Mapping[str, str] | None = None,
    functions: Sequence[UserFunction] = (),
) -> SparkScript: ...


@overload
def query(
    spark: SparkSession,
    sql: str,
    inputs: Mapping[str, DataFrame],
    streams: Streams | None = None,
    params: Mapping[str, str] | None = None,
    functions: Sequence[UserFunction] = (),
) -> SparkQuery: ...


def query(
    spark: SparkSession,
    sql: str,
    inputs: Mapping[str, DataFrame] | None = None,
    streams: Streams | None = None,
    params: Mapping[str, str] | None = None,
    functions: Sequence[UserFunction] = (),
) -> SparkQuery | SparkScript:
    """One SELECT over streaming DataFrames, by name of the stream; or a script to `run`.

    sql: the SELECT, or INSERT INTO a sink that it declares. A stream has the columns of its
    DataFrame, and the event time and delay of `withWatermark`, unless the text declares it or
    `streams` has it; a DataFrame that is not streaming is a static table. Without `inputs` a
    script has its own sources and sinks. functions: aggregates in Python that the text may call,
    see `sqlwin.aggregate`. QueryError for a mistake in the text, which of a script that names a
    file in FROM its `run` says, as that has the base of its path. InputError where a stream has no
    DataFrame, and for a script in a session of Spark Connect.
    """
    # Spark starts several Python processes that load this package and need little of
    # it, so what is needed is imported here.
    from sqlwin.spark.dataframes.binding import bound_over, query_over
    from sqlwin.spark.scripts import SparkScript
    from sqlwin.spark.session.connect import refuse_connect
    from sqlwin.sql import script

    if inputs is None:
        refuse_connect(spark, "a script")
        given = dict(streams or {})
        return SparkScript.of(
            spark, lambda infer: script(sql, given, params, functions, infer=infer)
        )
    script_ = bound_over(sql, inputs, dict(streams or {}), params, functions)
    return query_over(spark, script_, inputs)


def state(
    spark: SparkSession,
    checkpoint: str | Path,
    as_of: int | None = None,
    query: int = 0,
    functions: Sequence[UserFunction] = (),
) -> Snapshot:
    """State queries on a checkpoint: `fetch`, `windows`, `messages`, `stores`, `sql`.

    The query may be running. as_of: the number of a batch, as Spark counts them, from 0;
    None: each state query is to the last one committed then. query: which of the script's,
    from 0. functions: aggregates in Python that it calls. InputError where there is no
    checkpoint of sqlwin, no such query, or the batch is no longer retained, and which are.
    """
    from sqlwin.spark.checkpoint.state_queries import state as of_checkpoint

    return of_checkpoint(spark, checkpoint, as_of, query, functions)
