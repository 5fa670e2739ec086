"""The changelog modes of sinks, and which one a query needs.

| `changelog` | takes | each row with |
|---|---|---|
| `append` | rows that stay as they are; other queries are refused | no more columns |
| `upsert` | the new row in place of the old: `+I`, `+U`, `-D` | op, emit, revision, row_key |
| `retract` | both halves of a change, `-U` before `+U` | the same |

Whether results are append-only is not whether rows have weights (`facts.changing`): a window
that is emitted once, when it is full, is never updated, however its input is corrected. Nor is
a group without an aggregate: `SELECT DISTINCT` emits a row when it first comes, and a row that
comes again changes no column.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.ir.nodes import (
    Join,
    Node,
    Scan,
    StaticScan,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.plan.ir.once import from_below
from sqlwin.plan.properties.changelog import revises
from sqlwin.plan.properties.facts import (
    arriving,
    below_of,
    counts,
    operator_of,
    streams_of,
    unranked,
    window_policy,
)
from sqlwin.policies import Late
from sqlwin.windows import Unit
from sqlwin.windows.group import Whole
from sqlwin.windows.session import Session

CHANGELOGS = ("append", "upsert", "retract")
FINAL = "EMIT FINAL, which sends full windows once"


@from_below(below_of)
def changes(plan: Node) -> bool:
    """Whether a result that was sent may be retracted or replaced."""
    if _revises(plan):
        return True
    if isinstance(plan, Scan) and plan.stream.change is not None:
        return False
    if isinstance(plan, StaticScan):
        return False
    return not _told_once(plan) and any(changes(below) for below in below_of(plan))


def _revises(plan: Node) -> bool:
    """Whether its topmost node updates or retracts what it has emitted, by itself."""
    if isinstance(plan, WindowRank):
        return revises(plan.input)  # a late row changes others' ranks
    return revises(plan) and not _only_keys(plan)


def _only_keys(plan: Node) -> bool:
    """Groups without an aggregate, which stay where they are: `SELECT DISTINCT`, rows of windows.

    Sessions move as they merge, and so do windows in ROWS of results, which are numbered anew.
    """
    if not isinstance(plan, WindowAggregate) or plan.aggregates:
        return False
    return not isinstance(plan.window, Session) and (not counts(plan) or arriving(plan))


def _told_once(plan: Node) -> bool:
    """Whether each window goes out at one watermark and never again: windows of time, aligned."""
    if not isinstance(plan, WindowAggregate) or isinstance(plan.window, Session):
        return False
    return not revises(plan) and (isinstance(plan.window, Whole) or plan.window.unit is Unit.RANGE)


def why_changing(plan: Node) -> tuple[str, str]:
    """What makes results of a plan change, of a plan where they do, and what would mend it.

    The first of the reasons; the second text is empty where nothing would.
    """
    return next(_reasons(plan))


def _reasons(plan: Node) -> Iterator[tuple[str, str]]:
    found, policy = operator_of(plan), window_policy(plan)
    own = found if found is None or isinstance(found, Join) else unranked(found)
    if isinstance(own, WindowedRelation) and not own.instants:
        yield "rows leave its window", "ISTREAM(SELECT …), which has what enters"
    if found is None or own is None or policy is None or not _revises(found):
        stream, made = next(
            (s, made)
            for s in streams_of(plan)
            for made in s.of
            if changes(Scan(s)) and changes(made)
        )
        mended = why_changing(made)[1] and f"EMIT FINAL in {stream.name}"
        yield f"results below {stream.name} change", mended
        return
    if isinstance(own, Join):
        yield "a row may find a match, or a nearer one, after it was sent", FINAL
    if policy.early is not None:
        yield "early results are replaced by later ones", FINAL
    if policy.timeout is not None:
        yield "rows may come after a TIMEOUT", FINAL
    if policy.late is not Late.NEVER:
        yield "late rows correct it", FINAL
    yield "sessions grow together", ""
