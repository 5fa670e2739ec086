"""What is read off a plan alike for windows and joins, to lower it to the reference.

Nothing here comes from `sqlwin.runtime.lowering.lower`: a mistake there shows as a difference
between the reference and the other hosts.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sqlwin.plan.ir.nodes import Filter, Node, Project, Scalar, Scan, StaticScan, column_of
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.changelog import carries_weights, changing
from sqlwin.runtime.inputs.admission import Admission
from sqlwin.runtime.rows.scalars import Columns
from sqlwin.schema import CHANGE, WEIGHT

A_DAY = 86_400_000_000


def until(node: Node, found: Callable[[Node], bool]) -> tuple[list[Node], Node]:
    """The nodes above the first that is found, and that one."""
    passed: list[Node] = []
    while not found(node):
        passed.append(node)
        node = node.input  # type: ignore[union-attr]
    return passed, node


def condition(nodes: list[Node]) -> Scalar | None:
    return next((node.predicate for node in nodes if isinstance(node, Filter)), None)


def columns(nodes: list[Node], source: Node) -> Columns:
    projects = [node.columns for node in nodes if isinstance(node, Project)]
    return projects[0] if projects else tuple((c.name, column_of(c)) for c in source.schema)


def carried(scan: Scan | StaticScan, passes: bool) -> tuple[str, ...]:
    """What a derived row has besides. passes: the row is a result as it is."""
    if not scan.stream.of:
        return ()
    return CHANGE if passes else (WEIGHT,) if carries_weights(scan) else ()


def pairs(query: Query, derives: bool) -> bool:
    """Whether what is above, a stage, a sink or a filter, takes both sides of each change."""
    return (derives or query.retracts) and changing(query.plan)


def admission(
    stream: str,
    replays: bool,
    rising: bool,
    by_rows: dict[str, pl.DataType] | None,
    at: int = 0,
) -> Admission | None:
    """By the rules that all hosts share; positions are known for ever.

    replays, rising, by_rows: as in Admission.
    """
    if not replays and by_rows is None:
        return None
    keys = None if by_rows is None else tuple(by_rows.items())
    return Admission(stream, replays, rising, keys, None, A_DAY, nameless=True, at=at)
