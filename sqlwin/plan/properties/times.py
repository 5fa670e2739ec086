"""Event time above operators: which columns of a plan still have it, and how far behind.

A row of a derived stream leaves its operator at some watermark `w` of what the plan reads:
the end of its window, the instant of its row, the later of a pair. A column is event time
there iff its values are bounded below by `w`: `delay` is that bound. The derived stream's
own watermark is `w` less the delay of the column chosen, so a row that was not late below
is not late above.

    operator                column            delay
    TUMBLE, HOP, CUMULATE   window_end        0
                            window_time       0: the last instant is still in the window
                            window_start      the window's size
                            key               its own, and the window's size
    session                 window_end        0
                            window_start      MAX; without it there is no bound
    sliding stream window   window_end        0
                            window_start      the window's size
    OVER                    carried column    its own, and the greatest RANGE following; with a
                                              session there is no bound
    top-n, GROUP BY alone   carried column    its own: such rows do not wait; of a top-n whose
                                              rows do, and its RETAIN
    join                    left column       its own, and how far the right may be ahead
                            right column      its own, and how far it may be behind
                            GREATEST of both  the greater of their own: the newer row came last
    window by itself        carried column    its own, and the slide; in ROWS, as they come: none
    join of relations       the instant       RETAIN, for which it waits
    RSTREAM of one          carried column    its own, and the window's length; in ROWS: none
                            the instant       0
    UNNEST                  carried column    its own
    any                     GREATEST(x, …)    the least of those that have one
    FULL JOIN               COALESCE(l, r)    the greater of theirs, where there is no NULL
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlwin.plan.ir.nodes import (
    Filter,
    Join,
    MatchRecognize,
    Node,
    OverAggregate,
    Project,
    Scalar,
    Scan,
    StaticScan,
    Stream,
    TopN,
    Unnest,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.plan.ir.once import once
from sqlwin.plan.properties.bounds import most, plus
from sqlwin.plan.properties.changelog import lateness
from sqlwin.plan.properties.edges import edge_in, last_of, less_one, names_of, scalars_of, written
from sqlwin.plan.properties.facts import arriving
from sqlwin.plan.properties.operator_delays import framed, matched, windowed
from sqlwin.policies import Early
from sqlwin.schema import TIMESTAMP
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow


def preferred(stream: Stream, among: Sequence[str] | None = None) -> str | None:
    """The event time of a derived stream of which nothing is said; None: it has none.

    The last instant of a window, its end, what is carried, its beginning; of two such the one
    that is less behind.
    """
    names = [column.name for column in stream.columns if column.type == TIMESTAMP]
    kinds = ("time", "end", "carried", "start")
    timed = [
        (kinds.index(_kind(stream, name)), behind, at, name)
        for at, name in enumerate(names)
        if (among is None or name in among) and (behind := delay_in(stream, name)) is not None
    ]
    return min(timed)[-1] if timed else None


def _kind(stream: Stream, name: str) -> str:
    found = edge_in(stream, name)
    return "carried" if found is None else found.kind


@once
def delay_in(stream: Stream, name: str) -> int | None:
    """Of a column of a derived stream, behind what its plans read; None: without bound.

    What leaves does so as long after it came as it may be corrected.
    """
    own = most(delay(plan, name) for plan in stream.of)
    return own if stream.change != "DSTREAM" else plus(own, lateness(stream))


@once
def delay(plan: Node, name: str) -> int | None:
    """How far a column may be behind the least watermark of the streams that the plan scans,
    microseconds; None: any length, or it is no time at all."""
    if isinstance(plan, Scan | StaticScan):
        return None if isinstance(plan, StaticScan) else _scanned(plan.stream, name)
    if isinstance(plan, Project):
        return _projected(plan, name)
    if isinstance(plan, WindowAggregate):
        return windowed(plan, name, partial(delay, plan.input))
    if isinstance(plan, OverAggregate):
        return framed(plan, name, partial(delay, plan.input))
    if isinstance(plan, Join):
        return _joined(plan, name)
    if isinstance(plan, MatchRecognize):
        return matched(plan, name, partial(delay, plan.input))
    if isinstance(plan, TopN | WindowRank) and name == plan.name:
        return None
    if isinstance(plan, Unnest) and name not in names_of(plan.input):
        return None
    return _as_below(plan, name)


def _scanned(stream: Stream, name: str) -> int | None:
    if name == stream.ts:
        return 0
    return delay_in(stream, name) if stream.of else None


def _as_below(
    plan: Filter | Unnest | TopN | WindowedRelation | WindowRank, name: str
) -> int | None:
    """Of a column that is one of its input."""
    if isinstance(plan, WindowedRelation) and name == plan.instant:
        return 0 if plan.timed else None
    own = delay(plan.input, name)
    if isinstance(plan, WindowedRelation):
        if plan.instants and plan.frame.unit is Unit.ROWS:
            return None  # the last row of a key may be as old as it likes
        stays = plan.frame.preceding if plan.instants else plan.slide
        return None if arriving(plan) else plus(own, stays or 0)
    waits = isinstance(plan, TopN) and plan.policy.early is not Early.ON_UPDATE
    if waits and isinstance(plan, TopN) and plan.policy.retain is not None:
        return plus(own, plan.policy.retain)
    return own


def _projected(plan: Project, name: str) -> int | None:
    scalar = scalars_of(plan)[name]
    if scalar.is_column:
        return delay(plan.input, scalar.inputs[0])
    below = last_of(plan, name)
    if below is not None:
        return 0 if below.kind == "start" else delay(plan.input, scalar.inputs[0])
    if _calls(scalar, "GREATEST"):
        return _greatest(plan.input, scalar.inputs)
    if _calls(scalar, "COALESCE") and isinstance(plan.input, Join):
        return _either(plan.input, scalar.inputs)
    end = scalar.inputs[0] if len(scalar.inputs) == 1 else ""
    if not end or scalar.sql != less_one(end):
        return None
    return plus(delay(plan.input, end), 1)


def _calls(scalar: Scalar, function: str) -> bool:
    """Whether it is a call of several columns and nothing else."""
    columns = ", ".join(map(written, scalar.inputs))
    return len(scalar.inputs) > 1 and scalar.sql == f"{function}({columns})"


def _greatest(plan: Node, names: Sequence[str]) -> int | None:
    """GREATEST passes over NULL, and is no less than any other."""
    while isinstance(plan, Filter):
        plan = plan.input
    known = [delay(plan, name) for name in names]
    if isinstance(plan, Join):
        known.append(_newer(plan, names))
    if isinstance(plan, Project):
        passed = [s.inputs[0] for s in map(scalars_of(plan).get, names) if s and s.is_column]
        known.append(_greatest(plan.input, passed))
    return min((each for each in known if each is not None), default=None)


def _newer(plan: Join, names: Sequence[str]) -> int | None:
    """Of the newer row of each pair, by columns of both sides; of a row that is null-padded its
    own. A pair is emitted when its second row comes, which is not late by its own side."""
    match = plan.match
    timed = isinstance(match, JoinWindow) and match.unit is Unit.RANGE
    if plan.static or not timed:
        return None
    left = _greatest(plan.left, [name for name in names if name in names_of(plan.left)])
    right = _greatest(plan.right, [name for name in names if name in names_of(plan.right)])
    if left is None or right is None:
        return None
    unmatched = []
    if plan.kind in ("left", "full"):
        unmatched.append(_unmatched(plan, True, left))
    if plan.kind in ("right", "full"):
        unmatched.append(_unmatched(plan, False, right))
    return most([left, right, *unmatched])


def join_times(plan: Join, names: Sequence[str]) -> list[str]:
    """Those of its columns that are event times of its inputs; none where not both sides have
    one, or their GREATEST is no event time."""
    if plan.stays is not None or any(plan.numbers):
        return []
    left, right = names_of(plan.left), names_of(plan.right)
    known = [n for n in names if delay(plan.left if n in left else plan.right, n) is not None]
    both = any(n in left for n in known) and any(n in right for n in known)
    return known if both and _newer(plan, known) is not None else []


def _either(plan: Join, names: Sequence[str]) -> int | None:
    """Of COALESCE of the event times of both sides, of which one is no NULL."""
    left, *others = (name in names_of(plan.left) for name in names)
    if plan.static or not any(other is not left for other in others):
        return None
    return most(_present(plan, name) for name in names)


def _joined(plan: Join, name: str) -> int | None:
    if plan.stays is not None:  # a row comes again, however old, as what it is joined with goes
        return plan.policy.retain if name == plan.stays.instant else None
    if name in plan.numbers:
        return None
    padded = ("right", "full") if name in names_of(plan.left) else ("left", "full")
    return None if plan.kind in padded else _present(plan, name)


def _present(plan: Join, name: str) -> int | None:
    """Where it is not NULL only because the other side's row is null-padded."""
    left = name in names_of(plan.left)
    return _unmatched(plan, left, delay(plan.left if left else plan.right, name))


def _unmatched(plan: Join, left: bool, own: int | None) -> int | None:
    """Of a row that waits for partners as long as one may come. own: before it waits."""
    if isinstance(plan.match, AsOf) or plan.static:
        return own if left else None
    if isinstance(plan.match, JoinSessions) or plan.match.unit is Unit.ROWS:
        return None
    low, high = plan.match.low, plan.match.high
    other = high if left else None if low is None else -low
    return plus(own, plan.policy.retain if other is None else max(0, other))
