"""Brackets around a join in FROM, of what stands in them the same joins, or a query.

    FROM (a JOIN b ON …) JOIN c ON …      FROM a JOIN b ON … JOIN c ON …
    FROM (a JOIN b ON …) AS ab            FROM (SELECT * FROM a JOIN b ON …) AS ab
    FROM a JOIN (b JOIN c ON …) ON …      FROM a JOIN (SELECT * FROM b JOIN c ON …) ON …

Joins go from the left, so the first needs none. The query of the last is open: `b` and `c` are
names outside of it, too, and its joins have the policies of the query around, for in brackets there
is no place for others.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.sql.syntax.leaves import Children
from sqlwin.sql.text import ast


def first(joined: ast.From, behind: Children) -> ast.From | ast.Select:
    """What FROM begins with. behind: the alias, the window and the like; of a join without a name
    ksqlDB's window is over the joined rows."""
    if not behind:
        return joined
    if len(behind) == 1 and isinstance(behind[0], ast.KsqlWindow):
        return replace(joined, above=behind[0])
    return _query(joined)


def right(joined: ast.From) -> ast.From:
    """What stands behind JOIN."""
    return ast.From(_query(joined), window=joined.above, open=True)


def _query(joined: ast.From) -> ast.Select:
    span = joined.source.span
    return ast.Select((ast.Run("*", "*", span),), replace(joined, above=None), span)
