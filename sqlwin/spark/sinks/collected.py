"""A batch on the driver: the results of each query, its errors, what its operators did."""

from __future__ import annotations

import time
from dataclasses import asdict

import polars as pl
from pyspark.sql import DataFrame

from sqlwin.runtime.connectors.metrics import OperatorMetrics
from sqlwin.runtime.lowering.derived import retractions_first
from sqlwin.runtime.lowering.output_projection import OutputProjection
from sqlwin.runtime.rows.error_stream import no_rejects
from sqlwin.runtime.tasks.operator_counts import OperatorCounts, name_of
from sqlwin.spark.sinks.delivery import QueryBatch
from sqlwin.spark.stages import arrivals
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import ARRIVED, DONE, ERRORS, RESULTS, WARNING
from sqlwin.spark.stages.wire import Done, decode


def collected(program: Program, frame: DataFrame) -> dict[int, QueryBatch]:
    """A batch's rows on the driver, by query, in the order of buckets."""
    began = time.perf_counter()
    rows = sorted(frame.collect(), key=lambda row: (row.query, row.bucket))
    seconds = time.perf_counter() - began
    results: dict[int, QueryBatch] = {}
    for query in dict.fromkeys(row.query for row in rows):
        mine = [row for row in rows if row.query == query]
        empty = OutputProjection(program.lowered[query]).nothing()
        progress: dict[int, list[pl.DataFrame]] = {}
        for row in mine:
            if row.kind == RESULTS:
                progress.setdefault(row.bucket, []).append(decode(row.payload))
        errors = [decode(row.payload) for row in mine if row.kind == ERRORS]
        done = [Done.load(row.payload) for row in mine if row.kind == DONE]
        results[query] = QueryBatch(
            _retractions_first([pl.concat(part) for part in progress.values()])
            if progress
            else empty,
            pl.concat([no_rejects(), *errors]),
            done,
            tuple(bytes(row.payload).decode() for row in mine if row.kind == WARNING),
            _operators(program, done),
            seconds,
            arrivals.collected(row.payload for row in mine if row.kind == ARRIVED),
        )
    return results


def _operators(program: Program, done: list[Done]) -> tuple[OperatorMetrics, ...]:
    """Of the stages of a query, those below first, all buckets together."""
    found: dict[int, OperatorCounts] = {}
    for one in sorted(done, key=lambda one: program.places[one.stage][1]):
        counts = OperatorCounts(**one.counts)  # type: ignore[arg-type]
        found[one.stage] = found.get(one.stage, OperatorCounts()) + counts
    return tuple(
        OperatorMetrics(name_of(program.lowered[stage]), **asdict(each))
        for stage, each in found.items()
    )


def _retractions_first(parts: list[pl.DataFrame]) -> pl.DataFrame:
    return retractions_first(parts, ["row_key"], pl.col("op") == "-D")
