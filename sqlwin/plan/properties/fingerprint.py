"""The fingerprint of plans: a checkpoint belongs to one."""

from __future__ import annotations

import hashlib

from sqlwin.added import added_values
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import plans_of
from sqlwin.python_functions.function import unnumbered


def fingerprint(*queries: Query) -> str:
    """Of different plans it is different. Sinks may change, but not whether they
    take both halves of a change, for which the old one has to be kept.
    """
    parts: list[object] = [plan for query in queries for plan in plans_of(query.plan)]
    parts += ["retract"] * sum(query.retracts for query in queries)
    parts += added_values(parts)
    return hashlib.sha256(unnumbered(repr(parts)).encode()).hexdigest()[:16]
