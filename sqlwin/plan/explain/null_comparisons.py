"""Comparisons with NULL in conditions: `a = NULL` is NULL for every row, and so never true.

>>> list(never_true("a = NULL AND (b > 1 OR NULL <> `a b`) AND c <> '= NULL'"))
['a = NULL is never true; use a IS NULL', '`a b` <> NULL is never true; use `a b` IS NOT NULL']
>>> list(never_true("COUNT(*) = NULL")), list(never_true("a IS NOT DISTINCT FROM NULL"))
(['… = NULL is never true; use … IS NULL'], [])
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlwin.plan.ir.nodes import Filter, Join, Node, Scalar, Scan, StaticScan
from sqlwin.plan.properties.facts import below_of

_NAME = r"(?:[\w.]|`(?:[^`]|``)*`)+"
_COMPARED = re.compile(
    rf"""'(?:[^'\\]|\\.|'')*'
      | (?P<left>{_NAME})?\s*(?P<op>=|<>)\s*NULL\b
      | (?<!\bIS\s)(?<!\bNOT\s)\bNULL\s*(?P<mirrored>=|<>)\s*(?P<right>{_NAME})?
      | {_NAME}""",
    re.VERBOSE,
)


def null_comparisons(plan: Node) -> Iterator[str]:
    """Of all conditions of a plan, each once."""
    yield from dict.fromkeys(w for made in _conditions(plan) for w in never_true(made.sql))


def never_true(condition: str) -> Iterator[str]:
    """condition: as a `Scalar` shows it."""
    for found in _COMPARED.finditer(condition):
        op = found["op"] or found["mirrored"]
        if op is not None:
            operand = found["left"] or found["right"] or "…"
            asks = "IS NULL" if op == "=" else "IS NOT NULL"
            yield f"{operand} {op} NULL is never true; use {operand} {asks}"


def _conditions(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scan | StaticScan):
        return
    if isinstance(node, Filter):
        yield node.predicate
    elif isinstance(node, Join) and node.residual is not None:
        yield node.residual
    for below in below_of(node):
        yield from _conditions(below)
