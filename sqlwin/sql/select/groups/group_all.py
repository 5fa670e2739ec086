"""GROUP BY ALL: by every column of SELECT that has no aggregate in it, as in Spark and DuckDB.

    SELECT product, HOUR(ts) AS hour, COUNT(*) AS n FROM orders GROUP BY ALL

is GROUP BY 1, 2. What goes by the groups, an aggregate or an OVER call, is no key, and neither is a
constant, which all rows have. Where every column has an aggregate there is one group.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.text import ast


def by_all(select: ast.Select) -> ast.Select:
    """With the numbers of the keys for ALL; a column of that name is `all`, in backticks."""
    (word,) = select.group
    keys = [at for at, run in enumerate(select.items, 1) if _is_key(run)]
    return replace(select, group=tuple(ast.Run(str(at), str(at), word.span) for at in keys))


def _is_key(run: ast.Run) -> bool:
    tree = parsed(run)
    if _is_star(tree):
        message = "GROUP BY ALL is by the columns that SELECT names, and * names none"
        raise QueryError(message, run.span, legal="SELECT product, COUNT(*) … GROUP BY ALL")
    of_groups = run.overs or next(bare_calls(tree, run), None) is not None
    return not of_groups and tree.find(exp.Column) is not None


def _is_star(tree: Expr) -> bool:
    return isinstance(tree, exp.Star) or isinstance(tree.this, exp.Star)
