"""EXPLAIN of joins: which rows match, the stores of each side, when results are emitted."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlwin.plan.explain.operators import stays
from sqlwin.plan.explain.operators.join_windows import window_of
from sqlwin.plan.explain.policies import early, expired, late, retention, ties, timeout, watermark
from sqlwin.plan.ir import ttl
from sqlwin.plan.ir.nodes import Join, Scan
from sqlwin.plan.properties.changelog import changing, corrected
from sqlwin.plan.properties.facts import arriving, counts, ordered_sides, scans, streams_of, untimed
from sqlwin.policies import Early, Policy
from sqlwin.windows.joins import AsOf, JoinSessions


def facts(join: Join, stores: str) -> Iterator[str]:
    """The lines of a query that reads a join, from its operator on."""
    if join.stays is not None:
        yield from stays.facts(join, join.stays, _keys(join), stores)
        yield from expired(join.policy, "")
    else:
        yield from _facts(join, stores)
    streams = dict.fromkeys(s.stream for s in scans(join) if isinstance(s, Scan))
    for stream in streams:
        if stream.ts is not None and (stream.of or not counts(join)):
            yield f"Watermark: of {stream.name} {watermark(stream)}"
    for stream in streams:
        yield f"Ties: of {stream.name} {ties(stream)}"


def _facts(join: Join, stores: str) -> Iterator[str]:
    policy = join.policy
    yield f"Operator: {_operator(join)}"
    yield f"Keys: {_keys(join)}"
    yield f"Window: {window_of(join)}"
    if join.residual is not None:
        yield f"Residual: {join.residual.sql}"
    yield f"Stores: {stores}"
    yield f"Message key: {_message_key(join)}"
    if policy.early is not None:
        yield f"Early: {_early(join, policy)}"
    yield f"Full: {_full(join)}"
    yield from timeout(policy, "rows that wait are sent full")
    yield f"Late: {_late(join, policy)}"
    if not arriving(join) and not join.static:
        yield f"Retention: {_retention(join)}"
    yield from _evicted(join)
    yield from expired(policy, "joined with the rows that are stored")


def _operator(join: Join) -> str:
    if isinstance(join.match, AsOf):
        return f"ASOF join, {join.kind}"
    if join.static:
        return f"join with a static table, {join.kind}"
    if isinstance(join.match, JoinSessions):
        return f"session join, {join.kind}{'; sessions of messages' * counts(join)}"
    if not counts(join) or arriving(join):
        return f"join, {join.kind}; windows of {'messages' if counts(join) else 'time'}"
    return f"join, {join.kind}; windows of rows, {_numbered(join)}"


def _numbered(join: Join) -> str:
    """How the rows of windows in ROWS over results are."""
    by_time = named(join, ordered_sides(join))
    come = [side for side in ("left", "right") if side not in ordered_sides(join)]
    others = f", those of {named(join, come)} as they come" if come else ""
    return f"those of {by_time} numbered by event time{others}"


def _keys(join: Join) -> str:
    pairs = zip(join.left_keys, join.right_keys, strict=True)
    if isinstance(join.match, JoinSessions):
        names = [f"{left} = {right}" for left, right in pairs]
        first = join.match.keys
        return ", ".join([f"{', '.join(names[:first])} (session key)", *names[first:]])
    return ", ".join(f"{left} = {right}" for left, right in pairs) or "none: any two rows may pair"


# --- the window -------------------------------------------------------------------------


# --- state ------------------------------------------------------------------------------


def _changing(join: Join) -> bool:
    return changing(join.left) or changing(join.right)


def _evicted(join: Join) -> Iterator[str]:
    """A TTL of both sides alike, or of each."""
    ttls = join.policy.ttls
    if len(ttls) == 2 and ttls["left"] == ttls["right"]:
        yield f"State TTL: {ttl.described(ttls['left'])}"
        return
    for side, each in ttls.items():
        yield f"State TTL: of {named(join, [side])} {ttl.described(each)}"


def _message_key(join: Join) -> str:
    """SAMZA-552's table; the size of a window counts where keys could stand on either side."""
    if join.static:
        return "equal fields" if join.left_keys else "none: each row is compared with all"
    if isinstance(join.match, JoinSessions):
        return f"session key, {'offset' if counts(join) else 'timestamp, offset'}"
    size = "large window" if join.large else "small window"
    if counts(join):
        number = "offset" if arriving(join) else "number"
        if not join.left_keys:
            return number
        return f"equal fields, {number} ({size})" if join.large else f"{number} ({size})"
    if not join.left_keys:
        return "timestamp, offset"
    match = join.match
    if isinstance(match, AsOf) or None in (match.low, match.high):
        return "equal fields, timestamp, offset"
    if join.large:
        return f"equal fields, timestamp, offset ({size})"
    return f"timestamp, equal fields, offset ({size})"


# --- what is sent -----------------------------------------------------------------------

_WITHOUT = {"left": "left rows", "right": "right rows", "full": "rows"}


def _early(join: Join, policy: Policy) -> str:
    if policy.early in (Early.EVERY, Early.ROWS):
        when = early(policy, "of equal keys" if join.left_keys else "of the join")
        passed = policy.early is Early.ROWS and _dated(join)
        return f"{when}, the rest once the watermark has passed them" if passed else when
    if isinstance(join.match, AsOf):
        return "at once, corrected as nearer rows come"
    if join.kind in _WITHOUT:
        return f"{_WITHOUT[join.kind]} without a match at once, retracted when one comes"
    return "each pair as it is found"


def _dated(join: Join) -> bool:
    """Whether its results have an event time."""
    return not arriving(join) and len(untimed(join)) < 2


def _late(join: Join, policy: Policy) -> str:
    if join.static:
        names = ", ".join(stream.name for stream in corrected(join.left))
        if names:
            return f"as rows of {names} are corrected: each is retracted, and looked up anew"
        return "never: what the table says of a row does not change"
    return "never: messages are counted as they come" if arriving(join) else late(policy)


def _full(join: Join) -> str:
    if isinstance(join.match, AsOf):
        return "when the watermark passes the left row"
    if join.static:
        return "each left row as it comes"
    if join.kind == "anti":
        return "left rows once their lack of a match is final"
    if join.kind == "semi":
        return "each left row at its first match"
    pairs = "each pair as it is found"
    if join.kind == "inner":
        return pairs
    return f"{pairs}, {_WITHOUT[join.kind]} without a match once that is final"


def _retention(join: Join) -> str:
    """What RETAIN says is of the sides that have an event time."""
    key = "its side and key" if join.left_keys else "its side"
    bounded_ = retention(join.policy, key, _changing(join))
    if isinstance(join.match, AsOf) and join.policy.retain_rows is not None:
        bounded_ += ", of a left row on either side"
    timed = [side for side in ("left", "right") if side not in untimed(join)]
    if counts(join):
        rows = f"numbers of {named(join, ordered_sides(join))}"
        return (
            f"{rows} may change {'for ever' if join.policy.retain is None else f'until {bounded_}'}"
        )
    if len(timed) == 2 or not retained(join):
        return bounded_
    return f"of {named(join, timed)} {bounded_}" if timed else "for ever"


def retained(join: Join) -> bool:
    """Whether rows are evicted by RETAIN n ROWS alone; those of a window in ROWS never expire."""
    policy = join.policy
    return not (counts(join) or policy.retain is policy.retain_rows is None)


def named(join: Join, which: Collection[str]) -> str:
    """The streams of these sides."""
    sides = {"left": join.left, "right": join.right}
    names = [s.name for side in which for s in streams_of(sides[side])]
    return " and ".join(dict.fromkeys(names))
