"""DISCARDING: which windows may be emitted as deltas, each of what came since the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.policies import Policy
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window

GROUPED = "DISCARDING is of aggregates in windows of time, or without a window"
BARE = "DISCARDING is of aggregates, and without one there is nothing to add up"
RANKED = "DISCARDING is not of ranks: they are of all that a window holds"
LEGAL = "TUMBLE, HOP, CUMULATE or GROUP BY alone; EMIT without DISCARDING"


def refuse_discarding(given: ast.Policies, why: str = GROUPED) -> None:
    if given.discarding is not None:
        raise QueryError(why, given.discarding, legal=LEGAL)


def discarding(
    given: ast.Policies, window: Window, rules: Callable[[ast.Policies], Policy]
) -> Policy:
    """rules: the policy of what else is given."""
    if given.discarding is None:
        return rules(given)
    if window.session is not None:
        why = "they grow together, and what was sent of one is not taken back"
        refuse_discarding(given, f"DISCARDING is not of sessions: {why}")
    if window.group is None or window.counts:
        refuse_discarding(given)
    if window.only_on_update:
        why = "what comes before a window is there would wait for its last step to have a row"
        refuse_discarding(given, f"DISCARDING is not of CUMULATE with emitOnlyOnUpdate: {why}")
    if given.retain_rows is not None:
        message = (
            "RETAIN n ROWS counts the rows of a window, and DISCARDING keeps none that was sent"
        )
        raise QueryError(message, given.retain_rows.span, legal="RETAIN INTERVAL '1' HOUR")
    retention = given.retention or window.retention
    if retention is not None:
        message = "RETENTION keeps results to be queried, and DISCARDING keeps none that was sent"
        raise QueryError(message, retention.span, legal="RETAIN INTERVAL '1' HOUR")
    return replace(rules(replace(given, discarding=None)), discards=True)
