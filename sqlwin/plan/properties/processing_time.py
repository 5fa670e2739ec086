"""Which calls of a plan read processing time: `NOW()`, `CURRENT_DATE`, …

>>> import pyarrow as pa
>>> from sqlwin.errors import Span
>>> from sqlwin.plan.ir.nodes import Project, Scan, Stream
>>> scan = Scan(Stream("orders", (), None))
>>> call = ClockCall("NOW()", Span(1, 8))
>>> now = Scalar("NOW()", '"__now"', pa.timestamp("us", "UTC"), (), clock=call)
>>> clock_call(scan), clock_call(Project(scan, (("seen", now),))).text
(None, 'NOW()')
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.ir.nodes import Filter, Join, Node, Project, Scalar, Scan, StaticScan
from sqlwin.plan.ir.streams import ClockCall
from sqlwin.plan.properties.facts import below_of, plans_of


def clock_call(plan: Node) -> ClockCall | None:
    """The first of the plan and those below it, None where there is none."""
    calls = (scalar.clock for made in plans_of(plan) for scalar in _scalars(made))
    return next((call for call in calls if call is not None), None)


def _scalars(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scan | StaticScan):
        return
    if isinstance(node, Filter):
        yield node.predicate
    elif isinstance(node, Project):
        yield from (scalar for _, scalar in node.columns)
    elif isinstance(node, Join) and node.residual is not None:
        yield node.residual
    for below in below_of(node):
        yield from _scalars(below)
