"""The policy of a join, by what its inputs are: refused where they cannot keep it.

Invariant: with the policy no row is looked up in a static table that has become another, evicted by
a time that it does not have, or retracted though it was not kept.
"""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Node
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.plan.properties.changelog import changing, corrected, lateness
from sqlwin.plan.properties.facts import spanned, streams_of
from sqlwin.policies import Expired, Policy
from sqlwin.sql.joins.policies import Match, of_join
from sqlwin.sql.joins.tree import Pair
from sqlwin.sql.text import ast
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow


def policy_of(
    pair: Pair,
    given: ast.Policies,
    below: tuple[Node, Node],
    match: Match,
    static: bool,
) -> Policy:
    rows = isinstance(match, JoinWindow | JoinSessions) and match.unit is Unit.ROWS
    streams = [stream for node in below for stream in streams_of(node)]
    results = [stream for stream in streams if stream.of and not spanned(stream)]
    ordered = rows and bool(results)
    every = [lateness(stream) for stream in (results if ordered else streams)]
    latest = None if None in every else max(late for late in every if late is not None)
    if static:
        _refuse_late(given, below[0])
        _refuse_reloaded(pair, below)
    waits = not static and (isinstance(match, AsOf) or pair.kind not in ("inner", "semi"))
    made = of_join(given, None if static else match, latest, pair.grace, waits, ordered)
    if made.retain_rows is not None:
        _refuse_rows(given, below, match)
    if made.expired is Expired.EMIT:
        _refuse_changing(given, below)
    return made


def _refuse_late(given: ast.Policies, left: Node) -> None:
    """QueryError where LATE would say when to send what is corrected below."""
    found = corrected(left)
    if given.late is not None and found:
        name = found[0].name
        message = (
            f"rows of {name} are corrected, and this join sends each correction on as it comes"
        )
        legal = f"EMIT LATE … in {name}, as a view or a query in FROM"
        raise QueryError(message, given.late.span, legal=legal)


def _refuse_reloaded(pair: Pair, below: tuple[Node, Node]) -> None:
    """QueryError where a row may be retracted, which would look up another version."""
    (table,) = streams_of(below[1])
    if RELOAD in dict(table.options) and changing(below[0]):
        message = (
            f"{table.name} is read again, and rows of the left may be retracted: "
            f"the table would no longer say what they were joined with"
        )
        raise QueryError(message, pair.word.span, legal=f"{table.name} without '{RELOAD}'")


def _refuse_changing(given: ast.Policies, below: tuple[Node, Node]) -> None:
    """QueryError where an expired row may be retracted, which is not stored."""
    if any(changing(node) for node in below):
        message = "EXPIRED EMIT of an input whose rows may be retracted: an expired one is not kept"
        span = given.expired.span if given.expired else None
        raise QueryError(message, span, legal="EXPIRED INTO errors, RETAIN of a longer time")


def _refuse_rows(given: ast.Policies, below: tuple[Node, Node], match: Match) -> None:
    """QueryError where RETAIN n ROWS would ask for the newest rows of what has no time, or for a
    nearest row that was evicted for one that is retracted."""
    if given.retain_rows is None:
        return
    untimed = [s.name for node in below for s in streams_of(node) if s.ts is None]
    if untimed:
        message = f"RETAIN n ROWS keeps the newest rows, and {untimed[0]} has no event time"
        legal = "RETAIN 1 HOUR, or bounds of both event times in the join before it"
        raise QueryError(message, given.retain_rows.span, legal=legal)
    if isinstance(match, AsOf) and any(changing(node) for node in below):
        message = (
            "RETAIN n ROWS of an ASOF JOIN, of rows that may be retracted: one that was evicted"
            " would be the nearest again"
        )
        raise QueryError(message, given.retain_rows.span, legal="RETAIN INTERVAL '1' HOUR")
