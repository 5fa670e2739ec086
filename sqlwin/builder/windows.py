"""Windows of a stream, as `QueryBuilder.window` takes them.

>>> tumble("1 minute").of("`orders`", "ts")
"TUMBLE(TABLE `orders`, DESCRIPTOR(`ts`), INTERVAL '1 minute')"
>>> sliding("30 seconds").of("`orders`", "ts")
"`orders` OVER (ORDER BY `ts` RANGE INTERVAL '30 seconds' PRECEDING)"
"""

from __future__ import annotations

from typing import Protocol

from sqlwin.builder.text import Columns, Duration, columns, count, duration, listed, name
from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass


class Window(Protocol):
    """partition: columns whose rows have windows of their own, and that results are known by."""

    @property
    def partition(self) -> tuple[str, ...]: ...

    @property
    def grouped(self) -> bool:
        """Whether results are grouped by the window, as by a column."""

    def of(self, source: str, time: str | None) -> str:
        """What stands in FROM."""


@dataclass(frozen=True)
class TableFunction:
    """A window function of a table; sizes: its durations and what is behind them, as SQL text."""

    function: str
    sizes: tuple[str, ...]
    partition: tuple[str, ...] = ()
    grouped: bool = True

    def of(self, source: str, time: str | None) -> str:
        by = f" PARTITION BY ({listed(self.partition)})" if self.partition else ""
        at = f"DESCRIPTOR({name(_needed(time))})"
        return f"{self.function}(TABLE {source}{by}, {listed((at, *self.sizes))})"


@dataclass(frozen=True)
class StreamWindow:
    """`OVER (…)` behind a stream: a window for each instant or row of a key."""

    frame: str
    partition: tuple[str, ...] = ()
    timed: bool = True
    grouped: bool = False

    def of(self, source: str, time: str | None) -> str:
        by = f"PARTITION BY {listed(self.partition)} " if self.partition else ""
        order = f"ORDER BY {name(_needed(time))} " if self.timed else ""
        return f"{source} OVER ({by}{order}{self.frame})"


def tumble(size: Duration, offset: Duration | None = None) -> Window:
    """Windows of one size, one behind the other."""
    return TableFunction("TUMBLE", _sizes(size, offset))


def hop(*, size: Duration, every: Duration, offset: Duration | None = None) -> Window:
    """Windows of `size`, one of which begins in every `every`."""
    return TableFunction("HOP", _sizes(every, size, offset))


def cumulate(
    *, size: Duration, step: Duration, offset: Duration | None = None, only_on_update: bool = False
) -> Window:
    """Windows that grow by `step` until they have `size`. only_on_update: of a group those alone in
    whose last step a row came."""
    only = ("emitOnlyOnUpdate => TRUE",) if only_on_update else ()
    return TableFunction("CUMULATE", (*_sizes(step, size, offset), *only))


def session(gap: Duration, partition_by: Columns = (), most: Duration | None = None) -> Window:
    """Rows of a key without a pause longer than `gap`. most: the greatest length of a session."""
    longest = () if most is None else (f"max => {duration(most)}",)
    return TableFunction("SESSION", (duration(gap), *longest), columns(partition_by))


def sliding(
    size: Duration | None = None,
    *,
    rows: int | None = None,
    partition_by: Columns = (),
    advance: Duration | None = None,
) -> Window:
    """For each row the time before it, or the last `rows` messages with it.

    advance: windows end at multiples of it only.
    """
    step = "" if advance is None else f" ADVANCE BY {duration(advance)}"
    by = columns(partition_by)
    if size is not None and rows is None:
        return StreamWindow(f"RANGE {duration(size)} PRECEDING{step}", by)
    if size is not None or rows is None:
        raise InputError("a sliding window has a size in time, or in rows")
    return StreamWindow(f"ROWS {count(rows)} PRECEDING{step}", by, timed=False)


def _sizes(*sizes: Duration | None) -> tuple[str, ...]:
    return tuple(duration(size) for size in sizes if size is not None)


def _needed(time: str | None) -> str:
    if time is None:
        raise InputError("which column is the event time? say window(…, time='ts')")
    return time
