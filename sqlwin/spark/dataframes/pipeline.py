"""A query over DataFrames with its sinks: results and errors of each batch from one pipeline.

    query.to(write, errors=write_errors).start(checkpoint="state", processingTime="10 seconds")

Each batch goes to the sinks before Spark commits it, under its number, from 1. A crash in between
runs the batch again under the same number, so a sink that replaces a batch, as all of sqlwin's
own do, has each once.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from pyspark.sql.streaming.query import StreamingQuery

from sqlwin.errors import InputError, RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Query, Script, Sink
from sqlwin.runtime.connectors.function_sink import PYTHON, TakeBatch
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.outlets import outlets
from sqlwin.runtime.connectors.progress import Summary
from sqlwin.runtime.rows.error_stream import reasons
from sqlwin.runtime.rows.malformed import Malformed
from sqlwin.spark.sinks.delivery import Delivery

if TYPE_CHECKING:
    from sqlwin.spark.dataframes.query import SparkQuery

RESULTS, ERRORS = "results", "errors"
"""Names of the sinks that are functions given to `to`."""
LOG = logging.getLogger("sqlwin")


@dataclass(frozen=True)
class Pipeline:
    """options: with the functions of its sinks."""

    query: SparkQuery
    options: RunOptions

    def start(self, checkpoint: str | Path, **trigger: Any) -> StreamingQuery:
        """Start and go on; `trigger` as that of a DataStreamWriter: processingTime="10 seconds".

        Until it ends the checkpoint is its own. RunError where a process or a query has it;
        QueryError for a sink that cannot be opened.
        """
        return self.query.start(self._delivery(), Path(checkpoint), **trigger)

    def run(self, checkpoint: str | Path, drain: bool = False) -> Summary:
        """Process what is available now. drain: then end the input, which emits open windows."""
        delivery = self._delivery()
        try:
            self.query.run(delivery, Path(checkpoint), drain)
        except RunError:
            if delivery.failure is not None:
                raise delivery.failure from None
            raise
        return delivery.summary

    def _delivery(self) -> Delivery:
        out = outlets(self.query.script, self.options)
        return Delivery(out, self.options, Malformed(None, LOG.warning))


def pipeline(
    query: SparkQuery,
    results: TakeBatch | None,
    errors: TakeBatch | None,
    sinks: Mapping[str, TakeBatch],
    base: Path,
) -> Pipeline:
    """results, errors: functions for a query that names no sink of its own for them."""
    (declared,) = query.script.queries
    _check(declared, results, errors)
    given = {name: f for name, f in ((RESULTS, results), (ERRORS, errors)) if f is not None}
    own = replace(
        declared,
        sink=declared.sink if results is None else _python(RESULTS),
        errors=declared.errors if errors is None else _python(ERRORS),
    )
    options = RunOptions(
        base,
        on_errors=_log_errors,
        on_warning=LOG.warning,
        functions={**sinks, **given},
    )
    return Pipeline(replace(query, script=_of(query.script, own)), options)


def _python(name: str) -> Sink:
    return Sink(name, None, (("connector", PYTHON),))


def _of(script: Script, query: Query) -> Script:
    return replace(script, statements=(query,))


def _check(query: Query, results: TakeBatch | None, errors: TakeBatch | None) -> None:
    if query.sink is None and results is None:
        raise InputError("results go nowhere: legal is to(function), or INSERT INTO a sink")
    if query.sink is not None and results is not None:
        raise InputError(f"results go into {query.sink.name} already: legal is to() alone")
    if query.errors is not None and errors is not None:
        raise InputError(
            f"errors go into {query.errors.name} already: legal is to() without errors"
        )


def _log_errors(rows: pl.DataFrame) -> None:
    """What no sink takes is counted in the log."""
    for reason, count in sorted(Counter(reasons(rows)).items()):
        LOG.warning("%s rows to the error stream, which has no sink: %s", count, reason)
