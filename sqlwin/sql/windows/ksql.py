"""ksqlDB's windows: `WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 1 MINUTE, GRACE PERIOD 2 HOURS)`."""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.sql.text import ast
from sqlwin.sql.windows.sessions import session
from sqlwin.sql.windows.window import Window, hop
from sqlwin.windows import Unit

_LEGAL = {
    "TUMBLING": "(SIZE 1 HOUR)",
    "HOPPING": "(SIZE 1 HOUR, ADVANCE BY 10 MINUTES)",
    "SESSION": "(60 SECONDS), (60 SECONDS, RETENTION 1 DAY, GRACE PERIOD 2 HOURS)",
}


def of_ksql(window: ast.KsqlWindow) -> Window:
    parts = dict(window.parts)
    grace, retention = parts.get("GRACE PERIOD"), parts.get("RETENTION")
    if window.kind == "SESSION":
        made = session(ast.SessionSpec(_gap(window, parts), window.span))
        return Window(window.span, group=made, grace=grace, retention=retention, keyed=True)
    size, advance = parts.get("SIZE"), parts.get("ADVANCE BY")
    tumbling = window.kind == "TUMBLING"
    if size is None or tumbling == (advance is not None):
        raise _needs(window, "SIZE" if tumbling else "SIZE and ADVANCE BY")
    if "GAP" in parts:
        message = f"WINDOW {window.kind} has a duration with no word before it"
        raise QueryError(message, parts["GAP"].span, legal=_LEGAL[window.kind])
    step = advance.micros if advance else size.micros
    group = hop(size.micros, step, window.span, Unit.RANGE)
    return Window(window.span, group=group, grace=grace, retention=retention)


def _gap(window: ast.KsqlWindow, parts: dict[str, ast.Duration]) -> ast.Duration:
    """Sessions are as long as they last: ksqlDB takes the gap alone."""
    for word in ("SIZE", "ADVANCE BY"):
        if word in parts:
            message = f"WINDOW SESSION takes its gap and no {word}"
            raise QueryError(message, parts[word].span, legal=_LEGAL["SESSION"])
    if "GAP" not in parts:
        raise _needs(window, "its gap")
    return parts["GAP"]


def _needs(window: ast.KsqlWindow, what: str) -> QueryError:
    legal = _LEGAL[window.kind]
    return QueryError(f"WINDOW {window.kind} needs {what}", window.span, legal=legal)
