"""EXPLAIN as lines."""

from __future__ import annotations

from sqlwin.runtime.lowering.explained import explain
from tests.support.sql.cases import query


def lines(text: str) -> list[str]:
    return explain(query(text)).splitlines()


def facts(text: str) -> list[str]:
    """From the operator on, below the tree."""
    found = lines(text)
    return found[next(at for at, line in enumerate(found) if line.startswith("Operator")) :]
