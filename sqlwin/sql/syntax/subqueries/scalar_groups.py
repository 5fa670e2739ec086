"""Values of queries in expressions, in a query that groups: one for each group.

    SELECT k, SUM(v) FROM a GROUP BY k HAVING SUM(v) > (SELECT AVG(w) FROM b WHERE b.k = a.k)
    SELECT k, SUM(v) FROM a LEFT JOIN … s ON s.k = a.k GROUP BY k HAVING SUM(v) > ANY_VALUE(s.s)

Within an aggregate the value is that of each row. Outside, all rows of a group have one, for what
it names of them is a key.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.text import ast


def grouped(
    select: ast.Select,
    items: tuple[ast.Run, ...],
    having: ast.Run | None,
    joins: Sequence[ast.Join],
) -> tuple[tuple[ast.Run, ...], ast.Run | None]:
    """The items and HAVING, whose values `joins` have; as they were, where nothing groups."""
    runs = [*items, *([] if having is None else [having])]
    if not select.group and not any(calls_aggregate(parsed(run), run) for run in runs):
        return items, having
    made = [_of_groups(run, select, joins) for run in runs]
    return tuple(made[: len(items)]), having and made[-1]


def calls_aggregate(tree: Expr, run: ast.Run) -> bool:
    return any(_aggregate(node, run) for node in tree.walk())


def _aggregate(node: Expr, run: ast.Run) -> bool:
    call = call_at(node, run)
    return call is not None and call.over is None


def _of_groups(run: ast.Run, select: ast.Select, joins: Sequence[ast.Join]) -> ast.Run:
    text, tree = run.text, parsed(run)
    for join in joins:
        assert join.right.alias is not None and join.on is not None
        name = join.right.alias.text
        found = [node for node in tree.find_all(exp.Column) if node.table == name]
        if not found or within_aggregate(found[0], run):
            continue
        _check(join, name, select)
        text = re.sub(rf"\b{name}\.{name}(_part\d+)?\b", r"ANY_VALUE(\g<0>)", text)
    return replace(run, text=text)


def within_aggregate(node: Expr, run: ast.Run) -> bool:
    """Whether it is a part of an aggregate's call."""
    above: Expr | None = node
    while above is not None:
        if _aggregate(above, run):
            return True
        above = above.parent
    return False


def _check(join: ast.Join, name: str, select: ast.Select) -> None:
    """QueryError where it names a column of the rows that is no key of the groups."""
    assert join.on is not None
    keys = [node for run in select.group for node in parsed(run).find_all(exp.Column)]
    for node in parsed(join.on).find_all(exp.Column):
        if node.table != name and not any(_same(node, key) for key in keys):
            column = f"{node.table}.{node.name}"
            message = f"a query beside aggregates names {column}, which is no key of the groups"
            legal = f"GROUP BY {column}; the query within an aggregate"
            raise QueryError(message, join.word.span, legal=legal)


def _same(one: exp.Column, other: exp.Column) -> bool:
    tables = {one.table.lower(), other.table.lower()} - {""}
    return one.name.lower() == other.name.lower() and len(tables) < 2
