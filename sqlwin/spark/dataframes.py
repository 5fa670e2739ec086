"""A query over streaming DataFrames, as streaming DataFrames: the public API of this host.

Results and errors are one stateful pipeline each when they are started apart. To
have both from one, and to end the input, use `run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from sqlwin.errors import InputError
from sqlwin.plan.nodes import Script
from sqlwin.runtime.lower import Lowered
from sqlwin.runtime.snapshot import Snapshot
from sqlwin.schema import Schema
from sqlwin.spark.checkpoint import asked
from sqlwin.spark.folder import Folder
from sqlwin.spark.pack import packer
from sqlwin.spark.program import Program, settled
from sqlwin.spark.run import SHUFFLE, OnCame, bucketed, delivered, finished, sourced
from sqlwin.spark.session import needed
from sqlwin.spark.source import Settings
from sqlwin.spark.tags import ERRORS, IN, RESULTS
from sqlwin.spark.unpack import ERRORS_SCHEMA, ddl, results_schema, unpacker


@dataclass(frozen=True)
class SparkQuery:
    """One SELECT over streaming DataFrames, by name of the stream.

    tick: seconds between ticks, which send corrections out where no rows come.
    """

    spark: SparkSession
    script: Script
    inputs: Mapping[str, DataFrame] = field(repr=False)
    tick: float = 10.0

    def results(self) -> DataFrame:
        """A streaming DataFrame: the select list, then op, emit, revision, row_key."""
        return self._unpacked(RESULTS, results_schema(self._program.lowered[0]))

    def errors(self) -> DataFrame:
        """A streaming DataFrame: stream, reason, ts, watermark, position, row."""
        return self._unpacked(ERRORS, ERRORS_SCHEMA)

    def run(self, on_came: OnCame, checkpoint: Path, drain: bool = False) -> None:
        """Take what is available now; results and errors of each batch go to `on_came`.

        drain: then end the input. The sources are not ours, so that is a second start.
        """
        folder = Folder(str(checkpoint.resolve() / "sqlwin"))
        program = settled(self._program, folder, self.script.wording)
        for end in [False, True] if drain else [False]:
            frame = bucketed(self._packed(program, folder.path, end), program)
            writer = frame.writeStream.option("checkpointLocation", str(checkpoint / "spark"))
            each = delivered(program, folder, on_came)
            finished(writer.foreachBatch(each).trigger(availableNow=True).start())

    def start(self, on_came: OnCame, checkpoint: Path, **trigger: Any) -> StreamingQuery:
        """Start and go on; `trigger` as that of a DataStreamWriter."""
        folder = Folder(str(checkpoint.resolve() / "sqlwin"))
        program = settled(self._program, folder, self.script.wording)
        frame = bucketed(self._packed(program, folder.path, False), program)
        writer = frame.writeStream.option("checkpointLocation", str(checkpoint / "spark"))
        return writer.foreachBatch(delivered(program, folder, on_came)).trigger(**trigger).start()

    def state(self, checkpoint: str | Path, as_of: int | None = None) -> Snapshot:
        """What can be asked of the state of `results()` or `errors()`, started with this
        `checkpointLocation`; as `sqlwin.spark.state`, which asks those that `run` has made.
        """
        query = self._program.lowered[0]
        return asked(self.spark, Path(checkpoint).resolve(), query, as_of)

    @property
    def _program(self) -> Program:
        partitions = int(self.spark.conf.get(SHUFFLE) or 1)
        return Program(self.script.queries, partitions, partitions)

    def _unpacked(self, kind: str, schema: Schema) -> DataFrame:
        tagged = bucketed(self._packed(self._program, "", False), self._program)
        payloads = tagged.where(tagged.kind == kind).select("payload")
        expired = self._program.lowered[0].expired
        return payloads.mapInArrow(unpacker(schema, expired), ddl(schema))

    def _packed(self, program: Program, state: str, end: bool) -> DataFrame:
        """The packed inputs and the clock, united."""
        text = program.dump()
        by_stream: dict[str, list[int]] = {}
        for number, query in enumerate(program.lowered):
            by_stream.setdefault(query.stream.name, []).append(number)
        inputs = [
            self._declared(program.lowered[numbers[0]]).mapInArrow(packer(text, tuple(numbers)), IN)
            for numbers in by_stream.values()
        ]
        clock = sourced(self.spark, Settings(text, "tick", state, "", end, tick=self.tick))
        return reduce(DataFrame.union, inputs, clock)

    def _declared(self, query: Lowered) -> DataFrame:
        """The declared columns of a stream's DataFrame; others are not carried."""
        stream = query.stream
        frame = self.inputs[stream.name]
        missing = [c.name for c in stream.columns if c.name not in frame.columns]
        if missing:
            raise InputError(
                f"the DataFrame of {stream.name} has no column {', '.join(missing)}; "
                f"it has {', '.join(frame.columns)}"
            )
        return frame.select(*(f"`{column.name}`" for column in stream.columns))


def query_over(
    spark: SparkSession,
    script: Script,
    inputs: Mapping[str, DataFrame],
    tick: float = 10.0,
) -> SparkQuery:
    """InputError where a stream has no DataFrame or one that is not streaming."""
    read = {query_.stream.name for query_ in Program(script.queries, 1, 1).lowered}
    missing = sorted(read - set(inputs))
    if missing:
        raise InputError(f"no DataFrame for {', '.join(missing)}; given: {', '.join(inputs)}")
    for name in read:
        if not inputs[name].isStreaming:
            raise InputError(f"the DataFrame of {name} is not streaming; use spark.readStream")
    return SparkQuery(needed(spark), script, inputs, tick)
