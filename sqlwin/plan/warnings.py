"""What EXPLAIN and `sqlwin check` warn of: the cautions of every stage of a query."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan import explain_joins
from sqlwin.plan.cautions import cautions
from sqlwin.plan.facts import (
    derived_streams,
    join_of,
    sources_of,
    streams_of,
    window_of,
)
from sqlwin.plan.nodes import Node, Query


def warnings(query: Query) -> Iterator[str]:
    """Of all stages, each once; those of a derived stream begin with its name."""
    yield from undeclared(query)
    yield from cautions_of(query.plan)
    for stream in reversed(derived_streams(query.plan)):
        told = (caution for plan in stream.of for caution in cautions_of(plan))
        yield from (f"{stream.name}: {caution}" for caution in dict.fromkeys(told))


def undeclared(query: Query) -> Iterator[str]:
    """Of streams whose event time no WATERMARK declares, where a window goes by it."""
    for stream in sources_of(query.plan):
        if stream.undeclared:
            yield (
                f"{stream.name} declares no WATERMARK, so a row before the greatest {stream.ts} is "
                f"late; WATERMARK FOR {stream.ts} AS {stream.ts} - INTERVAL '5' SECOND awaits it"
            )


def cautions_of(plan: Node) -> Iterator[str]:
    join, found = join_of(plan), window_of(plan)
    if join is not None:
        yield from explain_joins.cautions(join)
    elif found is not None:
        (stream,) = streams_of(plan)
        yield from cautions(found, stream)
