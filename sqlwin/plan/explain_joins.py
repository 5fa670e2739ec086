"""EXPLAIN of joins: which rows pair, what is kept of each side by which key, what is sent when.

A join whose input is a join is told after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.instants import format_duration
from sqlwin.plan.facts import counts, join_of, scans, streams_of
from sqlwin.plan.nodes import Join, Scan
from sqlwin.plan.policy_lines import early, kept, late, retention, ties
from sqlwin.policies import Early, Policy
from sqlwin.windows import AsOf, Unit

NEAREST = {
    ">=": "the last right row at or before the left row",
    ">": "the last right row before the left row",
    "<=": "the first right row at or after the left row",
    "<": "the first right row after the left row",
}


def facts(join: Join) -> Iterator[str]:
    """What is told of a query that reads a join, from its operator on."""
    yield from _facts(join)
    inner = join_of(join.left)
    while inner is not None:
        yield from _facts(inner)
        inner = join_of(inner.left)
    for scan in scans(join):
        if isinstance(scan, Scan):
            yield f"Ties: of {scan.stream.name} {ties(scan.stream)}"
    yield from (f"Warning: {caution}" for caution in _all_cautions(join))


def _facts(join: Join) -> Iterator[str]:
    policy = join.policy
    yield f"Operator: {_operator(join)}"
    yield f"Keys: {_keys(join)}"
    yield f"Window: {_window(join)}"
    if join.residual is not None:
        yield f"Residual: {join.residual.sql}"
    yield f"Stores: {_stores(join)}"
    yield f"Message key: {_message_key(join)}"
    if policy.early is not None:
        yield f"Early: {_early(join, policy)}"
    yield f"Full: {_full(join)}"
    yield f"Late: {'never: messages are counted as they come' if counts(join) else late(policy)}"
    if not counts(join):
        for scan in scans(join):
            if isinstance(scan, Scan):
                stream = scan.stream
                delay = format_duration(stream.delay)
                yield f"Watermark: of {stream.name} {stream.ts} less {delay}"
    if not join.static:
        yield f"Retention: {retention(policy)}"
    yield from kept(policy)


def _operator(join: Join) -> str:
    if isinstance(join.match, AsOf):
        return f"ASOF join, {join.kind}"
    if join.static:
        return f"join with a static table, {join.kind}"
    return f"join, {join.kind}; windows of {'messages' if counts(join) else 'time'}"


def _keys(join: Join) -> str:
    pairs = zip(join.left_keys, join.right_keys, strict=True)
    return ", ".join(f"{left} = {right}" for left, right in pairs) or "none: any two rows may pair"


# --- the window -------------------------------------------------------------------------


def _window(join: Join) -> str:
    match = join.match
    if isinstance(match, AsOf):
        return NEAREST[match.op]
    if join.static:
        return "none: the table is read whole before the first row"
    if match.low is None and match.high is None:
        return "none: rows pair however far apart they are"
    first = _end(match.low, match.unit, "any time before")
    last = _end(match.high, match.unit, "any time after")
    return f"right rows from {first} to {last} the left row"


def _end(end: int | None, unit: Unit, unbounded: str) -> str:
    if end is None:
        return unbounded
    if end == 0:
        return "the number of" if unit is Unit.ROWS else "the instant of"
    amount = format_duration(abs(end))
    if unit is Unit.ROWS:
        amount = f"{abs(end)} message{'s' * (abs(end) > 1)}"
    return f"{amount} {'before' if end < 0 else 'after'}"


# --- what is kept -----------------------------------------------------------------------


def _stores(join: Join) -> str:
    if join.static:
        return "none but the table"
    left = "left (rows that wait)" if isinstance(join.match, AsOf) else "left"
    lives = ", lives" * (join.policy.ttl is not None)
    return f"{left}, right, pending{lives}"


def _message_key(join: Join) -> str:
    """SAMZA-552's table; the size of a window counts where keys could stand on either side."""
    if join.static:
        return "equal fields" if join.left_keys else "none: each row is compared with all"
    size = "large window" if join.large else "small window"
    if counts(join):
        if not join.left_keys:
            return "offset"
        return f"equal fields, offset ({size})" if join.large else f"offset ({size})"
    if not join.left_keys:
        return "timestamp, offset"
    match = join.match
    if isinstance(match, AsOf) or (match.low is None and match.high is None):
        return "equal fields, timestamp, offset"
    if join.large:
        return f"equal fields, timestamp, offset ({size})"
    return f"timestamp, equal fields, offset ({size})"


# --- what is sent -----------------------------------------------------------------------

_WITHOUT = {"left": "left rows", "right": "right rows", "full": "rows"}


def _early(join: Join, policy: Policy) -> str:
    if policy.early is Early.EVERY:
        return early(policy)
    if isinstance(join.match, AsOf):
        return "at once, corrected as nearer rows come"
    if join.kind in _WITHOUT:
        return f"{_WITHOUT[join.kind]} without a match at once, withdrawn when one comes"
    return "each pair as it is found"


def _full(join: Join) -> str:
    if isinstance(join.match, AsOf):
        return "when the watermark passes the left row"
    if join.static:
        return "each left row as it comes"
    if join.kind == "anti":
        return "left rows once they are certain to have no match"
    if join.kind == "semi":
        return "each left row at its first match"
    pairs = "each pair as it is found"
    if join.kind == "inner":
        return pairs
    return f"{pairs}, {_WITHOUT[join.kind]} without a match once that is certain"


# --- warnings ---------------------------------------------------------------------------


def _all_cautions(join: Join | None) -> Iterator[str]:
    """Of each join, each warning once."""
    told: dict[str, None] = {}
    while join is not None:
        told |= dict.fromkeys(_cautions(join))
        join = join_of(join.left)
    yield from told


def _cautions(join: Join) -> Iterator[str]:
    if not join.left_keys and not join.static:
        yield "the join has no equality, so all rows go to one bucket and each meets all others"
    policy = join.policy
    bounded = (policy.retain, policy.retain_rows, policy.ttl) != (None, None, None)
    if join.unbounded and not bounded:
        names = _named(join)
        yield f"rows of {names} are kept for ever, so state grows until a RETAIN or TTL is given"
    if isinstance(join.match, AsOf) and join.match.backward and policy.ttl is None:
        (stream,) = streams_of(join.right)
        yield f"the newest row of every key of {stream.name} is kept, so state grows with keys"
    if join.kind in (*_WITHOUT, "anti") and join.unbounded and not join.static:
        yield "a row is certain to have no match only at the end of input, for no window ends"


def _named(join: Join) -> str:
    sides = {"left": join.left, "right": join.right}
    names = [s.name for side in join.unbounded for s in streams_of(sides[side])]
    return " and ".join(dict.fromkeys(names))
