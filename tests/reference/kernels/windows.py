"""Windows and frames by definition.

A group window is `(start, end)`, half-open; a frame is the list of rows it holds.

>>> windows_holding(70, Hop(60, 30)), windows_holding(70, Cumulate(60, 20))
([(30, 90), (60, 120)], [(60, 80), (60, 100), (60, 120)])
>>> rows = [{"__ts": ts} for ts in (1, 2, 2, 3)]
>>> [row["__ts"] for row in frame_of(rows, 1, Frame(Unit.RANGE, None, 0, Exclude.TIES))]
[1, 2]
"""

from __future__ import annotations

from sqlwin.instants import END, START
from sqlwin.schema import TS
from sqlwin.windows import Cumulate, Exclude, Frame, Hop, Unit, Whole
from tests.reference.kernels.exact import ascending
from tests.reference.kernels.rows import Row, Rows


def windows_holding(at: int, window: Hop | Cumulate | Whole) -> list[tuple[int, int]]:
    """The windows that hold an instant, or a message of that number from 1."""
    if isinstance(window, Whole):
        return [(START, END)]
    if isinstance(window, Cumulate):
        return _cumulated(at, window)
    return [(start, start + window.size) for start in _starts(at, window)]


def _cumulated(at: int, window: Cumulate) -> list[tuple[int, int]]:
    start = at - (at - window.offset) % window.size
    ends = range(start + window.step, start + window.size + 1, window.step)
    return [(start, end) for end in ends if at < end]


def _starts(at: int, hop: Hop) -> list[int]:
    counted = hop.unit is Unit.ROWS
    aligned = hop.offset + (1 if counted else 0)
    starts = range(at - hop.size + 1, at + 1)
    if counted:  # none starts before the first message
        return [s for s in starts if s >= aligned and (s - aligned) % hop.advance == 0]
    first = starts[0] + (aligned - starts[0]) % hop.advance
    return list(range(first, at + 1, hop.advance))


def pane_of(at: int, window: Hop | Cumulate | Whole) -> int:
    """Start of the piece, the greatest that cuts all windows whole, that holds an instant."""
    if isinstance(window, Whole):
        return START
    return at - (at - window.offset) % window.pane


def frame_of(rows: Rows, at: int, frame: Frame, keys: tuple[str, ...] = ()) -> list[Row]:
    """The rows in the frame of `rows[at]`; `rows`: one partition, in order. keys: columns that
    peers agree in beside event time."""
    inside = [n for n in range(len(rows)) if _inside(rows, at, n, frame, keys)]
    return [rows[n] for n in inside if not _excluded(rows, at, n, frame.exclude, keys)]


def _inside(rows: Rows, at: int, n: int, frame: Frame, keys: tuple[str, ...]) -> bool:
    off = n - at if frame.unit is Unit.ROWS else _distance(rows, at, n, keys)
    begun = frame.preceding is None or -frame.preceding <= off
    return begun and bool(frame.following is None or off <= frame.following)


def _distance(rows: Rows, at: int, n: int, keys: tuple[str, ...]) -> int:
    """In event time; with keys only which side of the peers a row is on counts."""
    if not keys:
        return int(rows[n][TS] - rows[at][TS])
    if _peers(rows[n], rows[at], keys):
        return 0
    return 1 if n > at else -1


def _peers(one: Row, other: Row, keys: tuple[str, ...]) -> bool:
    return all(ascending(one[key]) == ascending(other[key]) for key in (TS, *keys))


def _excluded(rows: Rows, at: int, n: int, exclude: Exclude, keys: tuple[str, ...]) -> bool:
    peer = _peers(rows[n], rows[at], keys)
    return {
        Exclude.NO_OTHERS: False,
        Exclude.CURRENT_ROW: n == at,
        Exclude.GROUP: peer,
        Exclude.TIES: peer and n != at,
    }[exclude]
