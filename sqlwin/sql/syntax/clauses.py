"""The clauses after FROM: each at most once, those of SQL in SQL's order.

EMIT, RETAIN, RETENTION and EXPIRED come last, in any order among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.text import ast

ORDER = {
    "WHERE": 0,
    "GROUP BY": 1,
    "HAVING": 2,
    "QUALIFY": 3,
    "WINDOW": 3,
    "ORDER BY": 4,
    "LIMIT": 5,
}
"""QUALIFY and WINDOW stand in either order, for engines differ."""
POLICIES = ("EMIT", "RETAIN", "RETENTION", "EXPIRED")
LEGAL_ORDER = (
    "WHERE, GROUP BY, HAVING, QUALIFY, WINDOW, ORDER BY, LIMIT,"
    " then EMIT, RETAIN, RETENTION and EXPIRED in any order"
)


@dataclass(frozen=True)
class Clause:
    """word: as in a query. value: what the rules below it made. columns: names of an alias."""

    word: str
    value: Any
    span: Span
    columns: tuple[ast.Name, ...] = ()


def in_order(clauses: Sequence[Clause]) -> dict[str, Clause]:
    """The clauses by their words."""
    seen: dict[str, Clause] = {}
    for clause in clauses:
        if clause.word in ("LATE", "EARLY"):
            message = f"{clause.word} is a part of EMIT"
            raise QueryError(message, clause.span, legal=f"EMIT {clause.word} …")
        if clause.word in seen:
            raise QueryError(f"{clause.word} is given twice", clause.span, legal="once")
        after = next((word for word in seen if _rank(word) > _rank(clause.word)), None)
        if after is not None:
            message = f"{clause.word} must come before {after}"
            raise QueryError(message, clause.span, legal=LEGAL_ORDER)
        seen[clause.word] = clause
    return seen


def _rank(word: str) -> int:
    return ORDER.get(word, len(ORDER))


def policies(clauses: dict[str, Clause]) -> ast.Policies:
    given = [clauses[word] for word in POLICIES if word in clauses]
    items = [item for clause in given for item in clause.value]
    once(items)
    by_word = {item.word: item for item in items}
    _refuse_contradictions(by_word)
    value = {word: item.value for word, item in by_word.items()}
    span = {word: item.span for word, item in by_word.items()}
    retained = value.get("RETAIN", ())
    return ast.Policies(
        early=value.get("EARLY"),
        late=value.get("LATE"),
        on_close=span.get("ON CLOSE"),
        timeout=value.get("ON CLOSE") or value.get("FINAL"),
        changes=span.get("CHANGES"),
        as_relation=value.get("CHANGES", False),
        final=span.get("FINAL"),
        discarding=span.get("DISCARDING"),
        retain=next((k for k in retained if isinstance(k, ast.Duration)), None),
        retain_rows=next((k for k in retained if isinstance(k, ast.Count)), None),
        retention=value.get("RETENTION"),
        expired=value.get("EXPIRED"),
        span=given[0].span if given else None,
    )


_CONTRADICTIONS = (
    (
        "FINAL",
        "EARLY",
        "EMIT FINAL and EMIT ON WINDOW CLOSE send nothing early; EARLY contradicts them",
        "EMIT EARLY … ON CLOSE, or EMIT FINAL alone",
    ),
    (
        "FINAL",
        "LATE",
        "EMIT FINAL and EMIT ON WINDOW CLOSE send nothing late; LATE contradicts them",
        "EMIT ON CLOSE LATE …, or EMIT FINAL alone",
    ),
    (
        "CHANGES",
        "FINAL",
        "EMIT CHANGES sends every change, EMIT FINAL only full windows",
        "either of them",
    ),
    (
        "CHANGES",
        "EARLY",
        "EMIT CHANGES is EARLY ON UPDATE and LATE ON UPDATE; EARLY says it again",
        "EMIT CHANGES, or EMIT EARLY … LATE ON UPDATE",
    ),
    (
        "CHANGES",
        "LATE",
        "EMIT CHANGES is EARLY ON UPDATE and LATE ON UPDATE; LATE says it again",
        "EMIT CHANGES, or EMIT EARLY ON UPDATE LATE …",
    ),
    (
        "FINAL",
        "DISCARDING",
        "EMIT FINAL sends each window once, so nothing of it is sent before to be discarded",
        "EMIT FINAL, or EMIT EARLY … DISCARDING",
    ),
    (
        "DISCARDING",
        "ACCUMULATING",
        "an emission holds what came since the last, DISCARDING, or all, ACCUMULATING",
        "either of them",
    ),
)


def _refuse_contradictions(given: dict[str, Clause]) -> None:
    for one, other, message, legal in _CONTRADICTIONS:
        if one in given and other in given:
            raise QueryError(message, given[other].span, legal=legal)


def once(items: Sequence[Clause]) -> None:
    words: set[str] = set()
    for item in items:
        if item.word in words:
            raise QueryError(f"{item.word} is given twice", item.span, legal="once")
        words.add(item.word)
