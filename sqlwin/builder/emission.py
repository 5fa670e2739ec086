"""The clauses EMIT, RETAIN and EXPIRED.

>>> emission(early="10 seconds", late="on update")
"EMIT EARLY EVERY INTERVAL '10 seconds' LATE ON UPDATE"
>>> emission(early="10 seconds", early_rows=100, once=True)
"EMIT EARLY EVERY INTERVAL '10 seconds' OR 100 ROWS ONCE"
>>> emission(changes=True, discarding=True)
'EMIT CHANGES DISCARDING'
>>> emission(final=True)
'EMIT FINAL'
"""

from __future__ import annotations

from sqlwin.builder.text import Duration, duration, name, rows
from sqlwin.errors import InputError

ON_UPDATE, NEVER = "on update", "never"


def emission(
    early: Duration | int | None = None,
    late: Duration | None = None,
    on_close: bool = False,
    timeout: Duration | None = None,
    final: bool = False,
    changes: bool = False,
    early_rows: int | None = None,
    once: bool = False,
    discarding: bool = False,
) -> str:
    """See `QueryBuilder.emit`."""
    if early is None and (early_rows is not None or once):
        raise InputError("early_rows and once go with early: emit(early='10 seconds', once=True)")
    parts = [] if early is None else [f"EARLY {_when(early)}"]
    parts += [] if early_rows is None else [f"OR {rows(early_rows)}"]
    parts += ["ONCE"] * once
    if on_close or timeout is not None:
        parts.append("ON CLOSE")
    if timeout is not None:
        parts.append(f"TIMEOUT {duration(timeout)}")
    if late is not None:
        parts.append("LATE NEVER" if _is(late, NEVER) else f"LATE {_when(late)}")
    parts += ["FINAL"] * final + ["CHANGES"] * changes + ["DISCARDING"] * discarding
    if not parts:
        raise InputError("emit says when: early=…, late=…, timeout=…, final=True or changes=True")
    return f"EMIT {' '.join(parts)}"


def _when(every: Duration | int) -> str:
    if isinstance(every, int):
        return f"EVERY {rows(every)}"
    return "ON UPDATE" if _is(every, ON_UPDATE) else f"EVERY {duration(every)}"


def _is(given: Duration, word: str) -> bool:
    return isinstance(given, str) and given.lower() == word


def retained(length: Duration | None, count: int | None) -> str:
    """See `QueryBuilder.retain`."""
    kept = [] if length is None else [duration(length)]
    kept += [] if count is None else [rows(count)]
    if not kept:
        raise InputError("retain says how long: retain('1 hour') or retain(rows=100)")
    return f"RETAIN {' OR '.join(kept)}"


def expiry(do: str | None, into: str | None) -> str:
    """See `QueryBuilder.expired`."""
    if (do is None) == (into is None) or do not in (None, "emit", "count"):
        raise InputError("expired says one thing: 'emit', 'count' or into='a sink'")
    return f"EXPIRED {do.upper()}" if do else f"EXPIRED INTO {name(str(into))}"
