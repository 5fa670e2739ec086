"""Sessions by definition: which rows of one session key belong together.

Rows of one instant are never split. An instant goes on with the session before it iff
it is within reach of one of that session's rows (exactly one gap away still is), none
of the instant's rows starts a session, none of the session's ends it, and the session
has not lasted for MAX. Else it begins one, so that every row is in exactly one session.

A session ends at its greatest reach, after MAX at the latest, and where the next one of
its key begins: only START, END and MAX let that be earlier. So windows of one key do not
overlap.

Under ROWS the instants are message numbers, and a row reaches over `gap` messages of
others: the next one of its key may be the one after those.

Worked example, a gap of 30: 30 is exactly one gap after 0 and joins, 61 does not.

>>> rows = [{"__ts": ts} for ts in (0, 30, 61)]
>>> spans_of(sessions_of(rows, Session(30)), Session(30))
[Span(start=0, end=60), Span(start=61, end=91)]
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from sqlwin.schema import TS
from sqlwin.windows import Unit
from sqlwin.windows.session import Session
from tests.reference.kernels.rows import Row, Rows


class Span(NamedTuple):
    """Bounds of a group window, half-open."""

    start: int
    end: int


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


def spans_of(sessions: list[list[Row]], window: Session, measure: str = TS) -> list[Span]:
    """The bounds of all sessions of one key. Under ROWS half-open too: its message numbers."""
    starts = [session[0][measure] for session in sessions]
    ends = [_end(session, window, measure) for session in sessions]
    before_next = [min(end, start) for end, start in zip(ends, starts[1:], strict=False)]
    return [Span(*bounds) for bounds in zip(starts, [*before_next, *ends[-1:]], strict=True)]


def _end(session: Rows, window: Session, measure: str) -> int:
    first, last = session[0][measure], session[-1][measure]
    if window.unit is Unit.ROWS:
        return int(last + 1)
    reach = max(_reach(row, window, measure) for row in session)
    return reach if window.most is None else min(reach, first + window.most)


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
