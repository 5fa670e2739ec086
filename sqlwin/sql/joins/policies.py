"""EMIT, RETAIN and EXPIRED of a join.

If nothing is said, a pair is sent as it is found, on time or late; a row without a match
once it is complete to have none. EARLY EVERY d and LATE EVERY d send what was found in
that time, EARLY EVERY n ROWS what was found of n results of equal keys; EARLY pads at once, too,
and retracts what then finds a match. Of messages that are
counted as they come none is late, so there LATE says nothing.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.policies import DEFAULT_LATE_PERIOD, Expired, Late, Policy
from sqlwin.sql.text import ast
from sqlwin.sql.windows.policies import policy
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow

Match = JoinWindow | AsOf | JoinSessions


def of_join(
    given: ast.Policies,
    match: Match | None,
    lateness: int | None,
    grace: ast.Duration | None,
    waits: bool,
    ordered: bool = False,
) -> Policy:
    """match: None where nothing is kept, since the right is a static table. lateness: the
    greatest of its inputs'. waits: whether rows are sent once what they match is complete.
    ordered: windows in ROWS number rows of a result by event time.

    If RETAIN is not given, rows are kept as long again as the window reaches, those of sessions
    as the longer gap, no less than rows may be late; for ever where it is unbounded on
    either side.
    """
    _refuse(given, match, waits, ordered)
    if match is None or _counted(match):  # nothing is kept, or what numbers say
        given = replace(given, retain_rows=None)
    joins_expired = given.expired is not None and given.expired.how == "EMIT"
    if joins_expired:
        given = replace(given, expired=None)
    made = policy(given, 0 if ordered else _extent(match), lateness, grace)
    if joins_expired:
        made = replace(made, expired=Expired.EMIT)
    arriving = _counted(match) and not ordered  # messages as they come: none is late
    given_late = (given.late is not None and not arriving) or given.final is not None
    if given_late:
        return made
    return replace(made, late=Late.ON_UPDATE, late_period=DEFAULT_LATE_PERIOD)


def _extent(match: Match | None) -> int | None:
    """How far rows reach in time; None: without bound."""
    if match is None:
        return None
    if isinstance(match, AsOf):
        return 0
    if isinstance(match, JoinSessions):
        return 0 if match.unit is Unit.ROWS else match.gap
    if match.low is None or match.high is None:
        return None
    return 0 if match.unit is Unit.ROWS else max(-match.low, match.high, 0)


def _counted(match: Match | None) -> bool:
    """Whether it is a window, or sessions, in ROWS."""
    return isinstance(match, JoinWindow | JoinSessions) and match.unit is Unit.ROWS


def _refuse(given: ast.Policies, match: Match | None, waits: bool, ordered: bool) -> None:
    if given.early is not None and given.early.once:
        message = "EARLY … ONCE is of windows, and each pair of a join is emitted once as it is"
        raise QueryError(message, given.span, legal="EARLY EVERY INTERVAL '1' MINUTE")
    counts = given.early is not None and given.early.rows is not None
    if given.timeout is not None and not (waits or counts):
        message = "TIMEOUT sends what waits while a stream is silent, and here nothing waits"
        raise QueryError(message, given.timeout.span, legal="LEFT JOIN, ANTI JOIN, ASOF JOIN")
    needed = isinstance(match, JoinSessions) and not _counted(match)
    if given.retain_rows is not None and needed:
        message = "RETAIN n ROWS would evict rows that are needed: a session all of its rows"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN INTERVAL '1' HOUR")
    expired = given.expired
    if expired is not None and expired.how == "EMIT":
        _refuse_emit(expired, given, match)
    if match is None and given.late is not None:
        message = "what a static table says of a row never changes: nothing is late"
        raise QueryError(message, given.late.span, legal="EMIT EARLY …")


def _refuse_emit(expired: ast.Expired, given: ast.Policies, match: Match | None) -> None:
    """QueryError where nothing says which rows an expired one may still meet."""
    legal = "EXPIRED INTO errors, EXPIRED COUNT"
    if isinstance(match, JoinSessions):
        message = "EXPIRED EMIT makes a session of an expired row, and it would meet none to join"
        raise QueryError(message, expired.span, legal=legal)
    if not isinstance(match, JoinWindow) or match.unit is Unit.ROWS:
        message = "EXPIRED EMIT joins an expired row with those stored in its window of time"
        raise QueryError(message, expired.span, legal=legal)
    if given.retain_rows is not None:
        message = "EXPIRED EMIT goes with a retention of time: RETAIN counts no rows here"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN INTERVAL '1' HOUR")
