"""What a run has done so far, of the metrics of its batches. Time is an argument.

>>> from sqlwin.runtime.connectors.metrics import OperatorMetrics
>>> figures = Figures()
>>> one = OperatorMetrics("TopN", 90, 2, 4, state_rows=7, state_bytes=900, windows_open=3)
>>> figures.add(QueryMetrics(0, 1, 5_000_000, 100, 4, {"expired": 1}, {"taps": 2_000_000}, {},
...     (one,), input_bytes={"taps": (250, 1000)}), at=10.0)
>>> figures.read, figures.late, figures.expired, figures.windows, figures.state
(100, 2, 1, 3, (7, 900))
>>> figures.share, figures.rate(11.0), figures.lags
(0.25, 100.0, {'taps': 3.0})
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import field

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.connectors.metrics import QueryMetrics

RECENT = 5.0
"""Seconds of which the rate is."""


@dataclass
class Figures:
    """first, last: the metrics of the first and the last batch of each query. began: when the first
    of all ended."""

    read: int = 0
    emitted: int = 0
    batches: int = 0
    late: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    began: float | None = None
    first: dict[int, QueryMetrics] = field(default_factory=dict)
    last: dict[int, QueryMetrics] = field(default_factory=dict)
    recent: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, batch: QueryMetrics, at: float) -> None:
        """at: seconds, of a clock that does not go back."""
        self.read += batch.rows_read
        self.emitted += batch.rows_emitted
        self.batches += 1
        self.late += sum(each.late for each in batch.operators)
        self.errors.update(batch.errors)
        self.began = at if self.began is None else self.began
        self.first.setdefault(batch.query, batch)
        self.last[batch.query] = batch
        self.recent.append((at, batch.rows_read))

    def rate(self, now: float) -> float:
        """Rows a second, of late."""
        while self.recent and self.recent[0][0] < now - RECENT:
            self.recent.popleft()
        if not self.recent:
            return 0.0
        taken = max(now - self.recent[0][0], 1.0)
        return sum(rows for _, rows in self.recent) / taken

    @property
    def expired(self) -> int:
        return sum(rows for reason, rows in self.errors.items() if reason.startswith("expired"))

    @property
    def others(self) -> int:
        """Rows of the error stream that are not expired: malformed ones, say."""
        return self.errors.total() - self.expired

    @property
    def watermarks(self) -> dict[str, int]:
        marks = ((s, at) for batch in self.last.values() for s, at in batch.watermarks.items())
        return {stream: at for stream, at in marks if START < at < END}

    @property
    def lags(self) -> dict[str, float]:
        return {s: lag for batch in self.last.values() for s, lag in batch.lags.items()}

    @property
    def windows(self) -> int | None:
        """Open ones; None where no operator has any."""
        return _total(
            [each.windows_open for batch in self.last.values() for each in batch.operators]
        )

    @property
    def state(self) -> tuple[int, int] | None:
        """Records and bytes; None where they are not known."""
        operators = [each for batch in self.last.values() for each in batch.operators]
        rows = _total([each.state_rows for each in operators])
        size = _total([each.state_bytes for each in operators])
        return None if rows is None or size is None else (rows, size)

    @property
    def share(self) -> float | None:
        """Of the input that is read; None where it has no end that is known."""
        done, there = self._input(self.last)
        return done / there if there else None

    def left(self, now: float) -> float | None:
        """Seconds, if the rest takes as long as what was read since the first batch: what is before
        it may have been read by another run. None where nothing was read since."""
        done, there = self._input(self.last)
        since = done - self._input(self.first)[0]
        if self.began is None or since <= 0:
            return None
        return (now - self.began) * (there - done) / since

    def _input(self, batches: Mapping[int, QueryMetrics]) -> tuple[int, int]:
        """What is read, and what there is: bytes of files, or records of topics since the start."""
        sizes = [each for batch in batches.values() for each in batch.input_bytes.values()]
        if sizes:
            return sum(done for done, _ in sizes), sum(there for _, there in sizes)
        lags = [lag for batch in batches.values() for lag in batch.lag.values()]
        read = self.read if batches is self.last else sum(b.rows_read for b in batches.values())
        return (read, read + sum(sum(each.values()) for each in lags)) if lags else (0, 0)


def _total(known: list[int | None]) -> int | None:
    there = [each for each in known if each is not None]
    return sum(there) if there else None
