"""Metrics as Spark's own: observed with each batch, for progress and listeners.

    query.lastProgress.observedMetrics["sqlwin"]["late"]

A script of several queries observes each under its number: sqlwin_0, sqlwin_1. All of it is
aggregated over the rows that say what a bucket did, see `wire.Done`; no result is counted twice.

Invariant: each query that is observed is a node of Spark's plan, which Spark analyses again with
each further one, so the time grows with their square: 1,200 took more than four minutes. Beyond
`MOST` queries none is observed; `on_metrics` has no such limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from sqlwin.runtime.connectors.metrics import COUNTED, MEASURED
from sqlwin.runtime.tasks.operator_counts import name_of
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import DONE

NAME = "sqlwin"
MOST = 32
"""Queries of a script that are observed."""


def observed(packed: DataFrame, program: Program, name: str = NAME) -> DataFrame:
    """What comes out of the buckets, and with it of each query

    rows_read, rows_emitted, errors   BIGINT, rows of the batch
    late, expired, replayed           BIGINT, rows of all operators
    watermarks                        STRUCT of TIMESTAMP by stream, NULL before the first
    operators                         ARRAY of STRUCT, those below first; see `OperatorMetrics`,
                                      sizes are NULL where no bucket tells them
    """
    if len(program.queries) > MOST:
        return packed
    several = len(program.queries) > 1
    for query in range(len(program.queries)):
        of_query = f"{name}_{query}" if several else name
        packed = packed.observe(of_query, *_metrics(program, query))
    return packed


def _metrics(program: Program, query: int) -> list[Column]:
    stages = sorted(program.stages(query), key=lambda stage: program.places[stage][1])
    chain = program.chains[query]
    timed = [name for name in chain.streams if name not in chain.tables]
    marks = [
        sf.timestamp_micros(_greatest(stages, f"$.watermarks['{name}']")).alias(name)
        for name in timed
    ]
    return [
        # each bucket of a stage tells what the whole stage has read
        _added(_greatest([stage], "$.read") for stage in stages).alias("rows_read"),
        _sum(stages, "$.emitted").alias("rows_emitted"),
        _sum(stages, "$.errors").alias("errors"),
        _sum(stages, "$.counts.late").alias("late"),
        _sum(stages, "$.counts.expired").alias("expired"),
        _sum(stages, "$.replayed").alias("replayed"),
        sf.struct(*marks).alias("watermarks"),
        sf.array(*(_operator(program, stage) for stage in stages)).alias("operators"),
    ]


def _operator(program: Program, stage: int) -> Column:
    counted = (_sum([stage], f"$.counts.{name}").alias(name) for name in COUNTED)
    sizes = (sf.sum(_value([stage], f"$.counts.{name}")).alias(name) for name in MEASURED)
    return sf.struct(sf.lit(name_of(program.lowered[stage])).alias("operator"), *counted, *sizes)


def _greatest(stages: Sequence[int], path: str) -> Column:
    return sf.max(_value(stages, path))


def _sum(stages: Sequence[int], path: str) -> Column:
    return sf.coalesce(sf.sum(_value(stages, path)), sf.lit(0))


def _added(each: Iterable[Column]) -> Column:
    return reduce(add, (sf.coalesce(one, sf.lit(0)) for one in each))


def _value(stages: Sequence[int], path: str) -> Column:
    """BIGINT, of what the buckets of these stages say; NULL in other rows."""
    said = sf.when(sf.col("kind") == DONE, sf.col("payload").cast("string"))
    stage = sf.get_json_object(said, "$.stage").cast("int")
    return sf.when(stage.isin(*stages), sf.get_json_object(said, path).cast("bigint"))
