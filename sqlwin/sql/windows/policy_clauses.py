"""Each clause of a policy by itself: EMIT EARLY, EMIT LATE, TIMEOUT, RETAIN, EXPIRED.

Invariant: a clause is read, or refused, as it stands; what a window admits says `policies`.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from sqlwin.errors import QueryError
from sqlwin.policies import Early, Expired, Late
from sqlwin.sql.text import ast


def emits(given: ast.Policies) -> bool:
    """Whether an EMIT is given."""
    clause = (given.early, given.late, given.on_close, given.timeout, given.changes, given.final)
    return any(part is not None for part in (*clause, given.discarding))


def early_of(given: ast.Policies, default: Early | None) -> dict[str, Any]:
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


def ignores_of(given: ast.Policies, grace: ast.Duration | None) -> bool:
    """Whether rows within a RETAIN that is given correct nothing."""
    never = given.late is not None and late_of(given)["late"] is Late.NEVER
    return never and given.final is None and (given.retain is not None or grace is not None)


def late_of(given: ast.Policies) -> dict[str, Any]:
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


def timeout_of(given: ast.Policies) -> int | None:
    if given.timeout is None:
        return None
    return _period("TIMEOUT", given.timeout, "ON CLOSE TIMEOUT INTERVAL '1' MINUTE")


def _period(what: str, clause: ast.Duration, legal: str) -> int:
    if clause.micros <= 0:
        raise QueryError(f"{what} takes a duration greater than 0", clause.span, legal=legal)
    return clause.micros


def rows_of(given: ast.Policies) -> int | None:
    if given.retain_rows is None:
        return None
    if given.retain_rows.rows < 1:
        message = "RETAIN n ROWS needs at least 1"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN 100000 ROWS")
    return given.retain_rows.rows


def retain_of(given: ast.Policies, grace: ast.Duration | None) -> int | None:
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


def refuse_retention(clause: ast.Duration, given: ast.Policies, grace: ast.Duration | None) -> None:
    counted = given.retain or grace
    if clause.micros < (counted.micros if counted else 0):
        word = "GRACE PERIOD" if grace else "RETAIN"
        message = f"RETENTION is shorter than the {word}: a window would go while rows may come"
        raise QueryError(message, clause.span, legal=f"RETENTION at least the {word}")
    if given.retain_rows is not None:
        message = "RETENTION is a time, and RETAIN n ROWS evicts windows by rows"
        raise QueryError(message, clause.span, legal="RETENTION with RETAIN of a time")


def is_emitted(clause: ast.Expired | None) -> TypeGuard[ast.Expired]:
    return clause is not None and clause.how == "EMIT"


def expired_of(given: ast.Policies) -> dict[str, Any]:
    clause = given.expired
    if clause is None:
        return {}
    if is_emitted(clause):
        message = "EXPIRED EMIT makes a session of a row; this window is no session"
        raise QueryError(message, clause.span, legal="EXPIRED INTO errors, EXPIRED COUNT")
    if clause.into is None:
        return {"expired": Expired.COUNT}
    return {"expired": Expired.STREAM, "errors": clause.into.text}
