"""A query over streaming DataFrames, as streaming DataFrames: the public API of this host.

Results and errors are one stateful pipeline each when they are started apart. To
have both from one, use `to`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from sqlwin.errors import InputError, UnreadErrors
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Script
from sqlwin.plan.options.settings import spark_settings
from sqlwin.runtime.checkpoint.snapshot import Snapshot
from sqlwin.runtime.connectors.function_sink import TakeBatch
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.lowering.chain import chain
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.schema import Schema
from sqlwin.spark.awaiting import finished
from sqlwin.spark.checkpoint import state_queries as checkpoints
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.lock import checkpoint_locked, started
from sqlwin.spark.checkpoint.manifest import as_checkpointed
from sqlwin.spark.dataframes.pack import packer
from sqlwin.spark.dataframes.pipeline import Pipeline, pipeline
from sqlwin.spark.dataframes.unpack import ERRORS_SCHEMA, ddl, results_schema, unpacker
from sqlwin.spark.foreach_batch import delivered
from sqlwin.spark.run import bucketed, program_of, sourced
from sqlwin.spark.session.connect import refuse_connect
from sqlwin.spark.session.local import configured
from sqlwin.spark.sinks.delivery import OnBatch
from sqlwin.spark.sinks.observed import observed
from sqlwin.spark.sources.source import Settings
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import COLUMNS, ERRORS, RESULTS
from sqlwin.spark.stages.wire import encode

UNREAD = (
    "rows that are malformed, expired or without event time are in errors(), which was not asked "
    "for: start it too, and ask for it before results()"
)


@dataclass(frozen=True)
class SparkQuery:
    """One SELECT over streaming DataFrames, by name of the stream; of a table a static one.

    tick: seconds between ticks, which send corrections out where no rows come. measured: whether
    open windows are counted.
    """

    spark: SparkSession
    script: Script
    inputs: Mapping[str, DataFrame] = field(repr=False)
    tick: float = 10.0
    measured: bool = False
    _warned: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def results(self, observe: str | None = None) -> DataFrame:
        """A streaming DataFrame: the select list, then op, emit, revision, row_key.

        UnreadErrors is warned where `errors` was not asked for before: what becomes of a
        DataFrame is not known here, so the order of the two says that rows that are
        malformed, expired or without event time go somewhere. Once for a query.
        observe: the name of metrics that each batch has then, see `sqlwin.spark.sinks.observed`; no
        two DataFrames of one streaming query may have the same.
        """
        schema = results_schema(self._program.lowered[0])
        found = self._unpacked(RESULTS, schema, observe)
        if not self._warned:
            self._warned.append("warned")
            warnings.warn(UNREAD, UnreadErrors, stacklevel=2)
        return found

    def errors(self) -> DataFrame:
        """A streaming DataFrame: stream, reason, ts, watermark, position, row."""
        self._warned.append("errors")
        return self._unpacked(ERRORS, ERRORS_SCHEMA)

    def to(
        self,
        results: TakeBatch | None = None,
        errors: TakeBatch | None = None,
        sinks: Mapping[str, TakeBatch] | None = None,
        base: str | Path = ".",
        on_metrics: OnMetrics | None = None,
    ) -> Pipeline:
        """Results and errors of each batch to sinks, from one pipeline; `start` or `run` it.

        results, errors: functions of (Arrow table, number of the batch). Without results the
        query is an INSERT INTO a sink of its text, without errors they go where EXPIRED INTO says;
        where it says nothing they are counted in the log `sqlwin`. sinks: functions of sinks with
        connector = 'python', by name. base: what paths of the text are relative to. on_metrics:
        gets the metrics of each batch. InputError where results go nowhere, or to two places.
        """
        query = replace(self, measured=on_metrics is not None)
        refuse_connect(self.spark, "to()")
        made = pipeline(query, results, errors, sinks or {}, Path(base))
        return replace(made, options=replace(made.options, on_metrics=on_metrics))

    def run(self, on_batch: OnBatch, checkpoint: Path, drain: bool = False) -> None:
        """Process what is available now; results and errors of each batch go to `on_batch`.

        drain: then end the input. The sources are not ours, so that is a second start.
        """
        refuse_connect(self.spark, "run()")
        with checkpoint_locked(checkpoint):
            for end in [False, True] if drain else [False]:
                with self._configured():
                    writer = self._writer(on_batch, checkpoint, end)
                    query = writer.trigger(availableNow=True).start()
                finished(query)

    def start(self, on_batch: OnBatch, checkpoint: Path, **trigger: Any) -> StreamingQuery:
        """Start and go on; `trigger` as that of a DataStreamWriter.

        Until it ends the checkpoint is its own. RunError where a process or a query has it.
        """
        refuse_connect(self.spark, "start()")

        def begin() -> StreamingQuery:
            with self._configured():
                return self._writer(on_batch, checkpoint, end=False).trigger(**trigger).start()

        return started(checkpoint, begin)

    def _configured(self) -> AbstractContextManager[None]:
        """A query that was started keeps the settings that there were then."""
        return configured(self.spark, spark_settings(self.script.settings))

    def _writer(self, on_batch: OnBatch, checkpoint: Path, end: bool) -> DataStreamWriter:
        checkpoint = checkpoint.resolve()  # the JVM may have been started in another folder
        folder = Folder(str(checkpoint / "sqlwin"))
        program = as_checkpointed(self._program, folder, self.script.source_text)
        found = observed(bucketed(self._packed(program, end), program), program)
        writer = found.writeStream
        writer = writer.option("checkpointLocation", str(checkpoint / "spark"))
        return writer.foreachBatch(delivered(program, on_batch))

    def state(self, checkpoint: str | Path, as_of: int | None = None) -> Snapshot:
        """State queries on `results()` or `errors()`, started with this `checkpointLocation`.

        As `sqlwin.spark.state`, which is for checkpoints of `run`.
        """
        query = self._program.lowered[0]
        return checkpoints.snapshot(self.spark, Path(checkpoint).resolve(), query, as_of)

    @property
    def _program(self) -> Program:
        made = program_of(self.spark, self.script)
        return replace(made, given=self._given, measured=self.measured)

    @cached_property
    def _given(self) -> tuple[tuple[str, bytes], ...]:
        """The static tables, whole."""
        streams = chain(self.script.queries[0]).streams
        whole = sorted(name for name in streams.keys() & self.inputs if not self._moves(name))
        tables = [(name, self._declared(streams[name])) for name in whole]
        return tuple((name, _as_arrow(frame, streams[name].columns)) for name, frame in tables)

    def _unpacked(self, kind: str, schema: Schema, observe: str | None = None) -> DataFrame:
        tagged = bucketed(self._packed(self._program, end=False), self._program)
        if observe is not None:
            tagged = observed(tagged, self._program, observe)
        payloads = tagged.where(tagged.kind == kind).select("payload")
        expired = self._program.lowered[0].expired
        return payloads.mapInArrow(unpacker(schema, expired), ddl(schema))

    def _packed(self, program: Program, end: bool) -> DataFrame:
        """The clock and the packed inputs, united."""
        text = program.dump()
        clock = sourced(self.spark, Settings(text, "tick", "", "", end, tick=self.tick))
        (query,) = program.chains
        for name in (name for name in query.streams if self._moves(name)):
            stream = query.streams[name]
            clock = clock.union(self._declared(stream).mapInArrow(packer(text, name), COLUMNS))
        return clock

    def _moves(self, name: str) -> bool:
        """Whether its rows come one after another; those of a table come with the first batch."""
        return name in self.inputs and self.inputs[name].isStreaming

    def _declared(self, stream: Stream) -> DataFrame:
        """The declared columns of a stream's DataFrame; others are not carried."""
        frame = self.inputs[stream.name]
        missing = [c.name for c in stream.columns if c.name not in frame.columns]
        if missing:
            raise InputError(
                f"the DataFrame of {stream.name} has no column {', '.join(missing)}; "
                f"it has {', '.join(frame.columns)}"
            )
        return frame.select(*(f"`{column.name}`" for column in stream.columns))


def _as_arrow(frame: DataFrame, columns: Schema) -> bytes:
    (payload,) = encode(frame_of(frame.toArrow(), columns), cap=sys.maxsize)
    return payload
