"""EMIT, RETAIN, RETENTION and EXPIRED to a plan's Policy.

Each kind of window has a function of its own, for their defaults differ: `policy` for
windows of event time, `of_sessions` for sessions of it, `counted` for windows of
messages, `unending` for what has no window, or one that only the end of input closes;
those of joins are in `join_policies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeGuard

from sqlwin.errors import QueryError
from sqlwin.policies import Early, Expired, Late, Policy
from sqlwin.sql.text import ast
from sqlwin.sql.windows.discarding import refuse_discarding
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
    retain = _retain(given, grace)
    if retain is None and given.retain_rows is None and None not in (length, lateness):
        retain = max(length, lateness)  # type: ignore[type-var]
    return Policy(
        retain=retain,
        retain_rows=_rows(given),
        timeout=_timeout(given),
        ignores=_ignores(given, grace),
        **_early(given, early),
        **_late(given),
        **_expired(given),
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
    hold = _retain(given, grace)
    rules = policy(replace(given, retain=None), length, lateness)
    return replace(rules, hold=hold or 0)


def counted(given: ast.Policies, slides: bool) -> Policy:
    """Of a window in ROWS: what it holds is a matter of numbers, so LATE and a RETAIN of time are
    checked and have no effect.

    slides: each message fills a window, so that none is early and none waits.
    """
    if _emits(given.expired):
        message = "EXPIRED EMIT makes a session of an expired row, and in ROWS none expires"
        raise QueryError(message, given.expired.span, legal="EXPIRED EMIT of sessions of time")
    refuse_discarding(given)
    _retain(given, None)
    _late(given)
    soon = {"timeout": _timeout(given), **_early(given, None)}
    made = Policy(retain=0, retain_rows=_rows(given), **_expired(given))
    return made if slides else replace(made, **soon)


def by_order(given: ast.Policies, frame: Frame | None, lateness: int | None) -> Policy:
    """Of a window in ROWS over a result, whose rows are numbered by event time.

    frame: of a sliding one. lateness: as of `policy`.
    """
    if _emits(given.expired):
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
    if not _emits(given.expired):
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
        _refuse_retention(clause, given, window.grace)
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


def emits(given: ast.Policies) -> bool:
    """Whether an EMIT is given."""
    clause = (given.early, given.late, given.on_close, given.timeout, given.changes, given.final)
    return any(part is not None for part in (*clause, given.discarding))


def retains(given: ast.Policies) -> bool:
    """Whether a RETAIN is given."""
    return given.retain is not None or given.retain_rows is not None


def refuse_all(given: ast.Policies, why: str) -> None:
    """Policies of a query that has no window of its own."""
    if given.span is not None:
        raise QueryError(why, given.span, legal="EMIT and RETAIN beside a window")


# --- the fields ---------------------------------------------------------------------


def _early(given: ast.Policies, default: Early | None) -> dict[str, Any]:
    """ON CLOSE and FINAL, where EARLY does not stand beside them, mean nothing before it."""
    clause = given.early
    if clause is None:
        if given.changes is not None:
            default = Early.ON_UPDATE
        elif given.on_close is not None or given.final is not None:
            default = None
        return {"early": default}
    made: dict[str, Any] = {"early": Early.ON_UPDATE, "early_once": clause.once}
    if clause.rows is not None:
        if clause.rows.rows < 1:
            message = "EARLY EVERY n ROWS needs at least 1"
            raise QueryError(message, clause.rows.span, legal="EARLY EVERY 100 ROWS")
        made |= {"early": Early.ROWS, "early_rows": clause.rows.rows}
    if clause.every is not None:
        period = _period("EARLY EVERY", clause.every, "EARLY ON UPDATE")
        made |= {"early": Early.EVERY, "early_period": period}
    return made


def _ignores(given: ast.Policies, grace: ast.Duration | None) -> bool:
    """Whether rows within a RETAIN that is given correct nothing."""
    never = given.late is not None and _late(given)["late"] is Late.NEVER
    return never and given.final is None and (given.retain is not None or grace is not None)


def _late(given: ast.Policies) -> dict[str, Any]:
    if given.final is not None:
        return {"late": Late.NEVER}
    if given.changes is not None:
        return {"late": Late.ON_UPDATE}
    if given.late is None:
        return {"late": Late.EVERY}
    if given.late.every is None:
        return {"late": Late(given.late.how.lower())}
    period = _period("LATE EVERY", given.late.every, "LATE ON UPDATE")
    return {"late": Late.EVERY, "late_period": period}


def _timeout(given: ast.Policies) -> int | None:
    if given.timeout is None:
        return None
    return _period("TIMEOUT", given.timeout, "ON CLOSE TIMEOUT INTERVAL '1' MINUTE")


def _period(what: str, clause: ast.Duration, legal: str) -> int:
    if clause.micros <= 0:
        raise QueryError(f"{what} takes a duration greater than 0", clause.span, legal=legal)
    return clause.micros


def _rows(given: ast.Policies) -> int | None:
    if given.retain_rows is None:
        return None
    if given.retain_rows.rows < 1:
        message = "RETAIN n ROWS needs at least 1"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN 100000 ROWS")
    return given.retain_rows.rows


def _retain(given: ast.Policies, grace: ast.Duration | None) -> int | None:
    if given.retention is not None:
        message = "RETENTION says how long a closed window can be queried, and none closes here"
        legal = "RETENTION of tumbling, hopping and cumulating windows and sessions, in time"
        raise QueryError(message, given.retention.span, legal=legal)
    if given.retain is not None and grace is not None:
        message = "GRACE PERIOD and RETAIN are one thing"
        raise QueryError(message, given.retain.span, legal="either of them")
    clause = given.retain or grace
    if clause is not None and clause.micros < 0:
        raise QueryError(
            "RETAIN takes a duration of at least 0", clause.span, legal="RETAIN 1 HOUR"
        )
    return clause.micros if clause else None


def _refuse_retention(
    clause: ast.Duration, given: ast.Policies, grace: ast.Duration | None
) -> None:
    counted = given.retain or grace
    if clause.micros < (counted.micros if counted else 0):
        word = "GRACE PERIOD" if grace else "RETAIN"
        message = f"RETENTION is shorter than the {word}: a window would go while rows may come"
        raise QueryError(message, clause.span, legal=f"RETENTION at least the {word}")
    if given.retain_rows is not None:
        message = "RETENTION is a time, and RETAIN n ROWS evicts windows by rows"
        raise QueryError(message, clause.span, legal="RETENTION with RETAIN of a time")


def _emits(clause: ast.Expired | None) -> TypeGuard[ast.Expired]:
    return clause is not None and clause.how == "EMIT"


def _expired(given: ast.Policies) -> dict[str, Any]:
    clause = given.expired
    if clause is None:
        return {}
    if _emits(clause):
        message = "EXPIRED EMIT makes a session of a row; this window is no session"
        raise QueryError(message, clause.span, legal="EXPIRED INTO errors, EXPIRED COUNT")
    if clause.into is None:
        return {"expired": Expired.COUNT}
    return {"expired": Expired.STREAM, "errors": clause.into.text}


def passing(given: ast.Policies) -> ast.Policies:
    """Of a join whose rows another operator takes in: as they come, kept as long."""
    emits = given.expired is not None and given.expired.how == "EMIT"
    return ast.Policies(
        retain=given.retain,
        retain_rows=given.retain_rows,
        expired=None if emits else given.expired,
        span=given.span,
    )
