"""Filter over Filter is one Filter."""

from __future__ import annotations

from sqlwin.plan.nodes import Filter, Node, Scalar


def merge_filters(node: Node) -> Node:
    if not isinstance(node, Filter) or not isinstance(node.input, Filter):
        return node
    return Filter(node.input.input, both(node.input.predicate, node.predicate))


def both(first: Scalar, second: Scalar) -> Scalar:
    return Scalar(
        sql=f"({first.sql}) AND ({second.sql})",
        duckdb=f"({first.duckdb}) AND ({second.duckdb})",
        type=first.type,
        inputs=tuple(dict.fromkeys((*first.inputs, *second.inputs))),
    )
