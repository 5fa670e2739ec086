"""Sessions by definition: which rows of one session key belong together.

Rows of one instant are never parted. An instant goes on with the session before it iff
it is within reach of one of that session's rows (exactly one gap away still is), none
of the instant's rows starts a session, none of the session's ends it, and the session
has not lasted for MAX. Else it begins one, so that every row is in exactly one session.

Under ROWS the instants are message numbers, and a row reaches over `gap` messages of
others: the next one of its key may be the one after those.

Worked example, a gap of 30: 30 is exactly one gap after 0 and joins, 61 does not.

>>> rows = [{"__ts": ts} for ts in (0, 30, 61)]
>>> [span_of(session, Session(30)) for session in sessions_of(rows, Session(30))]
[Span(start=0, end=60, last=30), Span(start=61, end=91, last=61)]
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from sqlwin.kernels.reference.rows import Row, Rows
from sqlwin.schema import TS
from sqlwin.windows import Session, Unit


class Span(NamedTuple):
    """Bounds of a session, and where its last row is; its first is at `start`."""

    start: int
    end: int
    last: int


def sessions_of(rows: Rows, window: Session, measure: str = TS) -> list[list[Row]]:
    """The rows of one session key cut into sessions. measure: the column they are ordered by."""
    sessions: list[list[Row]] = []
    in_order = sorted(rows, key=lambda row: row[measure])
    for _, instant in groupby(in_order, key=lambda row: row[measure]):
        peers = list(instant)
        if sessions and _goes_on(sessions[-1], peers, window, measure):
            sessions[-1] += peers
        else:
            sessions.append(peers)
    return sessions


def span_of(session: Rows, window: Session, measure: str = TS) -> Span:
    """From its first row to its greatest reach, MAX at most; under ROWS half-open, its numbers."""
    first, last = session[0][measure], session[-1][measure]
    if window.unit is Unit.ROWS:
        return Span(first, last + 1, last)
    reach = max(_reach(row, window, measure) for row in session)
    return Span(first, reach if window.most is None else min(reach, first + window.most), last)


def _goes_on(session: Rows, peers: Rows, window: Session, measure: str) -> bool:
    at, first = peers[0][measure], session[0][measure]
    return (
        any(at <= _reach(row, window, measure) for row in session)
        and not _some(peers, window.starts)
        and not _some(session, window.ends)
        and (window.most is None or at < first + window.most)
    )


def _some(rows: Rows, column: str | None) -> bool:
    return column is not None and any(row[column] is True for row in rows)


def _reach(row: Row, window: Session, measure: str) -> int:
    gap = row[window.gap_by] if window.gap_by is not None else window.gap
    return int(row[measure] + gap + (1 if window.unit is Unit.ROWS else 0))
