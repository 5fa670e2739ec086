"""EXPLAIN of windows, OVER and top-n: stores, message keys, when results are emitted."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.instants import format_duration
from sqlwin.plan.explain.operators.full_results import before_full, full
from sqlwin.plan.explain.policies import (
    late,
    queried,
    retained,
    retention,
    ties,
    timeout,
    watermark,
)
from sqlwin.plan.ir.nodes import (
    MatchRecognize,
    Node,
    OverAggregate,
    Stream,
    TopN,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.plan.properties.changelog import changing
from sqlwin.plan.properties.facts import Unranked, arriving, counts, streams_of, unranked, window_of
from sqlwin.plan.properties.stores import full_state, keeps_messages
from sqlwin.windows import Unit
from sqlwin.windows.group import CalendarWindow, Cumulate, DaysOfMonths, GroupWindow, Whole
from sqlwin.windows.session import Session


def facts(plan: Node, stores: str) -> Iterator[str]:
    """The lines of a query that reads one stream, from its operator on."""
    (stream,) = streams_of(plan)
    found = window_of(plan)
    if found is not None and stream.changelog is not None:
        yield from _normalizer(unranked(found), stream, stores)
    elif found is not None:
        ranked = "; ranked within each window" if isinstance(found, WindowRank) else ""
        window = unranked(found)
        yield f"Operator: {_operator(window)}{ranked}"
        if stores:
            yield f"Stores: {stores}"
        yield from _facts(window, stream)
    yield f"Ties: {ties(stream)}"


def _normalizer(window: Unranked, stream: Stream, stores: str) -> Iterator[str]:
    key = () if stream.changelog is None else stream.changelog.key
    what = f"the last change of each {', '.join(key)}" if key else "each row less its retractions"
    yield f"Operator: changelog normalizer, {what}"
    yield f"Stores: {stores}"
    if stream.ts is not None:
        yield f"Watermark: {watermark(stream)}"
    yield from retained(window.policy)


def _facts(window: Unranked, stream: Stream) -> Iterator[str]:
    policy = window.policy
    if isinstance(window, WindowedRelation):
        yield from _relation(window, stream)
        return
    if isinstance(window, WindowAggregate) and window.at_once:
        yield "Message key: none: nothing is kept"
        yield "Full: as it comes, for all rows of an instant come together"
        return
    if isinstance(window, MatchRecognize):
        from sqlwin.plan.explain.operators import matches

        yield from matches.facts(window)
    if isinstance(window, WindowAggregate) and isinstance(window.window, Session):
        yield from _session(window.window, window.partition, bool(window.sets))
    yield f"Message key: {_message_key(window)}"
    yield from before_full(policy)
    held = f", {format_duration(policy.hold)} later" * bool(policy.hold)
    yield f"Full: {full(window)}{held}"
    sent = "what waits is sent" if isinstance(window, TopN) else "open windows are sent full"
    yield from timeout(policy, sent)
    if not isinstance(window, TopN):  # of which nothing is full, and so nothing late
        never = "never: messages are counted as they come"
        yield f"Late: {never if arriving(window) else late(policy)}"
    if not arriving(window):
        if stream.ts is not None:
            yield f"Watermark: {watermark(stream)}"
        yield f"Retention: {retention(policy, changing=changing(window.input))}"
        yield from queried(policy)
    elif policy.retain_rows is not None:
        yield f"Past windows: until {_newer(policy.retain_rows)} after their last"
    yield from retained(policy)


def _newer(messages: int) -> str:
    return f"{messages} messages came" if messages > 1 else "a message came"


def _relation(window: WindowedRelation, stream: Stream) -> Iterator[str]:
    if window.there is not None:
        yield "Message key: timestamp, offset"
        yield "Emitted: all rows that are there, at each instant at which one enters or leaves"
        yield f"Watermark: {watermark(stream)}"
        return
    counted, size = window.frame.unit is Unit.ROWS, window.frame.preceding or 0
    yield f"Message key: {'offset' if arriving(window) else 'timestamp, offset'}"
    enters = "as it comes" if arriving(window) else "when the watermark reaches it"
    leaves = f"when the watermark is more than {format_duration(size)} past it"
    if counted:
        leaves = f"as the {'next one' if size == 0 else f'row {size + 1} after it'} enters"
    elif size == 0:
        leaves = "when the watermark passes it"
    if window.slide is not None:
        slide = f"{format_duration(window.slide)} of the watermark"
        enters, leaves = f"at the next {slide}", f"at the first {slide} {format_duration(size)} on"
    if window.until is not None:
        leaves = f"as the first of its rows does, at most {format_duration(size)} after it enters"
    yield f"Enters: {enters}"
    yield f"Leaves: {leaves}"
    if window.instants:
        yield "Emitted: all rows that are there, at each instant at which one enters or leaves"
    if not arriving(window):
        if stream.ts is not None:
            yield f"Watermark: {watermark(stream)}"
        yield f"Retention: {retention(window.policy, changing=False)}"
    yield from retained(window.policy)


# --- operator --------------------------------------------------------------


def _operator(window: Unranked) -> str:
    if isinstance(window, WindowedRelation):
        rows = "the rows of a window" if window.there is None else "by its changes"
        return f"relation, {rows}"
    if isinstance(window, TopN):
        what = "row" if window.function == "row_number" else "rank"
        return f"top-n, the first {window.limit} {what}s of each partition"
    if isinstance(window, MatchRecognize):
        return "pattern matcher"
    if isinstance(window, WindowAggregate):
        if window.at_once:
            return "aggregator, the rows of each instant"
        if window.per_row:
            return f"rows of {_kind(window)}"
        whole = keeps_messages(window) or any(map(full_state, window.aggregates))
        state = "full state" if whole else "incremental"
        return f"aggregator, {state}; {_kind(window)}"
    if window.by_arrival:
        return "aggregator, sliding window of messages"
    return "aggregator, sliding window of the stream" if window.per_instant else "aggregator, OVER"


def _kind(window: WindowAggregate) -> str:
    shape: GroupWindow | DaysOfMonths = window.window
    if isinstance(shape, Whole):
        return "the whole stream"
    measure = "time"
    if isinstance(shape, CalendarWindow):
        measure, shape = f"the calendar of {shape.calendar.zone}", shape.periods
    if isinstance(shape, Cumulate | DaysOfMonths):
        only = ", each with a row in its last step" if shape.only_on_update else ""
        return f"cumulating windows of {measure}{only}"
    if counts(window):
        measure = "messages" if arriving(window) else "rows by event time"
    if isinstance(shape, Session):
        return f"sessions of {measure}"
    return f"{'tumbling' if shape.tumbles else 'hopping'} windows of {measure}"


def _session(window: Session, partition: tuple[str, ...], sets: bool) -> Iterator[str]:
    """What a session belongs to, and what ends it."""
    some = ", as far as a grouping set has it" if sets and partition else ""
    yield f"Session key: {', '.join(partition) or 'none: one for all rows'}{some}"
    if window.gap is None:
        yield f"Gap: each row's own, {window.gap_by}"
    elif window.unit is Unit.ROWS:
        yield f"Gap: {window.gap} message{'s' * (window.gap != 1)} of others"
    else:
        yield f"Gap: {format_duration(window.gap)}"
    if window.most is not None:
        yield f"Max: {format_duration(window.most)}"
    if window.starts is not None:
        yield f"Start: at a row where {window.starts}"
    if window.ends is not None:
        yield f"End: behind a row where {window.ends}"


def _bounded(window: OverAggregate) -> bool:
    return window.calls[0].frame.preceding is not None


def _message_key(window: WindowAggregate | OverAggregate | TopN | MatchRecognize) -> str:
    """SAMZA-552's table; a top-n finds its rows by their partition."""
    if isinstance(window, TopN):
        return "equal fields, timestamp, offset"
    if isinstance(window, OverAggregate):
        if window.by_arrival:
            return "offset" if _bounded(window) else "none: incremental"
        return "timestamp, offset"
    if isinstance(window, MatchRecognize) or window.per_row:
        return "timestamp, offset"
    if window.policy.discards:
        return "none: what was sent is not kept"
    if not keeps_messages(window):
        return "none: incremental"
    if not counts(window):
        return "timestamp, offset"
    return "offset" if arriving(window) else "number, offset"


# --- policies -------------------------------------------------------------------------
