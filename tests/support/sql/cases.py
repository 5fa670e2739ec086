"""What the tests of the front end share: one stream, and shorthand."""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Filter, Node, OverAggregate, Project, Scan, WindowAggregate
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.sql import script

ORDERS = """CREATE STREAM orders (
  id BIGINT, product STRING, value DOUBLE, n INT, price DECIMAL(10, 2), ts_ms BIGINT,
  ts TIMESTAMP, at AS TO_TIMESTAMP_LTZ(ts_ms, 3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, OFFSET id
);
"""
SECOND, MINUTE, HOUR = 10**6, 60 * 10**6, 3600 * 10**6


def bound(query: str) -> Script:
    return script(ORDERS + query)


def query(text: str) -> Query:
    (only,) = bound(text).queries
    return only


def plan(text: str) -> Node:
    return query(text).plan


def window(text: str) -> WindowAggregate:
    node = operator(plan(text))
    assert isinstance(node, WindowAggregate)
    return node


def over(text: str) -> OverAggregate:
    node = operator(plan(text))
    assert isinstance(node, OverAggregate)
    return node


def operator(node: Node) -> Node:
    while isinstance(node, Filter | Project):
        node = node.input
    return node


def below(node: Node) -> dict[str, str]:
    """The Project below a window operator: names to Spark SQL."""
    assert isinstance(node, WindowAggregate | OverAggregate)
    return columns(node.input)


def columns(node: Node) -> dict[str, str]:
    assert isinstance(node, Project)
    return {name: scalar.sql for name, scalar in node.columns}


def filtered(node: Node) -> str | None:
    """The predicate right below a node, as Spark SQL."""
    assert not isinstance(node, Scan)
    inner = node.input
    return inner.predicate.sql if isinstance(inner, Filter) else None


def mistake(text: str) -> QueryError:
    try:
        bound(text)
    except QueryError as error:
        return error
    raise AssertionError(f"was taken: {text}")


def underlined(error: QueryError) -> str:
    assert error.span is not None
    line = error.text.splitlines()[error.span.line - 1]
    return line[error.span.column - 1 :][: error.span.length]
