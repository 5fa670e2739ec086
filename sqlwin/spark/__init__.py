"""sqlwin on Spark: the same queries over streaming DataFrames, or over files.

    import sqlwin.spark
    q = sqlwin.spark.query(spark, "SELECT …", {"orders": spark.readStream…})
    q.results().writeStream…

    sqlwin.spark.run_sql("CREATE STREAM …; INSERT INTO …", RunOptions(base=Path(".")))

Nothing but this package needs pyspark or a JVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlwin.plan.nodes import Script, Stream
    from sqlwin.runtime.options import RunOptions
    from sqlwin.runtime.progress import Summary
    from sqlwin.spark.dataframes import SparkQuery

__all__ = ["query", "run_sql"]

# Spark starts several Python processes that load this package and need little of
# it, so each function imports what it needs.


def query(
    spark: SparkSession,
    sql: str,
    inputs: Mapping[str, DataFrame],
    streams: Mapping[str, Stream] | None = None,
    params: Mapping[str, str] | None = None,
) -> SparkQuery:
    """One SELECT over streaming DataFrames, by name of the stream.

    sql: CREATE STREAM … for each input and the SELECT, or just the SELECT where
    `streams` are given. QueryError for a mistake in the text, InputError where a
    stream has no DataFrame.
    """
    from sqlwin.spark.dataframes import query_over

    return query_over(spark, _script(sql, streams, params), inputs)


def run_sql(
    sql: str,
    options: RunOptions,
    spark: SparkSession | None = None,
    params: Mapping[str, str] | None = None,
) -> Summary:
    """Run every query of a script over its files. spark: a local one by default."""
    from sqlwin.spark.run import run

    return run(_script(sql, None, params), options, spark)


def _script(
    sql: str, streams: Mapping[str, Stream] | None, params: Mapping[str, str] | None
) -> Script:
    from sqlwin.sql import script

    return script(sql, streams=dict(streams or {}), params=params)
