"""A plan in normal form, cut at its window operator.

Invariant: above a scan, and above an operator, stand one Filter and one Project at most; any other
plan is not in normal form, and is refused.
"""

from __future__ import annotations

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import (
    Filter,
    Join,
    Node,
    Project,
    Scalar,
    Scan,
    StaticScan,
    Unnest,
    column_of,
)
from sqlwin.plan.properties.facts import Window, unranked
from sqlwin.runtime.rows.scalars import Columns


@dataclass(frozen=True)
class Cut:
    """A plan cut at its window operator."""

    scan: Scan
    where: Scalar | None
    columns: Columns
    window: Window | Unnest | None
    having: Scalar | None
    output: Columns


def cut_at_window(plan: Node) -> Cut:
    above, node = above_of(plan)
    if isinstance(node, Scan):
        return Cut(node, *filter_and_project(above, node), None, None, _identity(plan))
    assert not isinstance(node, Join | StaticScan | Filter | Project)
    below, inner = above_of(node.input if isinstance(node, Unnest) else unranked(node).input)
    if not isinstance(inner, Scan):
        raise TypeError(f"not in normal form: {type(inner).__name__} below {type(node).__name__}")
    where, columns = filter_and_project(below, inner)
    having, output = filter_and_project(above, node)
    return Cut(inner, where, columns, node, having, output)


def above_of(plan: Node) -> tuple[list[Node], Node]:
    """The filters and projections on top of a plan, and what they stand on."""
    passed: list[Node] = []
    while isinstance(plan, Filter | Project):
        passed.append(plan)
        plan = plan.input
    return passed, plan


def filter_and_project(nodes: list[Node], source: Node) -> tuple[Scalar | None, Columns]:
    """The one Filter and the one Project of normal form above `source`."""
    where: Scalar | None = None
    columns: Columns | None = None
    for node in nodes:
        if isinstance(node, Filter) and where is None:
            where = node.predicate
        elif isinstance(node, Project) and columns is None:
            columns = node.columns
        else:
            raise TypeError(f"not in normal form: a second {type(node).__name__}")
    return where, columns if columns is not None else _identity(source)


def _identity(node: Node) -> Columns:
    return tuple((column.name, column_of(column)) for column in node.schema)
