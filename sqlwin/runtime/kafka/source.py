"""A topic as a source: its partitions, and pieces of them between two offsets.

A piece is to a partition what bytes are to a file: `orders/2` from offset 10 up to 40. What was
found is read up to there, by this run or by the next, so a checkpoint has offsets as it has bytes
of files. A row's position is its partition and its offset, however records are cut into batches.

Pieces are cut in rounds, one of each partition that has more, and a batch is a round: were it one
partition's, the watermark would run ahead of the others.

>>> rounds({"t/0": (0, 5), "t/1": (7, 9), "t/2": (4, 4)}, most=2)
[('t/0', 0, 2), ('t/1', 7, 9), ('t/0', 2, 4), ('t/0', 4, 5)]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.durations import micros
from sqlwin.errors import QueryError, RunError
from sqlwin.instants import SECOND
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options import kafka_options
from sqlwin.plan.options.connectors import STREAMS
from sqlwin.runtime.files.ends import End
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.files.source import Decoded
from sqlwin.runtime.formats.values import text_of
from sqlwin.runtime.kafka.client import Consumer, Settings, consumer, settings_of
from sqlwin.runtime.kafka.records import decoded, parts
from sqlwin.runtime.rows.error_stream import no_rejects, refused
from sqlwin.schema import PART, SEQ, TIMESTAMP, empty, polars_schema, type_name
from sqlwin.secrets import refers

Range = tuple[str, int, int]
DEFAULTS = {option.name: option.default for option in STREAMS["kafka"] if option.default}
TEXTS, COUNTS = (pa.string(), pa.binary()), (pa.int64(), pa.int32())
TYPES: dict[str, tuple[pa.DataType, ...]] = {
    "timestamp": (TIMESTAMP,),
    "topic": (pa.string(),),
    "partition": COUNTS,
    "offset": (pa.int64(),),
}
"""Of columns that are parts of a record; any other is a text or bytes."""


@dataclass(frozen=True)
class KafkaSource:
    """metadata: parts of a record by column. most: records of a batch. wait: seconds until a
    failure that may pass is final."""

    stream: Stream
    topic: str
    settings: Settings = field(repr=False)
    format: str
    delimiter: str
    start: str | int | Mapping[int, int]
    most: int
    metadata: Mapping[str, str]
    wait: float

    @property
    def consumer(self) -> Consumer:
        return consumer(self.settings)

    def splits(self, base: Path) -> list[str]:
        return [self._name(part) for part in self.consumer.partitions(self.topic, self.wait)]

    def name(self, kept: str, base: Path) -> str:
        return kept

    def split(self, name: str, base: Path) -> str:
        return name

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool:
        """Add what came, up to the last committed record of each partition."""
        there = self.consumer.partitions(self.topic, self.wait)
        self._check_partitions(len(there))
        known = {name: end.hi for name, end in progress.known.items()}
        fresh = [part for part in there if self._name(part) not in known]
        for part, offset in self._starts(fresh, bool(known)).items():
            known[self._name(part)] = offset
            progress.files[self._name(part)] = End(offset, "")
        last = self.consumer.offsets(self.topic, there, "latest", self.wait)
        spans = {self._name(part): (known[self._name(part)], last[part]) for part in there}
        for name, (lo, hi) in spans.items():
            _check(name, lo, hi)
        found = rounds(spans, max(1, self.most // len(there)))
        progress.pieces += [Piece(name, lo, hi, hi) for name, lo, hi in found]
        return bool(found or fresh)

    def _check_partitions(self, count: int) -> None:
        """RunError where a query may have been let through for the sake of fewer."""
        declared = dict(self.stream.options).get("partitions")
        if declared is not None and count > int(declared):
            message = f"topic {self.topic} has {count} partitions, and stream {self.stream.name}"
            raise RunError(f"{message} declares partitions = {declared}")

    def _starts(self, fresh: list[int], later: bool) -> dict[int, int]:
        """later: the topic was read before, so a partition that is new is read whole."""
        if later or isinstance(self.start, str | int):
            where = "earliest" if later else self.start
            assert isinstance(where, str | int)
            return self.consumer.offsets(self.topic, fresh, where, self.wait)
        given = {part: self.start[part] for part in fresh if part in self.start}
        others = [part for part in fresh if part not in given]
        return {**self.consumer.offsets(self.topic, others, "earliest", self.wait), **given}

    def batch_end(self, progress: FileProgress, start: int, size: int) -> int:
        """A round: until a partition would come again."""
        seen: set[str] = set()
        for at in range(start, progress.end):
            name = progress.piece(at).path
            if name in seen:
                return at
            seen.add(name)
        return progress.end

    def left(self, progress: FileProgress, base: Path) -> dict[str, int]:
        return {}

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded:
        part = int(piece.path.rpartition("/")[2])
        came = self.consumer.records(self.topic, part, piece.lo, piece.hi, self.wait)
        if not came:
            nothing = empty(polars_schema(self.stream.columns))
            return Decoded(_placed(nothing, part, []), no_rejects())
        own = tuple(each for each in self.stream.columns if each.name not in self.metadata)
        more = tuple(each for each in self.stream.columns if each.name in self.metadata)
        lines, bad = decoded([each.value() for each in came], own, self.format, self.delimiter)
        columns, wrong = parts(came, more, self.metadata)
        keep = [at for at in lines.numbers.tolist() if at not in wrong]
        good = lines.rows.filter(pl.Series(lines.numbers).is_in(keep)) if wrong else lines.rows
        rows = good.with_columns(series[keep].alias(name) for name, series in columns.items())
        ordered = rows.select(each.name for each in self.stream.columns)
        offsets = [each.offset() for each in came]
        errors = self._errors(came, {**wrong, **bad}, part, watermark)
        return Decoded(_placed(ordered, part, [offsets[at] for at in keep]), errors)

    def _errors(
        self, came: list[Any], bad: Mapping[int, str], part: int, watermark: int | None
    ) -> pl.DataFrame:
        at = sorted(bad)
        places = pl.DataFrame({PART: [part] * len(at), SEQ: [came[each].offset() for each in at]})
        texts = [text_of(came[each].value() or b"") for each in at]
        reasons = [f"malformed: {bad[each]}" for each in at]
        return refused(self.stream.name, places, texts, reasons, watermark)

    def _name(self, part: int) -> str:
        return f"{self.topic}/{part}"

    def weight(self, split: str) -> int:
        return 0


def rounds(spans: Mapping[str, tuple[int, int]], most: int) -> list[Range]:
    """Pieces of at most `most` offsets, one of each partition in turn."""
    found: list[Range] = []
    left = {name: span for name, span in spans.items() if span[0] < span[1]}
    while left:
        found += [(name, lo, min(lo + most, hi)) for name, (lo, hi) in left.items()]
        left = {name: (lo + most, hi) for name, (lo, hi) in left.items() if lo + most < hi}
    return found


def declared(stream: Stream) -> KafkaSource:
    """QueryError for metadata that is no column, or has no such type; options were checked."""
    options = dict(stream.options)
    known = {name: value for name, value in options.items() if not refers(value)}
    given = {**DEFAULTS, **known}  # of a script that is only checked, not all is known
    metadata = kafka_options.metadata(given["metadata"]) if "metadata" in given else {}
    if "topic" not in options:
        message = f"stream {stream.name} needs an option 'topic'"
        raise QueryError(message, legal="topic = '…'")
    _check_columns(stream, metadata, given["format"])
    return KafkaSource(
        stream,
        options["topic"],
        settings_of(options),
        given["format"],
        given["delimiter"],
        kafka_options.start(given["start"]),
        int(given["max.records"]),
        metadata,
        micros(given["wait"], None) / SECOND,
    )


def _check_columns(stream: Stream, metadata: Mapping[str, str], format_: str) -> None:
    known = {column.name: column.type for column in stream.columns}
    for name, part in metadata.items():
        if name not in known:
            message = f"metadata of stream {stream.name} names {name}, no column"
            raise QueryError(message, legal=", ".join(known))
        legal = TYPES.get(part, TEXTS)
        if known[name] not in legal:
            message = f"{name} of stream {stream.name} is {type_name(known[name])}, and a {part}"
            raise QueryError(message, legal=" or ".join(map(type_name, legal)))
    own = [type_ for name, type_ in known.items() if name not in metadata]
    if format_ == "raw" and (len(own) != 1 or own[0] not in TEXTS):
        message = f"stream {stream.name} has format 'raw', and not one column for the value"
        raise QueryError(message, legal="one column, STRING or BINARY, beside those of metadata")


def _check(name: str, lo: int, hi: int) -> None:
    if lo > hi:
        raise RunError(
            f"{name} ends at offset {hi}, and {lo} were taken: it was deleted and made anew, or "
            f"has lost records; begin with a new checkpoint"
        )


def _placed(rows: pl.DataFrame, part: int, offsets: list[int]) -> pl.DataFrame:
    place = pl.lit(part, pl.Int32).alias(PART), pl.Series(SEQ, offsets, pl.Int64)
    return rows.with_columns(*place)
