"""Which function a node of sqlglot's tree calls, and with what.

The dialect leaves functions of the table as they are written, so that most are `Anonymous`.
What is left are operators, and the calls that have a grammar of their own.

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> function, arguments = called(sqlglot.parse_one("TRIM(LEADING 'x' FROM s)", read=SqlwinSpark))
>>> function, [argument.sql() for argument in arguments]
('ltrim', ["'x'", 's'])
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from sqlglot import exp

from sqlwin.functions.core.typed import Refused
from sqlwin.sql.expressions.dialect.arrows import CALLS

Expr = exp.Expr
Called = tuple[str, list[Expr]]

_OPERATORS: dict[type[Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseNot: "~",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
    exp.And: "and",
    exp.Or: "or",
    exp.Xor: "xor",
    exp.Not: "not",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.NullSafeNEQ: "<!=>",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.RegexpLike: "rlike",
}
"""Of one or two operands: `this` and `expression`."""


def called(node: Expr) -> Called:
    """The name in the table, and the arguments in its order. Refused for what calls nothing."""
    if isinstance(node, exp.Anonymous):
        form = _NAMED_PARTS.get(node.name.lower())
        return form(node) if form else (node.name.lower(), list(node.expressions))
    operator = _OPERATORS.get(type(node))
    if operator is not None:
        return operator, [node.args[at] for at in ("this", "expression") if node.args.get(at)]
    form = _FORMS.get(type(node))
    if form is not None:
        return form(node)
    if isinstance(node, exp.Func):
        return node.sql_name().lower(), _in_order(node)
    raise Refused(f"{type(node).__name__} cannot stand in an expression")


def _in_order(node: Expr) -> list[Expr]:
    found: list[Expr] = []
    for at in node.arg_types:
        value = node.args.get(at)
        parts = value if isinstance(value, list) else [value]
        found += [part for part in parts if isinstance(part, exp.Expr)]
    return found


def _trim(node: Expr) -> Called:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")), "trim")
    characters = node.args.get("expression")
    return name, [node.this] if characters is None else [characters, node.this]


def _named(name: str, *order: str) -> Callable[[Any], Called]:
    def form(node: Expr) -> Called:
        return name, [node.args[at] for at in order if node.args.get(at) is not None]

    return form


def _struct(node: Expr) -> Called:
    """A field is called as its value is, else by its place: `col1`."""
    parts: list[Expr] = []
    for at, part in enumerate(node.expressions):
        name = _name(part) or f"col{at + 1}"
        parts += [exp.Literal.string(name), part.this if isinstance(part, exp.Alias) else part]
    return "named_struct", parts


def _zip(node: Expr) -> Called:
    parts: list[Expr] = []
    for at, part in enumerate(node.expressions):
        parts += [exp.Literal.string(_name(part) or str(at)), part]
    return "arrays_zip", parts


def _name(node: Expr) -> str:
    """What Spark calls a value by itself; empty where it is computed."""
    if isinstance(node, exp.Alias):
        return str(node.alias)
    if isinstance(node, exp.Dot):
        return str(node.expression.name)
    if isinstance(node, exp.Bracket) and len(node.expressions) == 1:
        (key,) = node.expressions
        return str(key.name) if key.is_string else ""
    return str(node.name) if isinstance(node, exp.Column | exp.Identifier) else ""


_SCHEMAS = {
    "schema_of_json": "sqlwin.functions.json.schema",
    "schema_of_csv": "sqlwin.functions.csv.read",
}
"""Where the schema of a constant is inferred."""


def _with_constants(node: Expr) -> Called:
    """`MAP('mode', 'FAILFAST')` behind the first argument is a constant text, of JSON; so is the
    schema of a constant."""
    first, rest = node.expressions[:1], node.expressions[1:]
    return node.name.lower(), [*first, *map(_constant, rest)]


def _constant(node: Expr) -> Expr:
    name, parts = node.name.lower(), node.expressions
    if not isinstance(node, exp.Anonymous) or not all(isinstance(p, exp.Literal) for p in parts):
        return node
    texts = [part.name for part in parts]
    if name == "map" and len(texts) % 2 == 0:
        return exp.Literal.string(json.dumps(dict(zip(texts[::2], texts[1::2], strict=True))))
    if name in _SCHEMAS and len(texts) == 1:
        return exp.Literal.string(import_module(_SCHEMAS[name]).inferred(texts[0], "{}"))
    return node


_MASK = {"str": None, "upperchar": "X", "lowerchar": "x", "digitchar": "n", "otherchar": None}
"""Parameters of MASK, which may be named, and what they are where they are absent."""


def _masked(node: Expr) -> Called:
    given = [part for part in node.expressions if not isinstance(part, exp.Kwarg)]
    named = {part.name.lower(): part for part in node.expressions if isinstance(part, exp.Kwarg)}
    if not named:
        return "mask", given
    for name in named:
        if name not in list(_MASK)[len(given) :]:
            raise Refused(f"MASK takes no {name} here", ", ".join(_MASK))
    for name, default in list(_MASK.items())[len(given) :]:
        absent = exp.Null() if default is None else exp.Literal.string(default)
        given.append(named[name].expression if name in named else absent)
    return "mask", given


def _by_unit(node: Expr) -> Called:
    """A unit is a word: the dialect has made a Var of it."""
    given = list(node.expressions)
    if len(given) == 3 and isinstance(given[0], exp.Literal):
        legal = f"{node.name.upper()}(DAY, …)"
        raise Refused("[INVALID_PARAMETER_VALUE.DATETIME_UNIT] a unit is a word, not a text", legal)
    return node.name.lower(), given


_JSON = "sqlwin.sql.expressions.dialect.json_made"
_UNITS = (
    "dateadd",
    "date_add",
    "timestampadd",
    "datediff",
    "date_diff",
    "timestampdiff",
    "timediff",
)
_NAMED_PARTS: dict[str, Callable[[Any], Called]] = {
    "mask": _masked,
    **dict.fromkeys(_UNITS, _by_unit),
    **dict.fromkeys(
        (each.lower() for each in CALLS), lambda node: import_module(_JSON).given(node)
    ),
    "struct": _struct,
    "arrays_zip": _zip,
    **dict.fromkeys(("to_json", "from_json", "schema_of_json"), _with_constants),
    **dict.fromkeys(("to_csv", "from_csv", "schema_of_csv"), _with_constants),
}
"""Functions whose result depends on more than the types of their arguments."""


def _to_unit(name: str) -> Callable[[Any], Called]:
    return lambda node: (name, [exp.Literal.string(node.args["to"].name), node.this])


_FORMS: dict[type[Expr], Callable[[Any], Called]] = {
    exp.Floor: _to_unit("floor to"),
    exp.Ceil: _to_unit("ceil to"),
    exp.AtTimeZone: _named("at time zone", "this", "zone"),
    exp.Trim: _trim,
    exp.Tuple: _struct,
    exp.Array: lambda node: ("array", list(node.expressions)),
    exp.Coalesce: lambda node: ("coalesce", [node.this, *node.expressions]),
    exp.Greatest: lambda node: ("greatest", [node.this, *node.expressions]),
    exp.Least: lambda node: ("least", [node.this, *node.expressions]),
    exp.Extract: _named("extract", "this", "expression"),
    exp.Substring: _named("substring", "this", "start", "length"),
    exp.StrPosition: _named("position", "substr", "this", "position"),
    exp.Overlay: _named("overlay", "this", "expression", "from_", "for_"),
}


# --- FIRST, LAST and ANY_VALUE with Spark's second argument, whether NULLs are ignored -----

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


PICKING = {
    "ANY_VALUE": _picking("ANY_VALUE", exp.AnyValue),
    "FIRST": _picking("FIRST", exp.First),
    "FIRST_VALUE": _picking("FIRST_VALUE", exp.FirstValue),
    "LAST": _picking("LAST", exp.Last),
    "LAST_VALUE": _picking("LAST_VALUE", exp.LastValue),
}
