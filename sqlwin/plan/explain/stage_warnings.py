"""Warnings of EXPLAIN: operators without parallelism, and unbounded state."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.ir.nodes import MatchRecognize, OverAggregate, Stream, TopN, WindowAggregate
from sqlwin.plan.properties.changelog import lateness, reappears, replayed, weighted
from sqlwin.plan.properties.facts import Unranked, Window, arriving, bucket_keys, counts, unranked
from sqlwin.plan.properties.final_partitions import becomes_final
from sqlwin.plan.properties.stores import full_state, keeps_keys, keeps_messages, splits_sessions
from sqlwin.schema import type_name
from sqlwin.windows import Unit
from sqlwin.windows.group import Whole
from sqlwin.windows.session import Session

POSITIONS = "the positions of all messages are kept to recognise replays, so state grows for ever"

IGNORED = "LATE NEVER corrects no result by rows within RETAIN; they are counted as late"
OWN_RESULTS = (
    "no correction is emitted, so a row behind the watermark, which counts in the frames that are "
    "open, may have no result of its own; it is counted as late"
)


def stage_warnings(node: Window, stream: Stream) -> Iterator[str]:
    window = unranked(node)
    if isinstance(window, MatchRecognize):
        yield from _matched(window, stream)
    elif not (isinstance(window, WindowAggregate) and window.at_once):
        yield from _warnings(node, window, stream)


def _matched(window: MatchRecognize, stream: Stream) -> Iterator[str]:
    if not window.partition:
        yield f"{_one_bucket(window)}, so all rows go to one bucket"
    from sqlwin.plan.explain.operators import matches

    yield from matches.warnings(window)
    if window.policy.ignores:
        yield IGNORED
    if replayed(stream) and _unbounded(window):
        yield POSITIONS


def _warnings(node: Window, window: Unranked, stream: Stream) -> Iterator[str]:
    if not bucket_keys(node):
        rows = "partial results" if _combined(window, stream) else "rows"
        yield f"{_one_bucket(node)}, so all {rows} go to one bucket"
    if window.policy.ttl is not None:
        yield from _renewed(window)
    elif _unbounded(window) and lateness(stream) is None and not _open(window):
        yield never_final(stream)
    else:
        yield from _state(window)
    if window.policy.ignores:
        yield OWN_RESULTS if isinstance(window, OverAggregate) else IGNORED
    if isinstance(window, WindowAggregate) and isinstance(window.window, Session):
        yield from _session(window, window.window)
    if replayed(stream) and arriving(window):
        before = f"a message whose {stream.offset} is not above those before it in its partition"
        yield f"{before} is taken for a replay"
    if replayed(stream) and _endless(window):
        yield POSITIONS
    if isinstance(window, OverAggregate) and not window.by_arrival:
        yield from _waiting(window)
    if isinstance(window, WindowAggregate) and isinstance(window.window, Whole):
        yield from _silence(window)


def normalizer_warnings(window: Unranked, stream: Stream) -> Iterator[str]:
    keyed = stream.changelog is not None and stream.changelog.key
    if window.policy.ttl is None:
        kept = "the last change of every key, deletions too," if keyed else "the number of each row"
        yield f"{kept} is kept, so state grows with {'keys' if keyed else 'rows'}"
    if replayed(stream):
        yield POSITIONS


def never_final(stream: Stream) -> str:
    return (
        f"results below {stream.name} are corrected however late, so state grows until"
        " a RETAIN is given"
    )


def _open(window: Unranked) -> bool:
    """Whether any row may change any result, so that more is said of its state."""
    return _whole(window) or (isinstance(window, OverAggregate) and window.timeless)


def _whole(window: Unranked) -> bool:
    """Whether nothing of it is ever full, so that more is said of its state."""
    return isinstance(window, TopN) or (
        isinstance(window, WindowAggregate) and isinstance(window.window, Whole)
    )


def _session(window: WindowAggregate, session: Session) -> Iterator[str]:
    whys = ["MAX, START or END may part it anew"] * session.cut
    whys += ["its groups have keys of their own"] * (window.keys != window.partition)
    counted = window.policy.retain_rows is not None and not arriving(window)
    whys += ["RETAIN counts its rows"] * counted
    if whys:
        each = "message" if counts(window) else "instant"
        kept = f"an accumulator is kept for each {each} of a session"
        yield f"{kept}, since {' and '.join(whys)}"
    if keeps_messages(window):
        yield "every row of a session is kept, since an aggregate reads them all"
    if None not in (session.gap, session.most) and session.most <= session.gap:  # type: ignore[operator]
        yield "MAX is no longer than the gap, so the gap ends no session"


def _one_bucket(node: Window) -> str:
    if isinstance(node, WindowAggregate) and isinstance(node.window, Session) and counts(node):
        rows = "messages" if arriving(node) else "rows"
        return f"a session in ROWS counts the {rows} of all keys"
    if isinstance(node, OverAggregate) and any(call.partition for call in node.calls):
        return "the calls have no PARTITION BY in common"
    if isinstance(node, WindowAggregate) and node.keys:
        return "no key is in every grouping set"
    return "there is no key to part the rows by"


def _combined(window: Unranked, stream: Stream) -> bool:
    """Whether each task sums up its rows before they travel."""
    if not isinstance(window, WindowAggregate) or counts(window) or window.per_row:
        return False
    if stream.of:
        return False
    if isinstance(window.window, Session):
        return False
    whole = any(full_state(aggregate) for aggregate in window.aggregates)
    return (
        not (whole and not window.policy.discards)
        and window.policy.retain_rows is None
        and not replayed(stream)
    )


def _state(window: Unranked) -> Iterator[str]:
    if isinstance(window, TopN):
        if window.partition and not becomes_final(window):
            yield "the first rows of every partition are kept, so state grows with keys"
    elif isinstance(window, WindowAggregate) and isinstance(window.window, Whole):
        if keeps_messages(window) or reappears(window):
            yield "all messages of the stream are kept, so state grows for ever"
        elif window.policy.discards and window.keys:
            yield "how often each key was sent is kept, so state grows with keys"
        elif window.keys:
            yield "the aggregates of every key are kept, so state grows with keys"
        yield from map(_NO_WINDOW.format, _window_keys(window))
    elif isinstance(window, OverAggregate) and window.timeless:
        yield "all rows of every partition are kept, so state grows until a TTL is given"
    elif _unbounded(window):
        yield "frames without bound keep all rows, so state grows until a RETAIN is given"
    elif keeps_keys(window):
        yield "the last rows or the count of every key are kept, so state grows with keys"


_NO_WINDOW = (
    "{} is a window of a query below, and here a key: its result is never full; GROUP BY "
    "window_start, or the call of the window beside the aggregates, makes it one"
)
_WINDOW = "STRUCT<start: TIMESTAMP, end: TIMESTAMP>"


def _window_keys(window: WindowAggregate) -> list[str]:
    """Keys that are what Spark's `window(ts, …)` gives."""
    below = window.input.schema
    return [c.name for c in below if c.name in window.keys and type_name(c.type) == _WINDOW]


