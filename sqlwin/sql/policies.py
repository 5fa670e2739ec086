"""EMIT, RETAIN and EXPIRED to a plan's Policy."""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.plan.nodes import Stream
from sqlwin.policies import DEFAULT_LATE_PERIOD, Late, Policy
from sqlwin.sql import ast
from sqlwin.sql.windows import refused

LEGAL = "EMIT ON CLOSE, EMIT FINAL, LATE EVERY d, LATE ON UPDATE, LATE NEVER; RETAIN d"


def policy(
    given: ast.Policies, length: int, stream: Stream, grace: ast.Duration | None, counts: bool
) -> Policy:
    """length: of the window in event time. grace: ksqlDB's. counts: a window in ROWS."""
    refuse(given)
    if counts:
        _refuse_late_rows(given)
        return Policy(retain=0)
    late = Late.NEVER if given.final else Late(given.late.how.lower()) if given.late else Late.EVERY
    period = given.late.period if given.late else None
    return Policy(
        retain=_retain(given, length, stream, grace),
        late=late,
        late_period=DEFAULT_LATE_PERIOD if period is None else period,
    )


def refuse(given: ast.Policies) -> None:
    for form in given.refused:
        raise refused(form.text, form.span, LEGAL)


def refuse_all(given: ast.Policies, why: str) -> None:
    """Policies of a query that has no window of its own."""
    if given.span is not None:
        raise QueryError(why, given.span, legal="EMIT and RETAIN beside a window")


def _refuse_late_rows(given: ast.Policies) -> None:
    span = given.late.span if given.late else given.retain.span if given.retain else None
    if span is not None:
        message = "a window in ROWS counts messages as they come: none is late, none is kept"
        raise QueryError(message, span, legal="EMIT ON CLOSE")


def _retain(given: ast.Policies, length: int, stream: Stream, grace: ast.Duration | None) -> int:
    if given.retain is not None and grace is not None:
        message = "GRACE PERIOD and RETAIN are one thing"
        raise QueryError(message, given.retain.span, legal="either of them")
    told = given.retain or grace
    if told is None:
        return max(length, stream.delay)
    if told.micros < 0:
        raise QueryError("RETAIN takes a duration of at least 0", told.span, legal="RETAIN 1 HOUR")
    return told.micros
