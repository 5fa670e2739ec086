"""Running a script on Spark: one streaming query for all its streams and queries.

    source ─ [ groupBy(query, bucket) ─ transformWithState ] … ─ foreachBatch ─ sinks

with one stateful operator for each level of the queries' chains, see `program`.

A batch's results are written under its number, then its watermarks are recorded for
the next batch, then Spark commits it. A crash in between runs the batch again,
which writes the same results under the same number.
"""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from sqlwin.errors import RunError
from sqlwin.plan.ir.nodes import Script
from sqlwin.plan.options.settings import run_settings, spark_settings
from sqlwin.runtime.connectors.metrics import OperatorMetrics
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.outlets import outlets
from sqlwin.runtime.connectors.progress import Summary
from sqlwin.runtime.connectors.sources import check_sources
from sqlwin.runtime.files.incomplete_lines import IncompleteLines
from sqlwin.runtime.lowering.derived import retractions_first
from sqlwin.runtime.lowering.output_projection import OutputProjection
from sqlwin.runtime.rows.error_stream import no_rejects
from sqlwin.runtime.rows.malformed import Malformed
from sqlwin.runtime.tasks.operator_counts import OperatorCounts, name_of
from sqlwin.spark import arrivals
from sqlwin.spark.bucket import BucketProcessor
from sqlwin.spark.checkpoint_lock import checkpoint_locked
from sqlwin.spark.delivery import Delivery, OnBatch, QueryBatch
from sqlwin.spark.folder import Folder
from sqlwin.spark.imports import batches_before
from sqlwin.spark.listing import located_in, reading_after, unread
from sqlwin.spark.observed import observed
from sqlwin.spark.program import Program, as_checkpointed
from sqlwin.spark.progress import After, after, leave, number_of
from sqlwin.spark.row_kinds import ARRIVED, COLUMNS, DONE, ERRORS, RESULTS, WARNING
from sqlwin.spark.session import activated, configured, local_session, log_file
from sqlwin.spark.source import BATCH_BYTES, FORMAT, ScriptSource, Settings
from sqlwin.spark.wire import Done, decode

TRIGGER = "500 milliseconds"
UNCONNECTED = "Python worker failed to connect back"
JVM_ENDED = "the JVM of Spark has ended, see {}; the last commit stands: run it again"
POLL_SECONDS = 0.2
_TRACE = "Traceback (most recent call last)"
_RAISED = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)", re.MULTILINE)
SHUFFLE = "spark.sql.shuffle.partitions"


def run(script: Script, options: RunOptions, spark: SparkSession | None = None) -> Summary:
    """Run every query of a script to the end of its input, or for ever with `follow`."""
    with jvm_failures():
        return _run(script, options, spark)


@contextmanager
def jvm_failures() -> Iterator[None]:
    """RunError where the JVM of Spark has ended, in whatever call."""
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as failure:
        raise RunError(JVM_ENDED.format(log_file())) from failure


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


def _go_on() -> bool:
    return True


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


def finished(query: StreamingQuery, meanwhile: Callable[[], bool] = _go_on) -> None:
    """Wait for the end; RunError with the cause where the query failed. meanwhile: is called again
    and again; once it is False the query is stopped after its batch.

    An interruption stops the query first: raised within a call to the JVM, as Spark's own
    handler does it, it would cancel the batch and leave a broken connection.
    """
    try:
        with jvm_failures(), interruptions() as interrupted:
            while not query.awaitTermination(POLL_SECONDS):  # type: ignore[arg-type]
                if interrupted.is_set():
                    raise KeyboardInterrupt
                if not meanwhile():
                    _stop_after_batch(query)
    except KeyboardInterrupt:
        query.stop()
        raise
    except StreamingQueryException as failure:
        raise RunError(cause(str(failure))) from failure


def _stop_after_batch(query: StreamingQuery) -> None:
    """Once the batch under way is committed. One that has begun since is run again by the next
    start, under its number."""
    committed = _committed(query)
    while query.isActive and query.status["isTriggerActive"] and _committed(query) == committed:
        time.sleep(POLL_SECONDS / 4)
    query.stop()


def _committed(query: StreamingQuery) -> int | None:
    """The last batch that was."""
    progress = query.lastProgress
    return None if progress is None else progress.batchId


@contextmanager
def interruptions() -> Iterator[threading.Event]:
    """Set by Ctrl-C, which raises nothing then; in the main thread, which alone is interrupted."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def patiently(
    begin: Callable[[], StreamingQuery], meanwhile: Callable[[], bool] = _go_on, tries: int = 3
) -> None:
    """Run to the end, and go on where Spark gave up waiting for a Python worker.

    Its patience is 10 s and cannot be set, which a busy machine exceeds. The batch
    it left runs again, as after any other crash.
    """
    for left in reversed(range(tries)):
        try:
            finished(begin(), meanwhile)
            return
        except RunError as failure:
            if UNCONNECTED not in str(failure) or not left:
                raise


def cause(text: str) -> str:
    """Of a long trace the line of our own error, else Python's last one, else the first line.

    >>> cause("failed:\\nTraceback (most recent call last):\\n  File …\\nOSError: full\\n")
    'OSError: full'
    """
    own = [line for line in text.splitlines() if line.startswith("sqlwin.errors.")]
    if own:
        return own[-1].split(": ", 1)[-1]
    raised = _RAISED.findall(text)
    return raised[-1] if raised else text.splitlines()[0].partition(_TRACE)[0].rstrip(": ")


def delivered(
    program: Program, on_batch: OnBatch, folder: Folder | None = None
) -> Callable[[DataFrame, int], None]:
    """What foreachBatch runs. folder: where a batch leaves what the next one needs to know.

    Spark counts batches from 0, offsets from 1: a batch has the number of its end. Those of a
    checkpoint that was imported go on from the batches before.
    """
    before = 0 if folder is None else batches_before(folder)

    def deliver(frame: DataFrame, number: int) -> None:
        number += before
        left = After() if folder is None else after(folder, number)
        results = {
            query: replace(what, before=_watermarks(program, query, left))
            for query, what in collected(program, frame).items()
        }
        on_batch(number + 1, results)
        if folder is not None:
            done = [each for what in results.values() for each in what.done]
            leave(folder, number + 1, _left(program, left, done))

    return deliver


def _left(program: Program, before: After, done: Iterable[Done]) -> After:
    """Watermarks after a batch; a query it did not touch keeps its own."""
    watermarks, deadlines = dict(before.watermarks), []
    for each in done:
        for stream, watermark in each.watermarks.items():
            first = program.lowered[each.stage].readers(stream)[0]
            watermarks[number_of(each.stage, first)] = watermark
        deadlines += [each.deadline] if each.deadline is not None else []
    return After(watermarks, min(deadlines, default=None))


def _watermarks(program: Program, query: int, left: After) -> dict[str, int]:
    """Of the streams of a query, as a batch left them."""
    found: dict[str, int] = {}
    for stage in program.stages(query):
        for name in program.lowered[stage].streams:
            first = program.lowered[stage].readers(name)[0]
            known = left.watermarks.get(number_of(stage, first))
            found |= {} if known is None else {name: known}
    return found


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
