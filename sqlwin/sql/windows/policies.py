"""EMIT, RETAIN, RETENTION and EXPIRED to a plan's Policy.

Each kind of window has a function of its own, for their defaults differ: `policy` for
windows of event time, `of_sessions` for sessions of it, `counted` for windows of
messages, `unending` for what has no window, or one that only the end of input closes;
those of joins are in `join_policies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.policies import Early, Expired, Policy
from sqlwin.sql.text import ast
from sqlwin.sql.windows.discarding import refuse_discarding
from sqlwin.sql.windows.policy_clauses import (
    early_of,
    expired_of,
    ignores_of,
    is_emitted,
    late_of,
    refuse_retention,
    retain_of,
    rows_of,
    timeout_of,
)
from sqlwin.sql.windows.window import Window
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame


def policy(
    given: ast.Policies,
    length: int | None,
    lateness: int | None,
    grace: ast.Duration | None = None,
    early: Early | None = None,
) -> Policy:
    """length: of the window in event time, None where it has no bound. lateness: of its rows,
    as `facts.lateness` has it: what may still come may also be corrected.

    grace: ksqlDB's, which is RETAIN. early: what holds where the query says nothing of it.
    """
    refuse_discarding(given)
    retain = retain_of(given, grace)
    if retain is None and given.retain_rows is None and None not in (length, lateness):
        retain = max(length, lateness)  # type: ignore[type-var]
    return Policy(
        retain=retain,
        retain_rows=rows_of(given),
        timeout=timeout_of(given),
        ignores=ignores_of(given, grace),
        **early_of(given, early),
        **late_of(given),
        **expired_of(given),
    )


def final(
    given: ast.Policies,
    length: int | None,
    lateness: int | None,
    grace: ast.Duration | None = None,
) -> Policy:
    """As `policy`, where under FINAL what RETAIN or GRACE says holds the watermark back.

    A full window takes no row any more, so nothing is kept to correct one. length, lateness: for
    as long rows are kept for the sake of others; 0 where windows end whatever rows come.
    """
    if given.final is None:
        return policy(given, length, lateness, grace)
    hold = retain_of(given, grace)
    rules = policy(replace(given, retain=None), length, lateness)
    return replace(rules, hold=hold or 0)


def counted(given: ast.Policies, slides: bool) -> Policy:
    """Of a window in ROWS: what it holds is a matter of numbers, so LATE and a RETAIN of time are
    checked and have no effect.

    slides: each message fills a window, so that none is early and none waits.
    """
    if is_emitted(given.expired):
        message = "EXPIRED EMIT makes a session of an expired row, and in ROWS none expires"
        raise QueryError(message, given.expired.span, legal="EXPIRED EMIT of sessions of time")
    refuse_discarding(given)
    retain_of(given, None)
    late_of(given)
    soon = {"timeout": timeout_of(given), **early_of(given, None)}
    made = Policy(retain=0, retain_rows=rows_of(given), **expired_of(given))
    return made if slides else replace(made, **soon)


def by_order(given: ast.Policies, frame: Frame | None, lateness: int | None) -> Policy:
    """Of a window in ROWS over a result, whose rows are numbered by event time.

    frame: of a sliding one. lateness: as of `policy`.
    """
    if is_emitted(given.expired):
        message = "EXPIRED EMIT is of sessions of time, and these go by numbers of rows"
        raise QueryError(message, given.expired.span, legal="EXPIRED INTO errors, RETAIN of a time")
    if given.retain_rows is not None:
        message = "RETAIN n ROWS of a window in ROWS over a result, whose numbers change"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN of a time")
    return final(given, 0 if frame is None else extent_of([frame]), lateness)


def of_sessions(
    given: ast.Policies,
    gap: int,
    lateness: int | None,
    grace: ast.Duration | None,
) -> Policy:
    """gap: that ends them, 0 where each row has its own."""
    if not is_emitted(given.expired):
        return final(given, gap, lateness, grace)
    if given.retain_rows is not None:
        message = "EXPIRED EMIT goes with a retention of time: RETAIN counts no rows here"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN INTERVAL '1' HOUR")
    rules = policy(replace(given, expired=None), gap, lateness, grace)
    return replace(rules, expired=Expired.EMIT)


def queried(given: ast.Policies, window: Window, rules: Callable[[ast.Policies], Policy]) -> Policy:
    """With RETENTION: how long past its end a closed window can be queried.

    window: of time, whose GRACE PERIOD and RETENTION may be ksqlDB's. rules: the policy of what
    else is given. Where windows are kept as long to be corrected RETENTION says nothing more.
    """
    if given.retention is not None and window.retention is not None:
        message = "RETENTION is given twice"
        raise QueryError(message, given.retention.span, legal="either of them")
    clause = given.retention or window.retention
    if clause is not None:
        refuse_retention(clause, given, window.grace)
    made = rules(replace(given, retention=None))
    if clause is None or made.retain is None:
        return made
    kept = clause.micros - made.hold
    return replace(made, retention=kept) if kept > made.retain else made


def unending(given: ast.Policies) -> Policy:
    """Of what is full only at the end of input: each update is sent, if nothing else is said."""
    if given.early is not None and given.early.once:
        message = "EARLY … ONCE is of results that become full later, and these never do"
        raise QueryError(message, given.span, legal="EARLY EVERY INTERVAL '10' SECOND")
    return policy(given, None, None, early=Early.ON_UPDATE)


def extent_of(frames: Iterable[Frame]) -> int | None:
    """How far frames reach to either side in event time; None: without bound."""
    every = [frame.in_time for frame in frames]
    if any(None in (frame.preceding, frame.following) for frame in every):
        return None
    in_time = [frame for frame in every if frame.unit in (Unit.RANGE, Unit.SESSION)]
    return max((end or 0 for f in in_time for end in (f.preceding, f.following)), default=0)


def retains(given: ast.Policies) -> bool:
    """Whether a RETAIN is given."""
    return given.retain is not None or given.retain_rows is not None


def refuse_all(given: ast.Policies, why: str) -> None:
    """Policies of a query that has no window of its own."""
    if given.span is not None:
        raise QueryError(why, given.span, legal="EMIT and RETAIN beside a window")


# --- the fields ---------------------------------------------------------------------


def passing(given: ast.Policies) -> ast.Policies:
    """Of a join whose rows another operator takes in: as they come, kept as long."""
    emits = given.expired is not None and given.expired.how == "EMIT"
    return ast.Policies(
        retain=given.retain,
        retain_rows=given.retain_rows,
        expired=None if emits else given.expired,
        span=given.span,
    )
