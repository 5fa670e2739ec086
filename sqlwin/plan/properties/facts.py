"""Facts derived from the plan of a window operator, for EXPLAIN and for lowering."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlwin.plan.ir.matches import MatchAggregate
from sqlwin.plan.ir.nodes import (
    Filter,
    Join,
    MatchRecognize,
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
from sqlwin.plan.ir.once import from_below, once
from sqlwin.policies import Policy
from sqlwin.windows import Unit
from sqlwin.windows.joins import JoinSessions, JoinWindow, SpannedWindow
from sqlwin.windows.session import Session

Unranked = WindowAggregate | OverAggregate | TopN | WindowedRelation | MatchRecognize
Window = Unranked | WindowRank
Stateful = Window | Join


def operator_of(plan: Node) -> Stateful | None:
    """What keeps state in a plan, the topmost one; None where nothing does."""
    while isinstance(plan, Filter | Project | Unnest):
        plan = plan.input
    return None if isinstance(plan, Scan | StaticScan) else plan


def unnests(plan: Node) -> bool:
    """Whether its results are elements of arrays, each known by its row and a number."""
    while isinstance(plan, Filter | Project):
        plan = plan.input
    return isinstance(plan, Unnest)


def keeps_state(plan: Node) -> bool:
    """Whether the plan, or one of those below it, has an operator."""
    return any(operator_of(made) is not None for made in plans_of(plan))


def window_of(plan: Node) -> Window | None:
    """The window operator of a plan, None where it has none or is a join."""
    found = operator_of(plan)
    return None if isinstance(found, Join) else found


def join_of(plan: Node) -> Join | None:
    """The topmost join of a plan, None where it has none."""
    found = operator_of(plan)
    return found if isinstance(found, Join) else None


@once
def scans(plan: Node) -> tuple[Scan | StaticScan, ...]:
    """What a plan reads, from the left."""
    while not isinstance(plan, Scan | StaticScan | Join):
        plan = plan.input
    return (*scans(plan.left), *scans(plan.right)) if isinstance(plan, Join) else (plan,)


@once
def streams_of(plan: Node) -> tuple[Stream, ...]:
    """The streams and static tables that a plan reads, each once, from the left."""
    return tuple(dict.fromkeys(scan.stream for scan in scans(plan)))


def names_folders(plan: Node) -> bool:
    """Whether a WHERE says something of the folders of a partitioned source."""
    return any(scan.folders is not None for made in plans_of(plan) for scan in scans(made))


def untimed(join: Join) -> tuple[str, ...]:
    """The sides of a join whose rows have no event time, so that RETAIN lets none of them go."""
    sides = {"left": join.left, "right": join.right}
    return tuple(s for s, node in sides.items() if any(x.ts is None for x in streams_of(node)))


def below_of(plan: Node) -> tuple[Node, ...]:
    """What a plan has its rows from; none where they come from outside."""
    if isinstance(plan, Scan | StaticScan):
        return plan.stream.of
    return (plan.left, plan.right) if isinstance(plan, Join) else (plan.input,)


@from_below(below_of)
def derived_streams(plan: Node) -> tuple[Stream, ...]:
    """The derived streams below a plan, each once, and after those that it is made of."""
    found: dict[Stream, None] = {}
    for stream in streams_of(plan):
        for below in stream.of:
            found |= dict.fromkeys(derived_streams(below))
        if stream.of:
            found[stream] = None
    return tuple(found)


def plans_of(plan: Node) -> tuple[Node, ...]:
    """The plans of all stages, from below; the plan itself is the last."""
    below = (made for stream in derived_streams(plan) for made in stream.of)
    return tuple(dict.fromkeys((*below, plan)))


@once
def sources_of(plan: Node) -> tuple[Stream, ...]:
    """The declared streams and static tables that a plan reads, however far below."""
    read = (stream for made in plans_of(plan) for stream in streams_of(made))
    return tuple(dict.fromkeys(stream for stream in read if not stream.of))


@once
def tables_of(plan: Node) -> tuple[Stream, ...]:
    """The static tables among them."""
    read = (scan for made in plans_of(plan) for scan in scans(made) if not scan.stream.of)
    static = (scan for scan in read if isinstance(scan, StaticScan) or scan.stream.whole)
    return tuple(dict.fromkeys(scan.stream for scan in static))


def untimed_streams(plan: Node) -> tuple[Stream, ...]:
    """The declared streams below a plan that have no event time; none is needed by a static
    table, nor by what ends."""
    tables = tables_of(plan)
    untimed = (s for s in sources_of(plan) if s.ts is None and s not in tables)
    return tuple(s for s in untimed if not s.bounded)


def unranked(window: Window) -> Unranked:
    """The operator that has the state and the policy: what a WindowRank ranks."""
    return window.input if isinstance(window, WindowRank) else window


def window_policy(plan: Node) -> Policy | None:
    """The policy of a plan's window or join, None where it has none."""
    found = operator_of(plan)
    if found is None or isinstance(found, Join):
        return None if found is None else found.policy
    return unranked(found).policy


