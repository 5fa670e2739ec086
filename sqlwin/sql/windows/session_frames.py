"""Sessions as frames of OVER: `OVER (… ORDER BY ts SESSION WITH GAP INTERVAL '5 minutes')`."""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.sql.text import ast
from sqlwin.sql.windows.sessions import session
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

LEGAL = "OVER (PARTITION BY product ORDER BY ts SESSION WITH GAP INTERVAL '5' MINUTE)"


def session_frame(given: ast.SessionSpec, timed: bool) -> Frame:
    """From the first row of the row's session to its last one. timed: ORDER BY begins with event
    time."""
    if not timed:
        message = "a session in OVER goes by event time: ORDER BY begins with it"
        raise QueryError(message, given.span, legal=LEGAL)
    if not isinstance(given.gap, ast.Duration) or given.most or given.starts or given.ends:
        message = "a session in OVER has one gap, of time, and no other end"
        raise QueryError(message, given.span, legal=f"{LEGAL}; or OVER (…) behind the stream")
    gap = session(given).constant
    return Frame(Unit.SESSION, gap, gap)
