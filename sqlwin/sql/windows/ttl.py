"""Where a TTL of state holds: from hints, options of streams and SET to a policy's Ttl.

Without a hint only state that no window bounds has one. Of each option the WITH
clause of the stream says more than SET, and a hint says the length alone. Each side of a
join has its own.

>>> from sqlwin.errors import Span
>>> hints = [(ast.Name("o", Span(1, 1)), 3), (ast.Name("P", Span(1, 1)), 5)]
>>> lengths(hints, [["o", "orders"], ["p", "o"]])
Lengths(own=5, sides=(3, 5))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import (
    Join,
    MatchRecognize,
    Node,
    Scan,
    StaticScan,
    TopN,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.plan.options.ttl_options import PREFIX, options
from sqlwin.plan.properties.changelog import changing
from sqlwin.plan.properties.facts import (
    Stateful,
    Window,
    arriving,
    counts,
    operator_of,
    scans,
    sources_of,
    streams_of,
    unranked,
    with_policy,
)
from sqlwin.plan.properties.stores import keeps_keys
from sqlwin.policies import Ttl, TtlTime
from sqlwin.sql.relations.rank_bounds import OpenTop
from sqlwin.sql.relations.relation import Lengths, Relation
from sqlwin.sql.text import ast
from sqlwin.windows.group import Whole
from sqlwin.windows.joins import AsOf

if TYPE_CHECKING:
    from sqlwin.sql.syntax.hints.ttl import Hinted

ONCE = "a static table is read once, so what a TTL took of it would never come again"


def of_hints(select: ast.Select, relation: Relation) -> Lengths | None:
    """What the hints of a query give the state of what it reads or keeps itself."""
    if not select.ttl:
        return None
    base = relation.base
    node = base.top if isinstance(base, OpenTop) else base
    read = [stream.name for stream in streams_of(node)]
    names = list(dict.fromkeys((*relation.names, *relation.reads, *read)))
    for stream, _ in select.ttl:
        if stream.text.lower() not in [name.lower() for name in names]:
            message = f"STATE_TTL names {stream.text}, which this query does not read"
            raise QueryError(message, stream.span, legal=", ".join(names))
    if isinstance(base, StaticScan):
        raise QueryError(ONCE, select.ttl[0][0].span, legal="STATE_TTL of a stream")
    own = Lengths(_longest(each for _, each in select.ttl))
    if select.relation.joins and relation.ttl is not None:
        return replace(own, sides=relation.ttl.sides)
    return own


def lengths(hints: Sequence[Hinted], sides: Sequence[Sequence[str]]) -> Lengths | None:
    """What hints say of the two sides of a join. sides: the names of all that each reads."""
    if not hints:
        return None
    lengths: list[int | None] = []
    for names in sides:
        lower = [name.lower() for name in names]
        own = [each for stream, each in hints if stream.text.lower() in lower]
        lengths.append(_longest(own) if own else None)
    return Lengths(_longest(each for _, each in hints), (lengths[0], lengths[1]))


def _longest(found: Iterable[int]) -> int:
    """0 is none, and so the longest."""
    known = list(found)
    return 0 if 0 in known else max(known)


def with_ttl(plan: Node, hint: Lengths | None, settings: Mapping[str, Any]) -> Node:
    """The plan, its window with the TTL that a hint, the stream or SET gives its state."""
    window = operator_of(plan)
    if window is None:
        if hint is not None and hint.own:
            message = "STATE_TTL stands in a query that keeps no state"
            raise QueryError(message, legal="a query with a window, GROUP BY or OVER")
        return plan
    if isinstance(window, Join):
        return _of_join(plan, window, hint, settings)
    length_ = None if hint is None else hint.own
    ttl = _ttl(window, length_, settings, _endless(window))
    if ttl is None:
        return plan
    _refuse(window, ttl)
    return placed(plan, ttl)


def _ttl(node: Node, hint: int | None, settings: Mapping[str, Any], endless: bool) -> Ttl | None:
    """Of state made of what a node reads. endless: no window bounds it, so options count."""
    if hint is None and not endless:
        return None
    given = dict(settings)
    for stream in sources_of(node):
        given |= options(dict(stream.options))
    if hint is not None:
        given["length"] = hint
    return Ttl(**given) if given.get("length") else None


def _of_join(plan: Node, join: Join, hint: Lengths | None, settings: Mapping[str, Any]) -> Node:
    """Of each side by itself: of the left of a join with a static table nothing is kept."""
    hints = (None, None) if hint is None else hint.both
    sides = zip(("left", "right"), (join.left, join.right), hints, strict=True)
    ttls = [_ttl(node, lengths, settings, name in join.endless) for name, node, lengths in sides]
    if join.static and hint is not None and hint.sides is not None and ttls[1] is not None:
        raise QueryError(ONCE, legal="STATE_TTL of a stream")
    if join.static:
        return plan
    for ttl in ttls:
        if ttl is not None:
            _refuse(join, ttl)
    return placed(plan, *ttls)


def _endless(window: Window) -> bool:
    """Whether no window of time bounds the state: that of OVER, of a key, of the first n, of
    matches without WITHIN, and of each key what is measured in messages."""
    if isinstance(window, MatchRecognize):
        return window.within is None
    if isinstance(window, WindowRank):
        return False
    if isinstance(window, WindowAggregate):
        return isinstance(window.window, Whole) or keeps_keys(window)
    if isinstance(window, TopN):
        return True
    if isinstance(window, WindowedRelation):
        return False  # what leaves it says the window
    frames = [call.frame.in_time for call in window.calls]
    ends = [end for frame in frames for end in (frame.preceding, frame.following)]
    return window.timeless or None in ends or keeps_keys(window)


def _refuse(window: Stateful, ttl: Ttl) -> None:
    if isinstance(window, WindowedRelation):
        message = "a TTL of a window by itself: its rows are kept until they leave it"
        raise QueryError(message, legal="a shorter window, or no TTL")
    if not isinstance(window, Join) and unranked(window).policy.discards:
        message = "a TTL of DISCARDING: a forgotten window would number its deltas anew"
        raise QueryError(message, legal="RETAIN a duration, or no TTL")
    untimed = any(scan.stream.ts is None for scan in scans(window) if isinstance(scan, Scan))
    if ttl.time is TtlTime.EVENT and (arriving(window) or untimed):
        message = f"{PREFIX}.time = event needs a window of event time"
        raise QueryError(message, legal=f"{PREFIX}.time = processing")
    if counts(window) and not arriving(window):
        message = "a TTL of windows in ROWS over a result: what is forgotten has no number"
        raise QueryError(message, legal="RETAIN a duration, or no TTL")
    if not isinstance(window, Join) or window.policy.retain_rows is None:
        return
    if isinstance(window.match, AsOf):
        message = "RETAIN n ROWS of an ASOF JOIN with a TTL: what keeps the nearest row may expire"
        raise QueryError(message, legal="RETAIN a duration, or no TTL")
    if any(changing(side) for side in (window.left, window.right)):
        message = (
            "RETAIN n ROWS of a join with a TTL, of an input whose rows may be retracted: "
            "what was forgotten would count"
        )
        raise QueryError(message, legal="RETAIN a duration, or no TTL")


def placed(plan: Node, ttl: Ttl | None, right: Ttl | None = None) -> Node:
    """The plan, the policy of its window with the TTL; right: that of a join's right side."""
    return with_policy(plan, lambda _, policy: replace(policy, ttl=ttl, right_ttl=right))