def with_policy(plan: Node, change: Callable[[Stateful, Policy], Policy]) -> Node:
    """The plan, the policy of its operator changed."""
    if isinstance(plan, Scan | StaticScan):
        return plan
    if isinstance(plan, Join | Unranked):
        return replace(plan, policy=change(plan, plan.policy))
    return replace(plan, input=with_policy(plan.input, change))  # type: ignore[arg-type]


def counts(window: Stateful) -> bool:
    """Whether the window is measured in messages."""
    if isinstance(window, Join):
        match = window.match
        return isinstance(match, JoinWindow | JoinSessions) and match.unit is Unit.ROWS
    window = unranked(window)
    if isinstance(window, WindowAggregate):
        return window.window.unit is Unit.ROWS
    if isinstance(window, WindowedRelation):
        return window.frame.unit is Unit.ROWS
    return isinstance(window, OverAggregate) and window.by_arrival


def arriving(window: Stateful) -> bool:
    """Whether it counts messages as they come. Those of a result it numbers by event time."""
    if isinstance(window, Join):
        return counts(window) and not ordered_sides(window)
    return counts(window) and not any(stream.of for stream in streams_of(window))


def ordered_sides(join: Join) -> tuple[str, ...]:
    """The sides of a join in ROWS whose rows are numbered by event time: those that are results,
    but for those of a join whose messages are counted."""
    sides = {"left": join.left, "right": join.right} if counts(join) else {}
    if isinstance(join.match, SpannedWindow):
        del sides["left"]
    return tuple(s for s, node in sides.items() if any(x.of for x in streams_of(node)))


def hands_numbers(plan: Node) -> bool:
    """Whether it is a join in ROWS that hands the numbers of its messages to another one. How far
    it has come is then a number as well, see `WindowJoin.reached`."""
    join = join_of(plan)
    return join is not None and any(join.numbers)


def spanned(stream: Stream) -> bool:
    """Whether it is of results of such a join."""
    return any(hands_numbers(plan) for plan in stream.of)


def bucket_keys(window: Stateful) -> tuple[str, ...]:
    """Keys whose equal values must meet in one place; none: all rows must. Of a join its left's.

    With grouping sets a row goes to several groups, which have only the keys of every
    set in common; a rank has all groups of its partition meet. A session in ROWS counts
    the messages of all keys, as does a join in ROWS.
    """
    if isinstance(window, Join):
        return window.buckets[0]
    if isinstance(window, WindowedRelation):
        return () if window.instants else window.partition  # an instant is one of all keys
    if isinstance(window, TopN | MatchRecognize):
        return window.partition
    if isinstance(window, WindowRank):
        return tuple(key for key in bucket_keys(window.input) if key in window.partition)
    if isinstance(window, WindowAggregate):
        by_session = isinstance(window.window, Session)
        if by_session and counts(window):
            return ()
        keys = window.partition if by_session or counts(window) else window.keys
        return tuple(key for key in keys if all(key in some for some in window.sets))
    first, *others = [call.partition for call in window.calls]
    return tuple(key for key in first if all(key in other for other in others))


def ttl_keys(window: Window) -> tuple[str, ...]:
    """Keys whose state has one TTL entry: those of a bucket.

    Sessions in ROWS of all keys share one, for they count the messages of all; each
    session key expires by itself, and the count never.
    """
    below = unranked(window)
    if not isinstance(below, WindowAggregate) or not isinstance(below.window, Session):
        return bucket_keys(window)
    if not counts(window):
        return bucket_keys(window)
    return tuple(key for key in below.partition if all(key in some for some in below.sets))


def functions_of(plan: Node) -> frozenset[str]:
    """The names of the aggregate functions that a plan and those below it call."""
    return frozenset(name for made in plans_of(plan) for name in _functions(made))


def _functions(plan: Node) -> Iterator[str]:
    window = window_of(plan)
    own = None if window is None else unranked(window)
    if isinstance(own, OverAggregate):
        yield from (call.aggregate.function for call in own.calls)
    elif isinstance(own, WindowAggregate):
        yield from (aggregate.function for aggregate in own.aggregates)
    elif isinstance(own, MatchRecognize):
        conditions = (term for condition in own.conditions for term in condition.terms)
        terms = [term for term in (*own.measures, *conditions) if isinstance(term, MatchAggregate)]
        yield from (term.aggregate.function for term in terms)
