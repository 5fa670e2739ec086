"""EXPLAIN: what a query will do, as text that is the same in every run.

The stage that gives the results comes first, then what it reads, each derived stream before those
that it is made of.

Operator, window, keys and aggregates; stores and the layout of message keys, as
in SAMZA-552's table; policies, lateness and retention; how ties are broken; and a
warning where one task gets all rows, or where state is unbounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlwin.plan.explain.delivery import delivery
from sqlwin.plan.explain.lines import line
from sqlwin.plan.explain.operators import windows
from sqlwin.plan.explain.topics import topic
from sqlwin.plan.explain.warnings import undeclared, warnings_of
from sqlwin.plan.ir.nodes import Join, Node, Scan, StaticScan, Stream
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.options.sinks import changes
from sqlwin.plan.properties.facts import (
    derived_streams,
    join_of,
    names_folders,
    operator_of,
    sources_of,
    spanned,
)
from sqlwin.plan.properties.processing_time import reads_clock
from sqlwin.schema import type_name

DeclaredStores = Mapping[Node, Sequence[str]]
"""Of the plan of each stage: `name (what it holds)` of each store that its operators open."""


Measured = Mapping[Node, str]
"""What the operator of each stage did, by its plan."""


def explain(query: Query, stores: DeclaredStores, measured: Measured | None = None) -> str:
    """The host passes the stores, for a plan knows no operators; and what was measured of a run."""
    return "\n".join(_query(query, stores, measured or {}))


def _query(query: Query, stores: DeclaredStores, measured: Measured) -> Iterator[str]:
    yield f"Output: {query.sink.name if query.sink else 'screen'}"
    yield from delivery(query.sink, query.errors)
    for column in query.plan.schema:
        yield f"  {column.name} {type_name(column.type)}"
    read = map(topic, dict.fromkeys(sources_of(query.plan)))
    yield from (f"Source: {line}" for line in read if line is not None)
    yield from (f"Source: {line}" for line in _folders(query.plan))
    yield from _stage(query.plan, stores, measured)
    if reads_clock(query.plan):
        yield "Processing time: each row's is that of the batch that takes it in"
    yield from (f"Warning: {warning}" for warning in undeclared(query))
    seen: dict[Node, Stream] = {}
    for stream in reversed(derived_streams(query.plan)):
        yield f"Derived stream: {_derived(stream)}"
        for plan in stream.of:
            if plan in seen:
                yield f"As {seen[plan].name}, computed once"
            else:
                yield from _stage(plan, stores, measured)
            seen.setdefault(plan, stream)


def _folders(plan: Node) -> Iterator[str]:
    if names_folders(plan):
        from sqlwin.plan.explain.folders import folders  # by need

        yield from folders(plan)


def _stage(plan: Node, stores: DeclaredStores, measured: Measured) -> Iterator[str]:
    yield from _tree(plan, operator_of(plan) or plan, measured.get(plan))
    join, opened = join_of(plan), ", ".join(stores[plan])
    if join is None:
        yield from windows.facts(plan, opened)
    else:
        from sqlwin.plan.explain.operators import joins

        yield from joins.facts(join, opened)
    yield from (f"Warning: {warning}" for warning in warnings_of(plan))


def _derived(stream: Stream) -> str:
    """Its event time, and whether its rows are ever updated."""
    time = "no event time" if stream.ts is None else f"event time {stream.ts}"
    time = "no event time, but spans of numbers" if spanned(stream) else time
    rows = (
        "rows are retracted and replaced" if changes(Scan(stream)) else "each row is emitted once"
    )
    if stream.change is not None:
        rows = {"ISTREAM": "what comes into results", "DSTREAM": "what leaves results"}[
            stream.change
        ]
    return f"{stream.name}; {time}; {rows}"


def _tree(node: Node, operator: Node, did: str | None, depth: int = 0) -> Iterator[str]:
    yield f"{'  ' * depth}{line(node)}"
    if did is not None and node is operator:
        yield f"{'  ' * depth}  ({did})"
    below: tuple[Node, ...] = (node.left, node.right) if isinstance(node, Join) else ()
    if not isinstance(node, Join | Scan | StaticScan):
        below = (node.input,)
    for each in below:
        yield from _tree(each, operator, did, depth + 1)
