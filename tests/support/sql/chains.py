"""What the tests of chains share: bids in windows, and the stages of a query."""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.instants import format_duration
from sqlwin.plan.explain.lines import line
from sqlwin.plan.ir.nodes import Join, Node, Scan, StaticScan, Stream, WindowAggregate
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.changelog import changing
from sqlwin.plan.properties.facts import (
    derived_streams,
    operator_of,
    window_policy,
)
from sqlwin.policies import Policy
from sqlwin.sql import script

STREAMS = """CREATE STREAM bid (
  auction BIGINT, price BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '4' SECOND);
CREATE STREAM sold (
  id BIGINT, price INT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' MINUTE);
"""
BOUNDS = "window_start, window_end"
COUNTED = (
    f"SELECT auction, {BOUNDS}, window_time, COUNT(*) AS n "
    f"FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY auction, {BOUNDS}"
)
HOPPED = (
    "SELECT auction, window_start AS s, window_end AS e, COUNT(*) AS n "
    "FROM HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '10' SECOND) "
    f"GROUP BY auction, {BOUNDS}"
)


def query(text: str) -> Query:
    (only,) = script(STREAMS + text).queries
    return only


def below(text: str) -> tuple[Stream, ...]:
    """The derived streams, from below."""
    return derived_streams(query(text).plan)


def only(text: str) -> Stream:
    (stream,) = below(text)
    return stream


def top(text: str) -> WindowAggregate:
    found = operator_of(query(text).plan)
    assert isinstance(found, WindowAggregate)
    return found


def policy(plan: Node) -> Policy:
    found = window_policy(plan)
    assert found is not None
    return found


def stages(text: str) -> list[str]:
    """The trees of all stages: derived streams from below, then the query itself."""
    plan = query(text).plan
    out = []
    for stream in derived_streams(plan):
        again = ", changing" if any(map(changing, stream.of)) else ""
        out.append(f"{stream.name}: {stream.ts} less {format_duration(stream.delay)}{again}")
        out += [line for made in stream.of for line in _tree(made, 1)]
    return [*out, "answer:", *_tree(plan, 1)]


def _tree(node: Node, depth: int) -> list[str]:
    inputs: tuple[Node, ...] = ()
    if isinstance(node, Join):
        inputs = (node.left, node.right)
    elif not isinstance(node, Scan | StaticScan):
        inputs = (node.input,)
    inner = [text for each in inputs for text in _tree(each, depth + 1)]
    return ["  " * depth + line(node), *inner]


def mistake(text: str) -> QueryError:
    try:
        script(STREAMS + text)
    except QueryError as error:
        return error
    raise AssertionError(f"was taken: {text}")
