"""FIRST, LAST and ANY_VALUE with Spark's second argument, which says whether NULLs are ignored.

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> [type(sqlglot.parse_one(f"FIRST_VALUE(x, {flag})", read=SqlwinSpark)).__name__
...  for flag in ("true", "false")]
['IgnoreNulls', 'FirstValue']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

NULLS_GIVEN = "nulls_given"
"""Of a key of ORDER BY: whether NULLS FIRST or NULLS LAST stands behind it."""


def _picking(name: str, kind: type[exp.Expr]) -> Callable[..., exp.Expr]:
    def build(args: list[Any]) -> exp.Expr:
        if len(args) == 1:
            return kind(this=args[0])
        if len(args) == 2 and isinstance(args[1], exp.Boolean):
            flag = args.pop()  # sqlglot counts what is left
            plain = kind(this=args[0])
            return exp.IgnoreNulls(this=plain) if flag.this else plain
        return exp.Anonymous(this=name, expressions=args)  # so many are refused by name

    return build


FUNCTIONS = {
    "ANY_VALUE": _picking("ANY_VALUE", exp.AnyValue),
    "FIRST": _picking("FIRST", exp.First),
    "FIRST_VALUE": _picking("FIRST_VALUE", exp.FirstValue),
    "LAST": _picking("LAST", exp.Last),
    "LAST_VALUE": _picking("LAST_VALUE", exp.LastValue),
}
