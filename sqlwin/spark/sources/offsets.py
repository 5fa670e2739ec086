"""The offset of the source: everything a replayed batch must see again.

Spark writes the offset at a batch's end into its log before the batch runs. So
the clock, the watermarks before the batch and the end of input are in it, beside
what was read: a batch that runs twice is the same batch.

>>> start = Offset()
>>> end = start.then(now=9, files={"0": 2}, watermarks={"0": 4})
>>> (end.batch, end.unread, Offset.load(end.dump()) == end)
(1, True, True)
>>> last = end.then(now=10, end=True)
>>> last.ended_since(end), last.unread
(True, False)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.state.blobs.seal import checksum
from sqlwin.state.blobs.sqlite_file import TO_DO

SUM = "checksum"


@dataclass(frozen=True)
class Offset:
    """batch: number of the batch that ends here. now: its clock, microseconds.

    files: pieces of each stream read so far, by number of the stream. step: of a
    feed. watermarks: before this batch, by number of the input, see `number_of` of
    `progress`. ends: how often input has ended. unread: something was read since it
    last ended. Numbers are texts where they are keys, as JSON has them. cut: see
    `Program.cut`; "" where the checkpoint has a manifest, which says.
    """

    batch: int = 0
    now: int = 0
    files: Mapping[str, int] = field(default_factory=dict)
    step: int = 0
    watermarks: Mapping[str, int] = field(default_factory=dict)
    ends: int = 0
    unread: bool = False
    cut: str = ""

    def then(
        self,
        now: int,
        files: Mapping[str, int] | None = None,
        step: int | None = None,
        watermarks: Mapping[str, int] | None = None,
        end: bool = False,
    ) -> Offset:
        """The offset after one more batch. The clock never goes back."""
        return replace(
            self,
            batch=self.batch + 1,
            now=max(now, self.now),
            files=self.files if files is None else files,
            step=self.step if step is None else step,
            watermarks=watermarks or {},
            ends=self.ends + end,
            unread=not end and (self.unread or files is not None),
        )

    def ended_since(self, start: Offset) -> bool:
        return self.ends > start.ends

    def dump(self) -> dict[str, Any]:
        """With a checksum, for Spark keeps it as text."""
        return {**asdict(self), SUM: _sum(self)}

    @staticmethod
    def load(found: Mapping[str, Any]) -> Offset:
        """StateError where it is not as it was dumped. Those of before have no checksum."""
        fields = {name: value for name, value in found.items() if name != SUM}
        try:
            offset = Offset(**fields)
        except TypeError as wrong:
            raise damaged(wrong) from wrong
        if SUM in found and found[SUM] != _sum(offset):
            raise damaged("its checksum does not match")
        return offset


def damaged(why: object) -> StateError:
    return StateError(f"an offset in the folder spark/offsets is damaged: {why}; {TO_DO}")


def pieces_read(offsets: Path) -> Mapping[str, int]:
    """Of each stream, by its number, up to the end of a batch; see `script_offset`."""
    return script_offset(offsets).files


def script_offset(offsets: Path) -> Offset:
    """That of the script's source at the end of a batch, the first one where the sources are
    others. offsets: Spark's, a header and a line of JSON for each source."""
    lines = offsets.read_text("utf-8").split("\n")[2:]
    sources = [json.loads(line) for line in lines if line and line != "-"]
    ours = [Offset.load(each) for each in sources if isinstance(each, dict) and "files" in each]
    return ours[0] if ours else Offset()


def _sum(offset: Offset) -> str:
    return checksum("offset", json.dumps(asdict(offset), sort_keys=True).encode(), 8).hex()
