"""What the tests of joins share: two streams, a static table, and a plan as lines."""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.instants import format_duration
from sqlwin.plan.explain.lines import line
from sqlwin.plan.ir.nodes import Join, Node, Scan, StaticScan
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import (
    derived_streams,
    join_of,
)
from sqlwin.sql import script

STREAMS = """CREATE STREAM orders (
  id BIGINT, product STRING, value DOUBLE, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, OFFSET id);
CREATE STREAM shipments (
  id BIGINT, order_id INT, cost INT, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL '1' MINUTE);
CREATE TABLE products (product STRING, maker STRING);
"""


def query(text: str) -> Query:
    (only,) = script(STREAMS + text).queries
    return only


def join(text: str) -> Join:
    found = join_of(query(text).plan)
    assert found is not None
    return found


def tree(text: str) -> list[str]:
    return list(_tree(query(text).plan, 0))


def _tree(node: Node, depth: int) -> list[str]:
    inputs: tuple[Node, ...] = ()
    if isinstance(node, Join):
        inputs = (node.left, node.right)
    elif not isinstance(node, Scan | StaticScan):
        inputs = (node.input,)
    below = [text for each in inputs for text in _tree(each, depth + 1)]
    return ["  " * depth + line(node), *below]


def stages(text: str) -> list[str]:
    """The trees of all stages: derived streams from below, then the query itself."""
    plan = query(text).plan
    out = []
    for stream in derived_streams(plan):
        out.append(f"{stream.name}: {stream.ts} less {format_duration(stream.delay)}")
        out += [line for below in stream.of for line in _tree(below, 1)]
    return [*out, "answer:", *_tree(plan, 1)]


def joined(text: str) -> str:
    """The line of the topmost join alone."""
    return line(join(text))


def mistake(text: str) -> QueryError:
    try:
        script(STREAMS + text)
    except QueryError as error:
        return error
    raise AssertionError(f"was taken: {text}")
