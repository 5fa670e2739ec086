"""What a query will do, in words that do not change from run to run.

Operator, window, keys and aggregates; stores and the layout of message keys, as
in SAMZA-552's table; policies, lateness and retention; how ties go; and a
warning where all rows meet in one place.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.instants import format_duration
from sqlwin.plan.facts import Window, bucket_keys, counts
from sqlwin.plan.nodes import (
    Aggregate,
    Filter,
    Node,
    OverAggregate,
    OverCall,
    Project,
    Query,
    Scan,
    Script,
    Stream,
    WindowAggregate,
)
from sqlwin.policies import Late, Policy
from sqlwin.schema import type_name
from sqlwin.windows import Frame, Hop, Unit


def explain(query: Query) -> str:
    return "\n".join(_query(query))


def explain_script(script: Script) -> str:
    """Every query of a script, those to run and those after EXPLAIN."""
    queries = [s for s in script.statements if isinstance(s, Query)] or script.queries
    return "\n\n".join(explain(query) for query in queries)


def _query(query: Query) -> Iterator[str]:
    chain = list(_chain(query.plan))
    yield f"Output: {query.sink.name if query.sink else 'screen'}"
    for column in query.plan.schema:
        yield f"  {column.name} {type_name(column.type)}"
    for depth, node in enumerate(chain):
        yield f"{'  ' * depth}{_line(node)}"
    window = next((n for n in chain if isinstance(n, WindowAggregate | OverAggregate)), None)
    stream = next(n.stream for n in chain if isinstance(n, Scan))
    if window is not None:
        yield from _facts(window, stream)
    yield f"Ties: {_ties(stream)}"
    if window is not None and not bucket_keys(window):
        yield f"Warning: {_one_bucket(window)}"
    if window is not None and _keeps_keys(window):
        yield "Warning: the last rows or the count of every key are kept, so state grows with keys"


def _chain(node: Node) -> Iterator[Node]:
    yield node
    if not isinstance(node, Scan):
        yield from _chain(node.input)


# --- the plan, one line a node ----------------------------------------------------


def _line(node: Node) -> str:
    if isinstance(node, Scan):
        return f"Scan {node.stream.name}"
    if isinstance(node, Filter):
        return f"Filter {node.predicate.sql}"
    if isinstance(node, Project):
        made = [s.sql if s.sql == n else f"{s.sql} AS {n}" for n, s in node.columns]
        return f"Project {', '.join(made) or '(no columns)'}"
    if isinstance(node, WindowAggregate):
        calls = [_call(aggregate) for aggregate in node.aggregates]
        return (
            f"WindowAggregate {_hop(node.window)}{_listed(' keys', node.keys)}{_listed('', calls)}"
        )
    return f"OverAggregate {', '.join(_over(call) for call in node.calls)}"


def _call(aggregate: Aggregate) -> str:
    where = f" where {aggregate.where}" if aggregate.where else ""
    args = ", ".join(aggregate.args) or ("*" if aggregate.function == "count" else "")
    return f"{aggregate.name} = {aggregate.function}({args}){where}"


def _over(call: OverCall) -> str:
    return f"{_call(call.aggregate)} {_frame(call.frame)}{_listed(' by', call.partition)}"


def _listed(what: str, names: tuple[str, ...] | list[str]) -> str:
    return f"{what} [{', '.join(names)}]" if names else ""


def _hop(window: Hop) -> str:
    size, advance = _length(window.size, window.unit), _length(window.advance, window.unit)
    offset = f" offset {_length(window.offset, window.unit)}" if window.offset else ""
    return (
        f"tumbling {size}{offset}" if window.tumbles else f"hopping {size} every {advance}{offset}"
    )


def _frame(frame: Frame) -> str:
    reach = format_duration(frame.preceding) if frame.unit is Unit.RANGE else frame.preceding
    return f"over {frame.unit.value} {reach} preceding"


def _length(length: int, unit: Unit) -> str:
    if unit is Unit.RANGE:
        return format_duration(length)
    return f"{length} row{'' if length == 1 else 's'}"


# --- stores, policies, time ---------------------------------------------------------


def _facts(window: Window, stream: Stream) -> Iterator[str]:
    yield f"Operator: {_operator(window)}"
    yield f"Stores: {_stores(window)}"
    yield f"Message key: {_message_key(window)}"
    yield f"Full: {_full(window)}"
    late = "never: messages are counted as they come"
    yield f"Late: {late if counts(window) else _late(window.policy)}"
    if not counts(window):
        yield f"Watermark: {stream.ts} less {format_duration(stream.delay)}"
        yield f"Retention: {format_duration(window.policy.retain)} after the watermark passed"


def _operator(window: Window) -> str:
    if isinstance(window, WindowAggregate):
        kind = "tumbling" if window.window.tumbles else "hopping"
        measure = "messages" if counts(window) else "time"
        return f"aggregator, incremental; {kind} windows of {measure}"
    if window.by_arrival:
        return "aggregator, sliding window of messages"
    return "aggregator, sliding window of the stream" if window.per_instant else "aggregator, OVER"


def _stores(window: Window) -> str:
    if isinstance(window, WindowAggregate):
        if counts(window):
            return "ring (accumulators of the open windows), counts (messages of each key)"
        return "panes (merged accumulators), revisions"
    if window.by_arrival:
        return "ring (the last rows of each key), counts (messages of each key)"
    reach_back = any(call.frame.unit is Unit.ROWS for call in window.calls)
    return "rows, history, revisions" if reach_back else "rows, revisions"


def _message_key(window: Window) -> str:
    if isinstance(window, WindowAggregate):
        return "none: incremental"
    return "offset" if window.by_arrival else "timestamp, offset"


def _full(window: Window) -> str:
    if isinstance(window, WindowAggregate):
        if counts(window):
            return f"at the message {window.window.size} of a window"
        return "when the watermark reaches the window's end"
    return "at each message" if window.by_arrival else "when the watermark passes the row"


def _late(policy: Policy) -> str:
    if policy.late is Late.EVERY:
        return f"every {format_duration(policy.late_period)} of processing time"
    return "on each update" if policy.late is Late.ON_UPDATE else "never"


def _ties(stream: Stream) -> str:
    if stream.offset is None:
        return "by source position"
    return f"by OFFSET {stream.offset}{' (trusted: no duplicates)' if stream.trusted else ''}"


# --- buckets ------------------------------------------------------------------------


def _keeps_keys(window: Window) -> bool:
    """Whether what is kept of a key does not go with time."""
    if counts(window):
        return bool(bucket_keys(window))
    calls = window.calls if isinstance(window, OverAggregate) else ()
    return any(call.partition and call.frame.unit is Unit.ROWS for call in calls)


def _one_bucket(window: Window) -> str:
    if isinstance(window, OverAggregate) and any(call.partition for call in window.calls):
        return "the calls have no PARTITION BY in common, so all rows go to one bucket"
    return "there is no key to part the rows by, so all rows go to one bucket"
