"""Topics as a source: their partitions, and pieces of them between two offsets.

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
from dataclasses import field
from pathlib import Path
from typing import Any

import polars as pl

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.polars_frames import empty, polars_schema
from sqlwin.runtime.files.ends import End
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.files.source import Decoded
from sqlwin.runtime.formats.presented import text_of
from sqlwin.runtime.kafka.client import Consumer, Gone, Settings, consumer
from sqlwin.runtime.kafka.partitions import PASS_OVER, Partition, before, check_known, partitions
from sqlwin.runtime.kafka.starts import Start, first_offsets
from sqlwin.runtime.kafka.topics import Topics
from sqlwin.runtime.kafka.values import Values
from sqlwin.runtime.rows.error_stream import no_rejects, refused
from sqlwin.schema import PART, SEQ

Range = tuple[str, int, int]


@dataclass(frozen=True)
class KafkaSource:
    """most: records of a batch. losses: whether records that are gone are passed over. wait:
    seconds until a failure that may pass is final."""

    stream: Stream
    topics: Topics
    settings: Settings = field(repr=False)
    values: Values
    start: Start
    most: int
    losses: bool
    wait: float

    @property
    def consumer(self) -> Consumer:
        return consumer(self.settings)

    def splits(self, base: Path) -> list[str]:
        return [split.name for split in self._there({})]

    def name(self, kept: str, base: Path) -> str:
        return kept

    def split(self, name: str, base: Path) -> str:
        return name

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool:
        """Add what came, up to the last committed record of each partition."""
        known = progress.known
        there = self._there(known)
        check_known(known, there, self.losses)
        fresh = [split for split in there if split.name not in known]
        begins = {name: end.hi for name, end in known.items()}
        for split, offset in self._starts(fresh, later=bool(known)).items():
            begins[split.name] = offset
            progress.files[split.name] = End(offset, split.print)
        last = self.consumer.offsets([split.key for split in there], "latest", self.wait)
        spans = {split.name: (begins[split.name], last[split.key]) for split in there}
        for name, (lo, hi) in spans.items():
            _check(name, lo, hi)
        found = rounds(spans, max(1, self.most // max(1, len(there))))
        prints = {split.name: split.print for split in there}
        progress.pieces += [Piece(name, lo, hi, hi, prints[name]) for name, lo, hi in found]
        return bool(found or fresh)

    def _there(self, known: Mapping[str, End]) -> list[Partition]:
        names = self.topics.names(self.consumer, self.wait)
        if not names and not known:
            raise RunError(f"stream {self.stream.name}: no topic matches {self.topics.pattern!r}")
        there = partitions(known, self.consumer.topics(names, self.wait))
        self._check_count(len(there))
        return there

    def _check_count(self, count: int) -> None:
        """RunError where a query may have been let through for the sake of fewer."""
        declared = dict(self.stream.options).get("partitions")
        if declared is not None and count > int(declared):
            message = f"{self.topics} has {count} partitions, and stream {self.stream.name}"
            raise RunError(f"{message} declares partitions = {declared}")

    def _starts(self, fresh: list[Partition], later: bool) -> dict[Partition, int]:
        """later: something was read before, so a partition that is new is read whole."""
        return first_offsets(
            self.consumer, fresh, "earliest" if later else self.start, self.stream.name, self.wait
        )

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
        split = Partition.of(piece.path, piece.print)
        found, warnings = self._came(piece, split)
        came = self.values.counted(found)
        if not came:
            nothing = empty(polars_schema(self.stream.columns))
            return Decoded(_placed(nothing, split.part, []), no_rejects(), warnings)
        rows, keep, bad = self.values.rows(came)
        offsets = [each.offset() for each in came]
        errors = self._errors(came, bad, split.part, watermark)
        placed = _placed(rows, split.part, [offsets[at] for at in keep])
        return Decoded(placed, errors, warnings)

    def lags(self, progress: FileProgress) -> dict[str, int]:
        """Offsets behind what was read, by partition; none where the broker does not say."""
        read = {split.key: progress.files[split.name].hi for split in before(progress.files)}
        try:
            last = self.consumer.offsets(read, "latest", wait=0)
        except RunError:  # a run does not end because it cannot be measured
            return {}
        return {f"{key[0]}/{key[1]}": max(0, end - read[key]) for key, end in last.items()}

    def _came(self, piece: Piece, split: Partition) -> tuple[list[Any], tuple[str, ...]]:
        """The records of a piece, and a warning where some of them are gone."""
        lo, hi = piece.lo, piece.hi
        try:
            return self.consumer.records(*split.key, lo, hi, self.wait), ()
        except Gone as gone:
            if not self.losses:
                raise RunError(f"{gone}; {PASS_OVER}") from gone
        first = self.consumer.offsets([split.key], "earliest", self.wait)[split.key]
        lost = min(max(first, lo), hi)
        warning = f"{split.name}: the records from offset {lo} up to {lost} are gone and not read"
        return self.consumer.records(*split.key, lost, hi, self.wait), (warning,)

    def _errors(
        self, came: list[Any], bad: Mapping[int, str], part: int, watermark: int | None
    ) -> pl.DataFrame:
        at = sorted(bad)
        places = pl.DataFrame({PART: [part] * len(at), SEQ: [came[each].offset() for each in at]})
        texts = [text_of(came[each].value() or b"") for each in at]
        reasons = [f"malformed: {bad[each]}" for each in at]
        return refused(self.stream.name, places, texts, reasons, watermark)

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


def _check(name: str, lo: int, hi: int) -> None:
    if lo > hi:
        raise RunError(
            f"{name} ends at offset {hi}, and was read up to {lo}: it was deleted and made anew, "
            f"or has lost records; begin with a new checkpoint"
        )


def _placed(rows: pl.DataFrame, part: int, offsets: list[int]) -> pl.DataFrame:
    place = pl.lit(part, pl.Int32).alias(PART), pl.Series(SEQ, offsets, pl.Int64)
    return rows.with_columns(*place)
