"""ANY, SOME and ALL of an array: whether a comparison holds for one of its elements, or for each.

    x = ANY(xs)      EXISTS(xs, e -> x = e)
    x > ALL(xs)      FORALL(xs, e -> x > e)

Both are NULL where one that is NULL would decide, as in SQL.
"""

from __future__ import annotations

from sqlglot import exp

from sqlwin.sql.expressions.trees import copied

ELEMENT = "_element"
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_FUNCTIONS = {"ANY": "EXISTS", "SOME": "EXISTS", "ALL": "FORALL"}


def over_elements(node: exp.Expr) -> exp.Expr:
    """What stands for a node; itself for all but comparisons with ANY or ALL."""
    word, array = _array(node.expression) if isinstance(node, _COMPARED) else ("", None)
    if array is None:
        return node
    element = exp.to_identifier(ELEMENT, quoted=True)
    compared = type(node)(this=copied(node.this), expression=element)
    condition = exp.Lambda(this=compared, expressions=[copied(element)])
    return exp.Anonymous(this=_FUNCTIONS[word], expressions=[copied(array), condition])


def _array(node: exp.Expr) -> tuple[str, exp.Expr | None]:
    if isinstance(node, exp.Any):
        return "ANY", node.this.unnest()
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        word = node.name.upper()
        return (word, node.expressions[0]) if word in _FUNCTIONS else ("", None)
    return "", None
