"""What a sink can hold, and what a query sends it.

| `changelog` | takes | each row with |
|---|---|---|
| `append` | rows that stay as they are; other queries are refused | no more columns |
| `upsert` | the new row in place of the old: `+I`, `+U`, `-D` | op, emit, revision, row_key |
| `retract` | both halves of a change, `-U` before `+U` | the same |
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.facts import changing, operator_of, streams_of, window_policy
from sqlwin.plan.nodes import Join, Node, WindowAggregate
from sqlwin.policies import Late
from sqlwin.windows import Session

CHANGELOGS = ("append", "upsert", "retract")


def why_changing(plan: Node) -> str:
    """What makes results of a plan change, of a plan where they do; the first of the reasons."""
    return next(_reasons(plan))


def _reasons(plan: Node) -> Iterator[str]:
    for stream in streams_of(plan):
        if any(changing(below) for below in stream.of):
            yield f"results below {stream.name} change"
    found, policy = operator_of(plan), window_policy(plan)
    assert found is not None and policy is not None
    if isinstance(found, Join):
        yield "a row may find a match, or a nearer one, after it was sent"
    if policy.early is not None:
        yield "early results are replaced by later ones"
    if policy.timeout is not None:
        yield "rows may come after a TIMEOUT"
    if policy.late is not Late.NEVER:
        yield "late rows correct it"
    assert isinstance(found, WindowAggregate) and isinstance(found.window, Session)
    yield "sessions grow together"
