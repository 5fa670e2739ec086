"""What EXPLAIN and `sqlwin check` warn of: the warnings of every stage of a query."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.explain.null_comparisons import null_comparisons
from sqlwin.plan.explain.stage_warnings import normalizer_warnings, stage_warnings
from sqlwin.plan.ir.nodes import Join, Node, Stream
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import (
    arriving,
    derived_streams,
    join_of,
    operator_of,
    plans_of,
    sources_of,
    streams_of,
    unranked,
    untimed_streams,
    window_of,
)


def warnings(query: Query) -> Iterator[str]:
    """Of all stages, each once; those of a derived stream begin with its name."""
    yield from undeclared(query)
    yield from warnings_of(query.plan)
    for stream in reversed(derived_streams(query.plan)):
        below = (warning for plan in stream.of for warning in warnings_of(plan))
        yield from (f"{stream.name}: {warning}" for warning in dict.fromkeys(below))


def undeclared(query: Query) -> Iterator[str]:
    """Of what a declaration leaves open: a WATERMARK, where anything goes by event time, its own or
    none; and a PRIMARY KEY that nothing enforces.

    What only passes rows on, or counts messages, is the same with a WATERMARK.
    """
    named = {stream.name: _named(stream) for stream in sources_of(query.plan) if stream.undeclared}
    untimed = (stream for plan in plans_of(query.plan) for stream in _untimed(plan))
    yield from ({stream.name: _without(stream) for stream in untimed} | named).values()
    read = dict.fromkeys(sources_of(query.plan))
    yield from (_unenforced(each) for each in read if each.key and each.changelog is None)


def _unenforced(stream: Stream) -> str:
    return (
        f"PRIMARY KEY ({', '.join(stream.key)}) of {stream.name} is not enforced: every row of a "
        f"key counts; changelog = 'upsert' has each replace the one before it"
    )


def _named(stream: Stream) -> str:
    return (
        f"{stream.name} declares no WATERMARK, so a row before the greatest {stream.ts} is "
        f"late; WATERMARK FOR {stream.ts} AS {stream.ts} - INTERVAL '5' SECOND awaits it"
    )


def _without(stream: Stream) -> str:
    return (
        f"{stream.name} declares no WATERMARK, so its rows have no event time: none is too old "
        f"for a RETAIN, and ties go by arrival"
    )


def _untimed(plan: Node) -> Iterator[Stream]:
    """The declared streams without event time that an operator reads which would go by it."""
    operator = operator_of(plan)
    static = isinstance(operator, Join) and operator.static
    if operator is not None and not static and not arriving(operator):
        yield from untimed_streams(plan)


def warnings_of(plan: Node) -> Iterator[str]:
    yield from null_comparisons(plan)
    join, found = join_of(plan), window_of(plan)
    if join is not None:
        from sqlwin.plan.explain.join_warnings import join_warnings  # few queries join

        yield from join_warnings(join)
    elif found is not None:
        (stream,) = streams_of(plan)
        if stream.changelog is not None:
            yield from normalizer_warnings(unranked(found), stream)
        else:
            yield from stage_warnings(found, stream)
