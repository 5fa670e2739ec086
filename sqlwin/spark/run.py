"""Running a script on Spark: one streaming query for all its streams and queries.

    source ─ [ groupBy(query, bucket) ─ transformWithState ] … ─ foreachBatch ─ sinks

with one stateful operator for each level of the queries' chains, see `program`.

A batch's results are written under its number, then its watermarks are recorded for
the next batch, then Spark commits it. A crash in between runs the batch again,
which writes the same results under the same number.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from sqlwin.errors import RunError
from sqlwin.plan.ir.statements import Script
from sqlwin.plan.options.settings import run_settings, spark_settings
from sqlwin.runtime.connectors.missing_files import check_sources
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.outlets import outlets
from sqlwin.runtime.connectors.progress import Summary
from sqlwin.runtime.files.incomplete_lines import IncompleteLines
from sqlwin.runtime.rows.malformed import Malformed
from sqlwin.spark.awaiting import jvm_failures, patiently
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.lock import checkpoint_locked
from sqlwin.spark.checkpoint.manifest import as_checkpointed
from sqlwin.spark.foreach_batch import delivered
from sqlwin.spark.session.local import activated, configured, local_session
from sqlwin.spark.sinks.delivery import Delivery, OnBatch
from sqlwin.spark.sinks.observed import observed
from sqlwin.spark.sources.listing import located_in, reading_after, unread
from sqlwin.spark.sources.source import BATCH_BYTES, FORMAT, ScriptSource, Settings
from sqlwin.spark.stages.bucket import BucketProcessor
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import COLUMNS

TRIGGER = "500 milliseconds"
SHUFFLE = "spark.sql.shuffle.partitions"


def run(script: Script, options: RunOptions, spark: SparkSession | None = None) -> Summary:
    """Run every query of a script to the end of its input, or for ever with `follow`."""
    with jvm_failures():
        return _run(script, options, spark)


def _run(script: Script, options: RunOptions, spark: SparkSession | None) -> Summary:
    check_sources(script, options)
    out = outlets(script, options)
    counted = frozenset(at for at, outlet in enumerate(out) if outlet.counts_only)
    delivery = Delivery(out, options, Malformed(options.max_errors, options.on_warning))
    measured = options.on_metrics is not None
    conf = {**options.conf, **spark_settings(script.settings)}
    session = local_session(settings=conf) if spark is None else spark
    options.on_started()
    with configured(session, conf), _checkpoint(options) as checkpoint:
        folder = Folder(str(checkpoint / "sqlwin"))
        delivery.name_run(folder)
        streams = Program(script.queries, 1, 1).streams
        delivery.places = partial(located_in, folder, streams, options.base)
        delivery.reading = partial(
            reading_after, checkpoint=checkpoint, streams=streams, base=options.base
        )

        def begin() -> StreamingQuery:
            return start(
                session,
                script,
                checkpoint,
                delivery,
                base=options.base,
                counted=counted,
                end=options.ends,
                follow=options.follow,
                measured=measured,
                recorded=options.on_rows is not None,
            )

        incomplete_lines = IncompleteLines()

        def left_unread() -> dict[str, int]:
            program = Program(script.queries, 1, 1)
            return unread(folder, program.streams, program.tables, options.base)

        def meanwhile() -> bool:
            now = time.monotonic()
            if options.follow and incomplete_lines.due(now):
                _warn(incomplete_lines.see(left_unread(), now), options)
            delivery.summary.stopped = delivery.summary.stopped or options.stop()
            return not delivery.summary.stopped

        try:
            patiently(begin, meanwhile)
            if not delivery.summary.stopped:
                delivery.malformed.end()
            _warn(left_unread(), options)
        except RunError:
            if delivery.failure is not None:
                raise delivery.failure from None
            raise
        except KeyboardInterrupt:
            if not options.follow:
                raise
            _warn(left_unread(), options)
    return delivery.summary


def _warn(texts: Iterable[str], options: RunOptions) -> None:
    for text in texts:
        options.on_warning(text)


def start(
    spark: SparkSession,
    script: Script,
    checkpoint: Path,
    on_batch: OnBatch,
    base: Path,
    input: str = "files",
    counted: frozenset[int] = frozenset(),
    end: bool = False,
    follow: bool = False,
    buckets: int | None = None,
    measured: bool = False,
    recorded: bool = False,
) -> StreamingQuery:
    """Start the one streaming query of a script. base: the folder of steps if `input` is that."""
    folder = Folder(str(checkpoint / "sqlwin"))
    cut = program_of(spark, script, counted, buckets)
    made = replace(cut, measured=measured, recorded=recorded)
    program = as_checkpointed(made, folder, script.source_text)
    source = Settings(
        program.dump(),
        input,
        folder.path,
        str(base.resolve()),
        end,
        tasks=int(spark.conf.get(SHUFFLE) or 1),
        batch_bytes=run_settings(script.settings).batch_bytes or BATCH_BYTES,
    )
    packed = sourced(spark, source)
    trigger: dict[str, Any] = {"processingTime": TRIGGER} if follow else {"availableNow": True}
    return (
        observed(bucketed(packed, program), program)
        .writeStream.foreachBatch(delivered(program, on_batch, folder))
        .option("checkpointLocation", str(checkpoint / "spark"))
        .trigger(**trigger)
        .start()
    )


def program_of(
    spark: SparkSession,
    script: Script,
    counted: frozenset[int] = frozenset(),
    buckets: int | None = None,
) -> Program:
    """The script cut as SET and the session say; its checkpoint may know better."""
    partitions = int(spark.conf.get(SHUFFLE) or 1)
    buckets = buckets or run_settings(script.settings).buckets or partitions
    return Program(script.queries, partitions, buckets, counted)


def sourced(spark: SparkSession, settings: Settings) -> DataFrame:
    activated(spark).dataSource.register(ScriptSource)
    return spark.readStream.format(FORMAT).options(**settings.options()).load()


def bucketed(packed: DataFrame, program: Program) -> DataFrame:
    text = program.dump()
    for level in range(max(program.levels) + 1):
        processor = BucketProcessor(text, level)
        grouped = packed.groupBy("query", "bucket")
        packed = grouped.transformWithStateInPandas(processor, COLUMNS, "append", "none")
    return packed


@contextmanager
def _checkpoint(options: RunOptions) -> Iterator[Path]:
    """The run's checkpoint, or one that goes when the run has ended."""
    if options.checkpoint is not None:
        with checkpoint_locked(options.checkpoint):
            yield options.checkpoint.resolve()
        return
    folder = tempfile.mkdtemp(prefix="sqlwin-run-")
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
