"""What a query may name: what is around it, and the common table expressions of its WITH.

Invariant: each is bound when it is declared and knows those before it alone; the EARLY and the
longest RETAIN of the queries around it hold for all that they name.
"""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.sql.sources.known import Bind, Known, View
from sqlwin.sql.text import ast


def with_ctes(select: ast.Select, known: Known, bind: Bind) -> Known:
    """What the query may name: its common table expressions, too."""
    known = known.inner()
    known.early = known.early or _early(select.policies)
    known.retain = max(known.retain, _retain(select.policies))
    for at, (name, cte) in enumerate(select.ctes):
        if name.text.lower() in [other.text.lower() for other, _ in select.ctes[:at]]:
            message = f"two queries of this WITH are called {name.text}"
            raise QueryError(message, name.span, legal="another name")
        known.views[name.text.lower()] = View.of(name, cte, known, bind)
        known.relation(name)
    return known


def _early(given: ast.Policies) -> bool:
    return given.early is not None or given.changes is not None


def _retain(given: ast.Policies) -> int:
    return 0 if given.retain is None else given.retain.micros
