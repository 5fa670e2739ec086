"""ksqlDB's `address->city`, the field of a struct, as Spark's `address.city`.

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect import SqlwinSpark
>>> dotted(sqlglot.parse_one("a->b->c", read=SqlwinSpark)).sql()
'a.b.c'
"""

from __future__ import annotations

from sqlglot import exp

from sqlwin.sql.expressions.trees import rewritten_in_place

Expr = exp.Expr
_PARTS = ("this", "table", "db", "catalog")


def dotted(tree: Expr) -> Expr:
    """tree: which this may change."""
    found = tree.find(exp.JSONExtract)
    return tree if found is None else rewritten_in_place(tree, _dot)


def _dot(node: Expr) -> Expr:
    """A name behind the arrow is a field; a text or a path is left for a message."""
    if not isinstance(node, exp.JSONExtract) or not isinstance(node.expression, exp.Column):
        return node
    above, field = dotted(node.this), node.expression.this
    if isinstance(above, exp.Column) and len(above.parts) < 4:
        parts = (field, *reversed(above.parts))
        return exp.Column(**dict(zip(_PARTS, parts, strict=False)))
    return exp.Dot(this=above, expression=field)
