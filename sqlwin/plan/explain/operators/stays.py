"""EXPLAIN of joins of relations: how long rows of each side are there, and of their changes."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.instants import format_duration
from sqlwin.plan.ir.nodes import Join
from sqlwin.plan.properties.facts import streams_of
from sqlwin.windows.stays import JoinStays, Stay


def near(match: JoinStays) -> str:
    """
    >>> from sqlwin.windows import Unit
    >>> both = Stay(10_000_000), Stay(rows=2, partition=("k",))
    >>> near(JoinStays(Unit.RANGE, None, None, *both, "at", "is there", "known by", True))
    'left RANGE 10 seconds, right last 2 rows by [k]'
    """
    return f"left {_short(match.left)}, right {_short(match.right)}"


def _short(stay: Stay) -> str:
    if stay.there is not None:
        return "changes"
    if stay.rows is not None:
        by = f" by [{', '.join(stay.partition)}]" if stay.partition else ""
        slide = "" if stay.slide is None else f" every {_rows(stay.slide)}"
        return f"last {_rows(stay.rows)}{slide}{by}"
    if stay.length is None:
        return "unbounded" if stay.timed else "static"
    slide = "" if stay.slide is None else f" every {format_duration(stay.slide)}"
    return f"RANGE {format_duration(stay.length)}{slide}"


def _rows(count: int) -> str:
    return f"{count} row{'s' * (count > 1)}"


def facts(join: Join, match: JoinStays, keys: str, stores: str) -> Iterator[str]:
    yield f"Operator: join of relations, {join.kind}"
    yield f"Keys: {keys}"
    for side, stay in (("left", match.left), ("right", match.right)):
        yield f"Window: {side} rows {_long(stay)}"
    if join.residual is not None:
        yield f"Residual: {join.residual.sql}"
    yield f"Stores: {stores}"
    yield "Message key: timestamp, offset"
    waits = format_duration(join.policy.retain or 0)
    passed = "has passed it" if not join.policy.retain else f"is more than {waits} past it"
    yield f"Full: what enters and leaves at an instant, once the watermark {passed}"
    yield "Late: never: an instant waits for rows as late as RETAIN lets them be"


def _long(stay: Stay) -> str:
    if stay.there is not None:
        return "from one change to the next"
    if stay.rows is not None:
        by = f" of its {', '.join(stay.partition)}" if stay.partition else ""
        if stay.slide is not None:
            return f"among the last {_rows(stay.rows)}{by}, as of every {stay.slide} of them"
        after = "the next row" if stay.rows == 1 else f"row {stay.rows} after it"
        return f"until {after}{by}"
    if stay.length is None:
        return "for ever" if stay.timed else "at every instant: a static table"
    if stay.slide is None:
        return f"for {format_duration(stay.length)}" if stay.length else "for their instant"
    every = format_duration(stay.slide)
    return f"for {format_duration(stay.length)}, from the next multiple of {every} on"


def warnings(join: Join, match: JoinStays) -> Iterator[str]:
    if not join.buckets[0]:
        yield "no equality parts the rows and their windows, so all rows go to one bucket"
    for side, stay in ((join.left, match.left), (join.right, match.right)):
        (stream,) = streams_of(side)
        if not stay.timed:
            continue
        if not stay.ends:
            yield f"rows of {stream.name} are kept for ever, so state grows"
        elif stay.there is None and stay.partition:
            yield f"the last rows of every key of {stream.name} are kept, so state grows with keys"