def _renewed(window: Unranked) -> Iterator[str]:
    """What a TTL does not bound."""
    timeless = isinstance(window, OverAggregate) and window.timeless
    if not _unbounded(window) and not timeless:
        return
    grows = "kept until its TTL is over, so a key that never rests grows"
    if isinstance(window, WindowAggregate):
        if keeps_messages(window) or reappears(window):
            yield f"all rows of a key are {grows}"
        elif splits_sessions(window) and not weighted(window):
            yield f"an accumulator of each instant of a key is {grows}"
        elif weighted(window):
            yield f"the position of every row of a key is {grows}"
    elif isinstance(window, OverAggregate) or weighted(window):
        yield f"all rows of a key are {grows}"


def _endless(window: Unranked) -> bool:
    """Whether rows are not kept for ever, but nothing says when one has expired."""
    if window.policy.ttl is not None:
        return _unbounded(window)
    return _whole(window) and _unbounded(window)


def _unbounded(window: Unranked) -> bool:
    kept_for_ever = window.policy.retain is None and window.policy.retain_rows is None
    return kept_for_ever and not arriving(window)


def _waiting(window: OverAggregate) -> Iterator[str]:
    if window.timeless:
        yield "in an order that does not begin with event time each row may change all others"
        return
    frames = [call.frame.in_time for call in window.calls]
    if window.endless:
        yield "a frame that ends with the stream is full only at the end of input"
        return
    rows = max((f.following or 0 for f in frames if f.unit is Unit.ROWS), default=0)
    if rows > 0:
        follow = f"the {rows} rows that follow" if rows > 1 else "the row that follows"
        yield f"a row waits for {follow} it in its partition, which may be long in coming"
    groups = max((f.following or 0 for f in frames if f.unit is Unit.GROUPS), default=0)
    if groups > 0:
        follow = f"the {groups} groups of peers" if groups > 1 else "the group of peers"
        yield f"a row waits for {follow} behind it in its partition, which may be long in coming"


def _silence(window: WindowAggregate) -> Iterator[str]:
    if window.policy.early is None and window.policy.timeout is None:
        yield "nothing is sent before the end of input, for EMIT names no EARLY"
