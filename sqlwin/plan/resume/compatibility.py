"""Whether a query may go on from the state of another, which its text was before.

State depends on everything below and in the window; what is above it is computed of each
result as it goes out, and what a sink does with it is the sink's. docs/checkpoints.md has
the table. A filter above the window may change only where no result is ever corrected: of a
correction it says what becomes of the row before, which another filter had sent, or had not.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.instants import START
from sqlwin.plan.ir.nodes import Join, Node, Scan, StaticScan, WindowAggregate
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.options.sinks import changes, why_changing
from sqlwin.plan.options.tuning import tunes
from sqlwin.plan.properties.facts import (
    operator_of,
    plans_of,
    window_of,
    window_policy,
    with_policy,
)
from sqlwin.plan.resume.differences import difference, taken_apart
from sqlwin.policies import Expired, Policy
from sqlwin.windows import Unit
from sqlwin.windows.group import Ending


def why_not(was: Query, now: Query) -> str | None:
    """The first difference that the state of `was` does not allow; None: `now` can go on."""
    return difference(_core(was), _core(now), "the query") or _above(was, now)


def _core(query: Query) -> Node:
    """What state depends on, the rest as if it were not there."""
    below = _untuned(taken_apart(query.plan)[0])
    if operator_of(query.plan) is None:
        return below
    return with_policy(below, lambda _, policy: _bare(policy, retention_may_change(query.plan)))


def _untuned(plan: Node) -> Node:
    """Without the options of sources that do not say which rows there are."""
    if isinstance(plan, Scan | StaticScan):
        stream = plan.stream
        options = tuple(each for each in stream.options if not tunes(each[0]))
        below = tuple(_untuned(each) for each in stream.of)
        return replace(plan, stream=replace(stream, options=options, of=below))
    if isinstance(plan, Join):
        return replace(plan, left=_untuned(plan.left), right=_untuned(plan.right))
    return replace(plan, input=_untuned(plan.input))  # type: ignore[arg-type]


def _bare(policy: Policy, retention: bool) -> Policy:
    policy = replace(policy, errors=None, ttl=None, right_ttl=None)  # a TTL has tables of its own
    policy = replace(policy, retain=0) if retention else policy
    return policy if policy.expired is Expired.EMIT else replace(policy, expired=Expired.STREAM)


def retention_may_change(plan: Node) -> bool:
    """Whether RETAIN may: of windows of time over a declared stream, which know by their
    stores how far they have retired."""
    window = window_of(plan)
    return (
        isinstance(window, WindowAggregate)
        and isinstance(window.window, Ending)
        and window.window.unit is Unit.RANGE
        and window.policy.retain is not None
        and (window.policy.retain_rows, window.policy.ttl) == (None, None)
        and len(plans_of(plan)) == 1
    )


def _above(was: Query, now: Query) -> str | None:
    (_, where, columns), (_, now_where, now_columns) = map(taken_apart, (was.plan, now.plan))
    if where != now_where and (changes(was.plan) or changes(now.plan)):
        why = why_changing(was.plan if changes(was.plan) else now.plan)[0]
        return f"{_differ(was, now)}, and results that were sent may be corrected: {why}"
    if columns != now_columns and now.retracts and changes(now.plan):
        return f"{_differ(was, now)}, and its sink retracts what was sent"
    return _sink(was, now)


def _differ(was: Query, now: Query) -> str | None:
    return difference(was.plan, now.plan, "the query")


def _sink(was: Query, now: Query) -> str | None:
    if was.retracts == now.retracts:
        return None
    both, one = "both halves of a change", "the new rows only"
    return f"the sink took {both if was.retracts else one}, takes {both if now.retracts else one}"


def retained_since(was: Query, reached: int | None) -> int | None:
    """Up to where windows were retired under the RETAIN of `was`.

    reached: the watermark that its state has come to.
    """
    policy = window_policy(was.plan)
    if policy is None or policy.retain is None or reached is None:
        return None
    by_now = max(START, reached - policy.retain)
    return by_now if policy.since is None else max(by_now, policy.since)


def with_since(query: Query, since: int | None) -> Query:
    """The query where windows up to an instant were retired before its RETAIN was this one."""
    if since is None:
        return query
    plan = with_policy(query.plan, lambda _, policy: replace(policy, since=since))
    return replace(query, plan=plan)
