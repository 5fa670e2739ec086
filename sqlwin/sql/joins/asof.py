"""ASOF joins: which of the rows before, or after, is the one.

The time on the left is then the event time of left rows: what joins before this one
gave is a stream by it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.errors import QueryError
from sqlwin.sql.joins.time_bounds import Compared, compared
from sqlwin.sql.joins.tree import Pair, Term
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.text import ast

LEGAL = "ASOF JOIN b MATCH_CONDITION (a.ts >= b.ts) ON a.id = b.id"
_OPS = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
"""Of `right - left op 0`: what stands between left and right."""


def nearest_by(
    pair: Pair, match: Sequence[Term] | None, on: Sequence[Term]
) -> tuple[str, list[Term]]:
    """How the times are compared, by MATCH_CONDITION or else in ON, and what else ON says."""
    given = on if match is None else match
    found = [(term, _compared(pair, term)) for term in given]
    times = [(term, made) for term, made in found if made is not None]
    if match is not None and len(match) != 1:
        message = "MATCH_CONDITION is one comparison"
        raise QueryError(message, match[0].run.span, legal=LEGAL)
    if not times:
        span = pair.word.span if match is None else match[0].run.span
        what = "ASOF JOIN needs" if match is None else "MATCH_CONDITION is"
        raise QueryError(f"{what} a comparison of both event times", span, legal=LEGAL)
    term, made = times[0]
    if made.op not in _OPS or made.by:
        message = "an ASOF join compares the two event times by >=, >, <= or <"
        raise QueryError(message, term.span, legal=LEGAL)
    pair.event_time = ast.Name(made.left, term.span)
    return _OPS[made.op], [other for other in on if other is not term]


def version_of(pair: Pair, scope: Scope, as_of: ast.Name) -> str | None:
    """FOR SYSTEM_TIME AS OF: the newest version of a key that is not newer than the row.

    None for a static table, which has one version.
    """
    if as_of.text == ast.NOW:
        _as_of_now(pair, as_of)
        return None
    run = ast.Run(as_of.text, as_of.text, as_of.span)
    tree = scope.resolved(scope.dotted(as_of.text), run)
    if pair.right.input.static:
        return None
    times = [leaf.input.ts for leaf in pair.left.leaves]
    name = scope.relation.below(tree).name
    if name not in times:
        message = f"FOR SYSTEM_TIME AS OF names an event time, which {as_of.text} is not"
        raise QueryError(message, as_of.span, legal=", ".join(time for time in times if time))
    pair.event_time = ast.Name(name, as_of.span)
    return ">="


def _as_of_now(pair: Pair, call: ast.Name) -> None:
    """As of processing time a static table is looked up, and nothing that changes row by row."""
    if not pair.right.input.static:
        message = (
            f"{pair.right.input.side.name} is no static table, and its versions go by an event time"
        )
        legal = "JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency"
        raise QueryError(message, call.span, legal=legal)


def _compared(pair: Pair, term: Term) -> Compared | None:
    right = pair.right.input.ts
    lefts = [leaf.input.ts for leaf in pair.left.leaves if leaf.input.ts is not None]
    return None if right is None else compared(term.tree, lefts, (right,))
