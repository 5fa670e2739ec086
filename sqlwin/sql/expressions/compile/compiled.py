"""Expressions with their types: sqlglot's tree, through the table of functions, to DuckDB's text.

Each node is either structure (a column, a literal, CASE, IN, a lambda) and has a rule, or
a call of one of the functions of `sqlwin.functions.table`, to which `calls` gives its name. No
part of the tree is printed by sqlglot, and every conversion of types is written out.

>>> import pyarrow as pa
>>> from sqlwin.schema import Column
>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> tree = sqlglot.parse_one("UPPER(s) = 'X' AND n + 1 > 2", read=SqlwinSpark)
>>> made = compiled(tree, (Column("s", pa.string()), Column("n", pa.int64())))
>>> str(made.type)
'bool'
"""

from __future__ import annotations

import re

from sqlglot import exp

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import interval_named
from sqlwin.functions.never import why_type
from sqlwin.schema import Schema, type_of
from sqlwin.sql.expressions.compile import atoms, conditions, fields
from sqlwin.sql.expressions.compile.compiler import Compiler, Expr, Rules, Uncompiled

_INTERVAL_VALUE = re.compile(r"\s*[+-]?\s*[0-9.]+\s*", re.ASCII)


def compiled(tree: Expr, schema: Schema) -> Typed:
    """The tree, over columns of `schema`. Uncompiled where it has no meaning."""
    columns = {column.name: column.type for column in schema}
    compiler = Compiler(columns, _RULES)
    return compiler.constants.first_failure(compiler.typed(tree))


def _paren(compiler: Compiler, node: Expr) -> Typed:
    return compiler.typed(node.this)


def _cast(compiler: Compiler, node: Expr) -> Typed:
    kind = _type_text(node.args["to"])
    to = type_of(kind, maps=True) or interval_named(kind)
    if to is None:
        never = why_type(kind)
        raise Uncompiled(node, f"there is no type {kind}" + (f": {never}" if never else ""))
    safe = isinstance(node, exp.TryCast) and bool(node.args.get("safe"))
    return cast(compiler.typed(node.this), to, safe=safe)


def _type_text(type_: Expr) -> str:
    """As it is written: sqlglot prints Spark's TIME as a TIMESTAMP."""
    is_time = isinstance(type_, exp.DataType) and type_.this == exp.DType.TIME
    return "TIME" if is_time else type_.sql("spark")


def _interval(compiler: Compiler, node: Expr) -> Typed:
    from sqlwin.functions.times import intervals

    given, unit, sign = node.this, node.args.get("unit"), 1
    while isinstance(given, exp.Neg) and isinstance(given.this, exp.Literal):
        given, sign = given.this, -sign
    if not isinstance(given, exp.Literal):
        legal = "MAKE_DT_INTERVAL(n), MAKE_YM_INTERVAL(n), a * INTERVAL '1' DAY"
        raise Refused("INTERVAL takes a constant", legal)
    if isinstance(unit, exp.Var) and not _INTERVAL_VALUE.fullmatch(given.name):
        raise Refused(f"{given.name!r} is no number of an INTERVAL", legal="INTERVAL '1' DAY")
    if isinstance(unit, exp.IntervalSpan):
        fields = interval_named(f"INTERVAL {unit.this.name} TO {unit.expression.name}")
        if fields is None:
            raise Refused("there is no such INTERVAL", legal="DAY TO SECOND, YEAR TO MONTH")
        return intervals.literal(given.name, fields, sign)
    text_ = given.name if unit is None else f"{given.name} {unit.name}"
    return intervals.literal(text_, None, sign)


def _json(compiler: Compiler, node: Expr) -> Typed:
    from sqlwin.sql.expressions.compile import json_conditions  # by need

    rule = json_conditions.value if isinstance(node, exp.JSONValue) else json_conditions.exists
    return rule(compiler, node)


_RULES: Rules = {
    exp.Column: atoms.column,
    exp.Identifier: atoms.parameter,
    exp.Literal: atoms.literal,
    exp.Var: atoms.var,
    exp.Boolean: atoms.boolean,
    exp.Null: atoms.null,
    exp.HexString: atoms.hex_string,
    exp.Neg: atoms.negative,
    exp.And: conditions.connected,
    exp.Or: conditions.connected,
    exp.Paren: _paren,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Interval: _interval,
    exp.Case: conditions.case,
    exp.If: conditions.if_,
    exp.In: conditions.in_,
    exp.Between: conditions.between,
    exp.Is: conditions.is_,
    exp.Dot: fields.dot,
    exp.Bracket: fields.bracket,
    exp.Like: conditions.like,
    exp.ILike: conditions.like,
    exp.Escape: conditions.escape,
    exp.JSONValue: _json,
    exp.JSONExists: _json,
}
