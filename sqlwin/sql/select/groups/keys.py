"""The keys of GROUP BY: expressions, aliases and ordinals to columns below the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.relations.window_columns import WINDOW
from sqlwin.sql.select.groups.grouping import Grouping
from sqlwin.sql.select.groups.grouping_sets import Keys
from sqlwin.sql.text import ast

MOST_KEYS = 63
"""Of grouping sets: the bits of a BIGINT, which distinguishes the sets."""


def keys(grouping: Grouping, runs: Sequence[ast.Run], items: Sequence[Item]) -> list[str]:
    """Names of the keys, without the window's columns, which are keys in any case."""
    made = (_key(grouping, run, items) for run in runs)
    return [name for name in made if name is not None]


def key_sets(
    grouping: Grouping, sets: Sequence[Keys], items: Sequence[Item], always: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """The sets by the names of their keys, each once. fixed: keys of every set."""
    made: dict[tuple[str, ...], None] = {}
    windowed = set()
    span = next((run.span for one in sets for run in one), None)
    for one in sets:
        names = [_key(grouping, run, items) for run in one]
        windowed.add(None in names)
        made[tuple(name for name in grouping.keys if name in (*always, *names))] = None
    if len(windowed) > 1:
        message = "a window is a part of every grouping set, or of none by name"
        legal = "GROUP BY window_start, window_end, GROUPING SETS (…)"
        raise QueryError(message, span, legal=legal)
    if len(grouping.keys) > MOST_KEYS:
        message = f"grouping sets of {len(grouping.keys)} keys"
        raise QueryError(message, span, legal=f"at most {MOST_KEYS}")
    return tuple(made)


def _key(grouping: Grouping, run: ast.Run, items: Sequence[Item]) -> str | None:
    """The key's name; None for a column of the window, which is a key in any case."""
    tree, run = listed(parsed(run), run, items)
    scope = replace(grouping.scope, aliases=aliases(grouping.scope, items, run, tree))
    resolved = scope.resolved(tree, run)
    refuse_calls(resolved, run, "GROUP BY")
    if isinstance(resolved, exp.Column) and resolved.table == WINDOW:
        return None
    if any(node.table == WINDOW for node in resolved.find_all(exp.Column)):
        message = "a key computed from the window's columns is not supported yet"
        raise QueryError(message, run.span, legal="GROUP BY window_start, window_end and columns")
    return grouping.key(resolved, run)


def listed(tree: Expr, run: ast.Run, items: Sequence[Item]) -> tuple[Expr, ast.Run]:
    """`GROUP BY 2` is the second of the select list."""
    if not isinstance(tree, exp.Literal) or not tree.is_int:
        return tree, run
    at = int(tree.name)
    if not 1 <= at <= len(items):
        message = f"GROUP BY {at}: the select list has {len(items)} columns"
        raise QueryError(message, run.span, legal=f"1 to {len(items)}")
    return items[at - 1].tree, items[at - 1].run


def aliases(scope: Scope, items: Sequence[Item], run: ast.Run, tree: Expr) -> dict[str, Expr]:
    """The select items that `tree` names by alias, resolved; a column of that name wins."""
    used = {node.name.lower() for node in tree.find_all(exp.Column)}
    named = [item for item in items if item.alias and item.alias.lower() in used]
    return {item.name.lower(): scope.resolved(item.tree, item.run) for item in named}
