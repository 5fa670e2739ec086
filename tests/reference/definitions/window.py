"""What a definition says of a window, and how rows are ordered and distinguished.

Invariant: two windows of one row_key that hold the same rows have the same values,
whatever order the rows came in.

>>> key_text({"k": None, "x": -0.0}, ("k", "x"))
'[None, 0.0]'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sqlwin.policies import Policy
from sqlwin.schema import POSITION
from tests.reference.kernels.exact import ascending
from tests.reference.kernels.rows import Row
from tests.reference.kernels.sessions import Span

Position = tuple[Any, ...]
FORGOTTEN, MUTE = "__forgotten", "__mute"


@dataclass(frozen=True)
class Window:
    """One window that holds a row.

    row_key: its identity. full_at: whether it is full at a watermark; of a tuple window
    whatever that is. frames: positions of the rows it holds. values: computes the output
    columns, and is asked only for what is emitted: a sum may leave its type on the way
    and come back. keys: those of the columns that need no computing. bucket: the key
    within which RETAIN n ROWS counts. family: windows whose values depend on each other,
    as ranks do; placed: from the values of them all, by row_key, to these with the ranks.
    group, span: of a group window its keys as text, and its bounds. without: as `full_at`,
    once it holds no row; None: the same. last: the number of the row that fills it, where
    numbers change.
    """

    row_key: str
    full_at: Callable[[int], bool]
    frames: tuple[frozenset[Position], ...]
    values: Callable[[], dict[str, Any]]
    keys: dict[str, Any] = field(default_factory=dict)
    bucket: str = ""
    family: str | None = None
    placed: Callable[[dict[str, Row]], dict[str, Row]] | None = None
    group: str = ""
    span: Span | None = None
    without: Callable[[int], bool] | None = None
    last: int = 0

    @property
    def held(self) -> frozenset[Position]:
        return frozenset().union(*self.frames)


@dataclass(frozen=True)
class Definition:
    """Which windows a list of rows makes, and how their emissions look.

    carried: columns of the input. by_count: windows measured in messages; else in event
    time. buckets: the keys within which RETAIN n ROWS counts; floor_of: from the event
    time of the n-th greatest row to the horizon. once: a message that was taken is a no-op.
    counted: whether a row that is forgotten, or takes no part, still is a message of all.
    weighted: rows may be retracted. sessions: others may take the place of windows that lose
    rows. keyed: of a position there may be a row in each bucket, for what retracts one may be
    beyond the horizon of its bucket, and what replaces it not. ordered: rows are numbered by event
    time, within buckets. varies: a result has values beside those that it is known by. ends: of
    the windows that hold an instant, by which a row is judged; None: by its own time. judged: gap
    and session key of sessions that judge rows as `late_sessions`. frames: which rows none of OVER
    may hold, as `late_frames`. mutes: which of them have no result of their own as they come.
    """

    windows: Callable[[list[Row]], list[Window]]
    output: dict[str, pl.DataType]
    carried: dict[str, pl.DataType]
    policy: Policy
    by_count: bool = False
    update_before: bool = False
    buckets: tuple[str, ...] = ()
    floor_of: Callable[[int], int] = lambda ts: ts
    once: bool = True
    counted: bool = False
    part: Callable[[Row], bool] = lambda row: True
    weighted: bool = False
    sessions: bool = False
    ordered: bool = False
    keyed: bool = False
    varies: bool = True
    ends: Callable[[int], list[int]] | None = None
    judged: tuple[int, tuple[str, ...]] | None = None
    mutes: Callable[[Row, int], bool] | None = None
    frames: Callable[[Sequence[Row], Sequence[Row], int], list[bool]] | None = None

    def ident(self, row: Row) -> Position:
        """What a row is known by."""
        own = (key_text(row, self.buckets),) if self.keyed else ()
        return (*position(row), *own)


def forgotten(row: Row) -> Row:
    """It takes no part any more."""
    return {**row, FORGOTTEN: True}


def muted(row: Row) -> Row:
    """It is in the frames of others, and has none of its own."""
    return {**row, MUTE: True}


def takes_part(row: Row, where: str | None) -> bool:
    return FORGOTTEN not in row and (where is None or row[where] is True)


def comparable(values: dict[str, Any]) -> list[Any]:
    """Equal where the values are; NaN equals NaN."""
    return [(name, ascending(value)) for name, value in values.items()]


def position(row: Row) -> Position:
    return tuple(row[name] for name in POSITION)


def by_position(rows: Iterable[Row]) -> list[Row]:
    """Rows in the order that ties, frames and picks go by."""
    return sorted(rows, key=position)


def key_text(row: Row, keys: tuple[str, ...]) -> str:
    """Equal iff the keys are; NULL equals NULL, NaN equals NaN, 0.0 equals -0.0."""
    return repr([row[key] + 0.0 if isinstance(row[key], float) else row[key] for key in keys])
