"""A script with its own sources and sinks, run from Python on a session of the caller's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import polars as pl
from pyspark.sql import SparkSession

from sqlwin.inference.declared import inferred_from
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.function_sink import TakeBatch
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.options import RunOptions, never, silent, warned
from sqlwin.runtime.connectors.progress import OnWarning, Summary
from sqlwin.runtime.rows.malformed import limit
from sqlwin.spark.run import run
from sqlwin.spark.session.local import needed
from sqlwin.sql.sources.files import Infer

Take = Callable[[pl.DataFrame], None]


@dataclass(frozen=True)
class SparkScript:
    """bind: with what infers the streams of files in FROM."""

    spark: SparkSession
    bind: Callable[[Infer], Script]

    @staticmethod
    def of(spark: SparkSession, bind: Callable[[Infer], Script]) -> SparkScript:
        """QueryError for a mistake; where FROM names a file, it is `run` that knows its base."""
        with suppress(_NamesFile):
            bind(_later)
        return SparkScript(spark, bind)

    def run(
        self,
        base: str | Path = ".",
        checkpoint: str | Path | None = None,
        drain: bool = False,
        follow: bool = False,
        show: Take = silent,
        on_errors: Take = silent,
        on_warning: OnWarning = warned,
        max_errors: int | str | None = None,
        sinks: Mapping[str, TakeBatch] | None = None,
        stop: Callable[[], bool] = never,
        on_metrics: OnMetrics | None = None,
    ) -> Summary:
        """Run every query over what is there; returns what was read, emitted and refused.

        base: what relative paths of the script are relative to, those of FROM too. checkpoint:
        keeps windows open for the next run, unless `drain`; without one every window closes.
        follow: go on as files arrive. show: results of queries without a sink of their own, a
        batch at a time. on_errors: rows of the error stream. on_warning: texts that are Python
        warnings where nothing takes them. max_errors: malformed rows that are still taken, a
        count or as "1%" of those read. sinks: functions of (Arrow table, number of the batch), by
        name of the sinks with connector = 'python'. stop: is called now and then; True ends the
        run after its batch, and what is open stays open. on_metrics: gets the metrics of each
        batch and query. RunError where the run fails, QueryError where a file of FROM cannot be
        read as the script does.
        """
        kept = None if checkpoint is None else Path(checkpoint)
        options = RunOptions(
            Path(base),
            kept,
            drain,
            follow,
            show,
            on_errors,
            on_warning=on_warning,
            max_errors=None if max_errors is None else limit(str(max_errors)),
            functions=sinks or {},
            stop=stop,
            on_metrics=on_metrics,
        )
        return run(self.bind(inferred_from(options.base)), options, needed(self.spark))


class _NamesFile(Exception):
    pass


def _later(path: str, name: str) -> Stream:
    raise _NamesFile
