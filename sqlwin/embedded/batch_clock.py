"""The processing time of each batch, for queries whose expressions read it (`NOW()`).

It is recorded before the sinks get the batch, so a batch that is replayed after a crash has the
same time again. Batch times never decrease. On Spark the offset log records them, see
`spark/offsets.py`.

>>> from sqlwin.state.blobs.blobs import DictBlobs
>>> blobs = DictBlobs()
>>> BatchClock(blobs).record(1, 50)
>>> again = BatchClock(blobs)
>>> again.of(1, 70), again.of(2, 40), again.of(2, 90)
(50, 50, 90)
"""

from __future__ import annotations

import json

from sqlwin.embedded.checkpoint.query_position import transaction
from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.checkpoint.versions import parsed
from sqlwin.state.blobs.sqlite_file import TO_DO
from sqlwin.state.contract import Blobs

CLOCK = "clock"


@dataclass
class BatchClock:
    """blobs: None where nothing is recorded."""

    blobs: Blobs | None

    def of(self, batch: int, now: int) -> int:
        """The time of a batch that is worked on now, for the first time or again."""
        last, at = self._last()
        return at if last == batch else max(at, now)

    def record(self, batch: int, at: int) -> None:
        if self.blobs is None or self._last() == (batch, at):
            return
        with transaction(self.blobs):
            self.blobs.put(CLOCK, json.dumps({"batch": batch, "now": at}).encode())

    @property
    def last(self) -> int:
        """The time of the last batch that was recorded, 0 before."""
        return self._last()[1]

    def _last(self) -> tuple[int, int]:
        if self.blobs is None or CLOCK not in self.blobs.names():
            return 0, 0
        found = parsed(CLOCK, self.blobs.get(CLOCK))
        if not all(isinstance(found.get(name), int) for name in ("batch", "now")):
            raise StateError(f"the state: {CLOCK} is damaged; {TO_DO}")
        return found["batch"], found["now"]
