"""The clauses after FROM: each at most once, those of SQL in SQL's order.

EMIT, RETAIN and EXPIRED come last, in any order among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlwin.errors import QueryError, Span
from sqlwin.sql import ast

ORDER = ("WHERE", "GROUP BY", "HAVING", "QUALIFY", "WINDOW")
POLICIES = ("EMIT", "RETAIN", "EXPIRED")
LEGAL_ORDER = "WHERE, GROUP BY, HAVING, WINDOW, then EMIT, RETAIN and EXPIRED in any order"


@dataclass(frozen=True)
class Clause:
    """word: as in a query. value: what the rules below it made."""

    word: str
    value: Any
    span: Span


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
    return ORDER.index(word) if word in ORDER else len(ORDER)


def policies(clauses: dict[str, Clause]) -> ast.Policies:
    given = [clauses[word] for word in POLICIES if word in clauses]
    if not given:
        return ast.Policies()
    items = [item for clause in given for item in clause.value]
    once(items)
    refused = tuple(item.value for item in items if isinstance(item.value, ast.Name))
    by_word = {item.word: item for item in items if not isinstance(item.value, ast.Name)}
    full = by_word.get("ON CLOSE")
    final = by_word.get("FINAL")
    late = by_word.get("LATE")
    if final is not None and late is not None:
        message = "EMIT FINAL and EMIT ON WINDOW CLOSE send nothing late; LATE contradicts them"
        raise QueryError(message, late.span, legal="EMIT ON CLOSE LATE …, or EMIT FINAL alone")
    return ast.Policies(
        late=late.value if late else None,
        on_close=full.span if full else None,
        final=final.span if final else None,
        retain=by_word["RETAIN"].value if "RETAIN" in by_word else None,
        refused=refused,
        span=given[0].span,
    )


def once(items: Sequence[Clause]) -> None:
    words: set[str] = set()
    for item in items:
        if item.word in words:
            raise QueryError(f"{item.word} is given twice", item.span, legal="once")
        words.add(item.word)
