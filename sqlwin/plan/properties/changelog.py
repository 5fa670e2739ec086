"""Changelog properties: which results are updated, and which rows may be retracted or repeated."""

from __future__ import annotations

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import (
    Filter,
    Join,
    Node,
    OverAggregate,
    Project,
    Scan,
    StaticScan,
    Stream,
    TopN,
    Unnest,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.plan.ir.once import from_below
from sqlwin.plan.properties.facts import (
    Stateful,
    Window,
    arriving,
    below_of,
    counts,
    operator_of,
    plans_of,
    scans,
    streams_of,
    unranked,
    window_policy,
)
from sqlwin.policies import Expired, Late
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf
from sqlwin.windows.session import Session


@from_below(below_of)
def changing(plan: Node) -> bool:
    """Whether results may be retracted or replaced, so that their rows have weights."""
    if isinstance(plan, Scan) and plan.stream.change is not None:
        return False
    if isinstance(plan, StaticScan):
        return False  # it changes no more once a row looks it up
    if isinstance(plan, Join) and plan.stays is not None:
        return False  # it waits until nothing changes any more
    return revises(plan) or any(changing(below) for below in below_of(plan))


def carries_weights(scan: Scan | StaticScan) -> bool:
    """Whether its rows may be retracted, if only before the first row of any stream."""
    return changing(scan) or any(changing(plan) for plan in scan.stream.of)


def corrected(plan: Node) -> tuple[Stream, ...]:
    """The streams a plan reads whose rows may be retracted or replaced."""
    return tuple(s for s in streams_of(plan) if changing(Scan(s)))


def revises(plan: Node) -> bool:
    """Whether its topmost node retracts or replaces rows by itself, whatever those below do."""
    if isinstance(plan, Scan | StaticScan | Filter | Project | Unnest | WindowRank):
        return False
    if isinstance(plan, WindowedRelation):
        return not plan.instants
    if isinstance(plan, Join):
        return (counts(plan) and not arriving(plan)) or _pads_or_corrects(plan)
    if isinstance(plan, OverAggregate) and plan.by_arrival:
        return False  # each message fills its window
    if plan.policy.discards:
        return False  # each emission is of other rows
    policy, session = plan.policy, isinstance(plan, WindowAggregate) and _session(plan)
    revised = policy.early is not None or policy.late is not Late.NEVER
    return revised or policy.timeout is not None or session


def _session(plan: WindowAggregate) -> bool:
    """Under LATE NEVER, too, a session that was sent is retracted by one that grew of it."""
    return isinstance(plan.window, Session)


def _pads_or_corrects(join: Join) -> bool:
    """Whether a row may turn out to have a match, or a nearer one."""
    if join.static or join.stays is not None:
        return False
    if join.kind in ("inner", "semi") and not isinstance(join.match, AsOf):
        return False
    return join.policy.early is not None or join.policy.late is not Late.NEVER


def _read(stream: Stream) -> tuple[Stream, ...]:
    """What the plans of a stream read."""
    return tuple(below for plan in stream.of for below in streams_of(plan))


@from_below(_read)
def lateness(stream: Stream) -> int | None:
    """How far behind its watermark a row of a stream may be, and count; None: without bound.

    Of a declared stream its delay; of a derived one how long its results are corrected.
    """
    if not stream.of:
        return stream.delay
    found = [_corrected(plan) for plan in stream.of]
    return None if None in found else max(late for late in found if late is not None)


def _corrected(plan: Node) -> int | None:
    found = operator_of(plan)
    if found is None or (isinstance(found, Join) and found.static):  # rows go as they come
        return next((lateness(stream) for stream in streams_of(plan)), 0)
    if isinstance(found, WindowedRelation):
        return found.policy.retain if found.instants else _stays(found)
    if isinstance(found, Join) and found.stays is not None:
        return 0
    policy = window_policy(found)
    assert policy is not None
    if not isinstance(found, Join) and not changing(found) and not policy.discards:
        return 0
    return policy.retain


def _stays(relation: WindowedRelation) -> int | None:
    """How far behind the watermark a row is when it leaves, at most; of a late one, as it came."""
    retain, length = relation.policy.retain, relation.frame.preceding
    if retain is None or length is None or relation.frame.unit is Unit.ROWS:
        return None
    return max(retain, length + (relation.slide or 1))


def weighted(window: Window) -> bool:
    """Whether its rows may be retracted, if only to be given another number."""
    below = unranked(window)
    kept = isinstance(below, TopN | WindowedRelation)
    renumbers = not kept and counts(below) and not arriving(below)
    return renumbers or changing(below.input)


def evicts_below(plan: Node) -> bool:
    """Whether a TTL below a plan evicts rows, which may then be inserted again."""
    stages = (stage for scan in scans(plan) for stage in plans_of(scan)[:-1])
    return any(_evicts(operator_of(stage)) for stage in stages)


@from_below(_read)
def repeats(stream: Stream) -> bool:
    """Whether repeated messages may come through: of a declared stream that recognises them by
    its OFFSET, and of a result that has some of it as they are, for that keeps nothing."""
    if not stream.of:
        return stream.offset is not None and not stream.trusted
    return any(repeats(below) for plan in stream.of for below in _passed(plan))


def replayed(stream: Stream) -> bool:
    """Whether a repeated message is recognised by its position: rows that may be retracted are
    identified by what they replace."""
    return repeats(stream) and not changing(Scan(stream))


def _passed(plan: Node) -> tuple[Stream, ...]:
    """Of what a plan reads that of which it keeps nothing. A join with a table knows rows, where
    they stay as they are."""
    found = operator_of(plan)
    if isinstance(found, Join) and found.static and changing(found.left):
        return streams_of(found.left)
    return streams_of(plan) if found is None else ()


def reappears(plan: Node) -> bool:
    """Whether rows may come again that were not retracted, beside others that are."""
    derived = [stream for stream in streams_of(plan) if stream.of]
    return evicts_below(plan) or (
        any(repeats(stream) for stream in derived) and any(map(changing, scans(plan)))
    )


def _evicts(operator: Stateful | None) -> bool:
    if operator is None:
        return False
    if isinstance(operator, Join):
        return bool(operator.policy.ttls)
    return unranked(operator).policy.ttl is not None


def refuse_weighted(window: Window, span: Span | None = None) -> None:
    """QueryError for windows that rows which may be retracted cannot make. span: of the window."""
    policy = unranked(window).policy
    message = "of an input whose rows may be retracted"
    if isinstance(window, WindowedRelation):
        raise QueryError(
            f"a window by itself {message}: it is a relation already",
            span,
            legal="a window of ISTREAM(SELECT …), or GROUP BY and joins over its rows",
        )
    if policy.discards:
        raise QueryError(
            f"DISCARDING {message}: what was sent is not taken back",
            span,
            legal="EMIT FINAL or DISCARDING in the query below; EMIT without DISCARDING",
        )
    if policy.expired is Expired.EMIT:
        raise QueryError(
            f"EXPIRED EMIT {message}: a session of an expired row is not kept, "
            "and could not be retracted with it",
            legal="EXPIRED INTO an error stream, RETAIN of a longer time",
        )
    if policy.retain_rows is not None and (policy.ttl is not None or evicts_below(window)):
        raise QueryError(
            f"RETAIN n ROWS {message}, with a TTL of its keys or of those below: "
            "what was forgotten would count",
            legal="RETAIN of a time",
        )
