"""Which sources make the results of a plan, and which are looked up only.

    FROM t JOIN u ON …       of two static tables t is read as a stream, and looks u up: t drives it

Rows of a table that is looked up make no result as they come.
"""

from __future__ import annotations

from sqlwin.plan.ir.nodes import Join, Node, Scan, StaticScan, Stream
from sqlwin.plan.ir.once import once
from sqlwin.plan.properties.facts import below_of


@once
def driving(plan: Node) -> frozenset[Stream]:
    """The declared streams and tables whose rows make results as they come."""
    below = (plan.left,) if isinstance(plan, Join) and plan.static else below_of(plan)
    own = {plan.stream} if isinstance(plan, Scan | StaticScan) and not plan.stream.of else set()
    return frozenset(own).union(*map(driving, below))
