"""Expressions with their types: sqlglot's tree, through the table of functions, to DuckDB's text.

Each node is either structure (a column, a literal, CASE, IN, a lambda) and has a rule here, or
a call of one of the functions of `sqlwin.functions.table`, to which `calls` gives its name. No
part of the tree is printed by sqlglot, and every conversion of types is written out.

>>> from sqlwin.schema import Column
>>> import sqlglot
>>> from sqlwin.sql.dialect import SqlwinSpark
>>> tree = sqlglot.parse_one("UPPER(s) = 'X' AND n + 1 > 2", read=SqlwinSpark)
>>> made = compiled(tree, (Column("s", pa.string()), Column("n", pa.int64())))
>>> str(made.type)
'bool'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlwin.functions import intervals
from sqlwin.functions.casts import cast
from sqlwin.functions.literals import literal, written_number
from sqlwin.functions.never import NEVER
from sqlwin.functions.operands import renamed
from sqlwin.functions.resolve import resolved
from sqlwin.functions.table import TABLE, find, names
from sqlwin.functions.typed import Argument, Body, Lambda, Refused, Typed
from sqlwin.functions.types import (
    BINARY,
    BOOLEAN,
    NULL,
    STRING,
    interval_named,
    is_map,
    is_struct,
    name,
    widest_of,
)
from sqlwin.names import nearest
from sqlwin.schema import Schema, type_of
from sqlwin.sql.calling import called
from sqlwin.sql.engine import constant, is_null
from sqlwin.sql.volatile import changes, of_session

Expr = exp.Expr
_SHORT = 8
"""Operands of AND or OR that may fail, each of which may be a step deeper."""
_LONGEST = 1000
"""Characters of a text that a lambda makes of constants."""


class Uncompiled(Exception):
    """node: which part of the tree has no meaning."""

    def __init__(self, node: Expr, reason: str, legal: str = "") -> None:
        super().__init__(reason)
        self.node, self.legal = node, legal


def compiled(tree: Expr, schema: Schema) -> Typed:
    """The tree, over columns of `schema`. Uncompiled where it has no meaning."""
    columns = {column.name: column.type for column in schema}
    return _Compiler(columns).typed(tree)


@dataclass
class _Compiler:
    columns: dict[str, pa.DataType]
    scopes: list[dict[str, Typed]] = field(default_factory=list)
    numbers: Any = field(default_factory=count)

    def typed(self, node: Expr) -> Typed:
        rule = _RULES.get(type(node))
        try:
            if rule is not None:
                return rule(self, node)
            return self.call(node, *called(node))
        except Refused as refused:
            raise Uncompiled(node, str(refused), refused.legal) from None

    def call(self, node: Expr, function: str, arguments: Sequence[Expr | Typed]) -> Typed:
        """A function by its name, of nodes or of what is compiled."""
        found = find(function)
        if found is None:
            raise Uncompiled(node, _unknown(node, function.lower()))
        given = [arg if isinstance(arg, Typed) else self.argument(arg) for arg in arguments]
        try:
            made = resolved(found, given)
            return _short(made) if self._grown(made, given) else made
        except Refused as refused:
            at = arguments[refused.at] if refused.at is not None else node
            place = at if isinstance(at, Expr) else node
            raise Uncompiled(place, str(refused), refused.legal) from None

    def _grown(self, made: Typed, given: Sequence[Argument]) -> bool:
        """Whether it is a text made of constants within a lambda."""
        text = made.type in (STRING, BINARY) and not made.is_constant
        return text and bool(self.scopes and given) and all(map(_is_constant, given))

    def argument(self, node: Expr) -> Argument:
        if not isinstance(node, exp.Lambda):
            return _folded_null(node, self.typed(node), bool(self.scopes))
        names_ = [parameter.name.lower() for parameter in node.expressions]

        def body(types: Sequence[pa.DataType], texts: Sequence[str]) -> Body:
            own = [f"__x{next(self.numbers)}" for _ in names_]  # no column is called so
            given = [Typed(text.format(*own), t) for text, t in zip(texts, types, strict=True)]
            self.scopes.append(dict(zip(names_, given, strict=True)))
            try:
                used = [name_ for at, name_ in enumerate(own) if f"{{{at}}}" in "".join(texts)]
                return Body(tuple(used), self.typed(node.this))
            finally:
                self.scopes.pop()

        return Lambda(len(names_), body)

    def named(self, name_: str) -> Typed | None:
        """A parameter of a lambda around, the innermost first."""
        return next((s[name_.lower()] for s in reversed(self.scopes) if name_.lower() in s), None)

    def boolean(self, node: Expr) -> Typed:
        found = self.typed(node)
        if found.type not in (BOOLEAN, STRING, NULL):
            raise Refused(f"{name(found.type).upper()} is no condition", legal="a comparison")
        return cast(found, BOOLEAN, implicitly=True)


def _folded_null(node: Expr, made: Typed, in_lambda: bool) -> Typed:
    """What is NULL for every row as a constant: functions of it need not look at the others."""
    if made.is_constant or in_lambda or node.find(exp.Column):
        return made
    if not node.find(exp.Null, exp.TryCast, exp.Case, exp.Nullif) or not is_null(made.sql):
        return made
    return replace(made, value=None, fails=False)


def _is_constant(arg: Argument) -> bool:
    return isinstance(arg, Typed) and arg.is_constant


def _short(made: Typed) -> Typed:
    """What is made of constants, as a constant: a lambda would have it once for each element."""
    value = constant(made.sql)
    if value is not None and len(value) > _LONGEST:
        message = f"within a lambda a text of constants has at most {_LONGEST} characters"
        raise Refused(message, legal="a column")
    return made if value is None else literal(value, made.type)


def _unknown(node: Expr, function: str) -> str:
    if changes(node):
        return (
            f"{function.upper()} gives another value each time, and cannot stand in an expression"
        )
    if of_session(node):
        return f"{function} depends on more than the row, and cannot stand in an expression"
    if function in NEVER:
        return f"{function} is not supported: {NEVER[function]}"
    return f"no function is called {function}{nearest(function, names())}"


# --- columns, literals ------------------------------------------------------------------


def _column(compiler: _Compiler, node: Expr) -> Typed:
    parameter = compiler.named(node.name)
    if parameter is not None and not node.args.get("table"):
        return parameter
    type_ = compiler.columns.get(node.name)
    if type_ is None:
        raise Uncompiled(node, f"there is no column {node.name}")
    return Typed(_quoted(node.name), type_)


def _parameter(compiler: _Compiler, node: Expr) -> Typed:
    found = compiler.named(node.name)
    if found is None:
        raise Uncompiled(node, f"there is no column {node.name}")
    return found


def _literal(_: _Compiler, node: Expr) -> Typed:
    return text(node.name) if node.is_string else written_number(node.name)


def text(value: str) -> Typed:
    """A literal of this text."""
    plain = value.replace("'", "''")
    if "\0" in plain:
        pieces = [f"'{piece}'" for piece in plain.split("\0")]
        return Typed(f"({' || chr(0) || '.join(pieces)})", STRING, value)
    return Typed(f"'{plain}'", STRING, value)


def _var(_: _Compiler, node: Expr) -> Typed:
    """A word of the grammar, such as a unit."""
    return text(node.name)


def _boolean(_: _Compiler, node: Expr) -> Typed:
    return Typed("true" if node.this else "false", BOOLEAN, bool(node.this))


def _null(_: _Compiler, node: Expr) -> Typed:
    return Typed("CAST(NULL AS INTEGER)", NULL, None)


def _hex(_: _Compiler, node: Expr) -> Typed:
    digits = node.name if len(node.name) % 2 == 0 else "0" + node.name
    return Typed(f"unhex('{bytes.fromhex(digits).hex()}')", BINARY, bytes.fromhex(digits))


def _negative(compiler: _Compiler, node: Expr) -> Typed:
    """A literal with its sign is one: the least BIGINT has no positive."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        return written_number(node.this.name, negative=True)
    return compiler.call(node, "negative", [node.this])


# --- structure --------------------------------------------------------------------------


def _connected(compiler: _Compiler, node: Expr) -> Typed:
    parts = [compiler.boolean(part) for part in node.flatten(unnest=False)]
    return _chain(compiler, node, called(node)[0], parts)


def _chain(compiler: _Compiler, node: Expr, word: str, parts: list[Typed]) -> Typed:
    """AND and OR, however many: a text without depth. An operand that may fail is kept from what
    those before it decide: a long chain asks them one by one, and then all of them, a short one
    by the function of two."""
    segments: list[list[Typed]] = []
    for part in parts:
        if part.fails or not segments:
            segments.append([])
        segments[-1].append(part)
    if len(segments) > _SHORT:
        decided = [_flat(word, segment).sql for segment in segments[:-1]]
        test, value = ("WHEN NOT {}", "false") if word == "and" else ("WHEN {}", "true")
        whens = " ".join(f"{test.format(text)} THEN {value}" for text in decided)
        return Typed(f"CASE {whens} ELSE {_flat(word, parts).sql} END", BOOLEAN, fails=True)
    found = _flat(word, segments[-1])
    for segment in reversed(segments[:-1]):
        found = compiler.call(node, word, [_flat(word, segment), found])
    return found


def _flat(word: str, parts: list[Typed]) -> Typed:
    if len(parts) == 1:
        return parts[0]
    text = f" {word.upper()} ".join(part.sql for part in parts)
    return Typed(f"({text})", BOOLEAN, fails=any(part.fails for part in parts))


def _paren(compiler: _Compiler, node: Expr) -> Typed:
    return compiler.typed(node.this)


def _cast(compiler: _Compiler, node: Expr) -> Typed:
    kind = node.args["to"].sql("spark")
    to = type_of(kind, maps=True) or interval_named(kind)
    if to is None:
        raise Uncompiled(node, f"there is no type {kind}")
    safe = isinstance(node, exp.TryCast) and bool(node.args.get("safe"))
    return cast(compiler.typed(node.this), to, safe=safe)


def _interval(compiler: _Compiler, node: Expr) -> Typed:
    given, unit = node.this, node.args.get("unit")
    if isinstance(given, exp.Neg) and isinstance(given.this, exp.Literal):
        positive = node.copy()
        positive.set("this", given.this)
        return compiler.call(node, "negative", [positive])
    if not isinstance(given, exp.Literal):
        legal = "MAKE_DT_INTERVAL(n), MAKE_YM_INTERVAL(n), a * INTERVAL '1' DAY"
        raise Refused("INTERVAL takes a constant", legal)
    if isinstance(unit, exp.IntervalSpan):
        fields = interval_named(f"INTERVAL {unit.this.name} TO {unit.expression.name}")
        if fields is None:
            raise Refused("there is no such INTERVAL", legal="DAY TO SECOND, YEAR TO MONTH")
        return intervals.literal(given.name, fields)
    return intervals.literal(given.name if unit is None else f"{given.name} {unit.name}", None)


def _case(compiler: _Compiler, node: Expr) -> Typed:
    subject, branches = node.this, node.args.get("ifs") or []
    tests = [_test(compiler, subject, branch.this) for branch in branches]
    values = [compiler.typed(branch.args["true"]) for branch in branches]
    default = node.args.get("default") or exp.Null()
    return chosen(node, tests, [*values, compiler.typed(default)])


def _test(compiler: _Compiler, subject: Expr | None, value: Expr) -> Typed:
    if subject is None:
        return compiler.boolean(value)
    return compiler.call(value, "=", [subject, value])


def _if(compiler: _Compiler, node: Expr) -> Typed:
    other = node.args.get("false")
    values = [compiler.typed(node.args["true"])]
    values.append(compiler.typed(other) if other else _null(compiler, node))
    return chosen(node, [compiler.boolean(node.this)], values)


def chosen(node: Expr, tests: Sequence[Typed], values: Sequence[Typed]) -> Typed:
    """CASE: the value of the first test that holds, the last value where none does."""
    wanted = widest_of([value.type for value in values])
    if wanted is None:
        told = ", ".join(name(value.type).upper() for value in values)
        raise Uncompiled(node, f"values of {told} have no type in common", legal="a CAST of one")
    made = [cast(value, wanted, implicitly=True) for value in values]
    tests, made = _reached(tests, made)
    whens = " ".join(f"WHEN {t.sql} THEN {v.sql}" for t, v in zip(tests, made, strict=False))
    fails = any(part.fails for part in (*tests, *made))
    if not tests:
        return replace(made[-1], written=False)
    return Typed(f"CASE {whens} ELSE {made[-1].sql} END", wanted, fails=fails)


def _reached(tests: Sequence[Typed], values: Sequence[Typed]) -> tuple[list[Typed], list[Typed]]:
    """Less the branches that constants decide: those never taken, and those behind one that always
    is, which is the default then."""
    taken = [(t, v) for t, v in zip(tests, values, strict=False) if t.value not in (False, None)]
    at = next((at for at, (test, _) in enumerate(taken) if test.value is True), None)
    default = values[-1] if at is None else taken[at][1]
    kept = taken[:at]
    return [test for test, _ in kept], [*(value for _, value in kept), default]


def _in(compiler: _Compiler, node: Expr) -> Typed:
    if node.args.get("query") or node.args.get("unnest") or not node.expressions:
        raise Uncompiled(node, "IN takes values here", legal="a IN (1, 2)")
    written = [compiler.typed(part) for part in (node.this, *node.expressions)]
    parts = [renamed(part, written[0].type) for part in written]
    wanted = widest_of([part.type for part in parts])
    if wanted is None:
        told = ", ".join(dict.fromkeys(name(part.type).upper() for part in parts))
        raise Uncompiled(node, f"values of {told} cannot be compared", legal="a CAST of one")
    subject, *others = [cast(part, wanted, implicitly=True) for part in parts]
    if any(other.fails for other in others):
        return _any(compiler, node, subject, others)
    values = ", ".join(other.sql for other in others)
    return Typed(f"({subject.sql} IN ({values}))", BOOLEAN, fails=subject.fails)


def _any(compiler: _Compiler, node: Expr, subject: Typed, others: Sequence[Typed]) -> Typed:
    """IN, where what stands behind the value that is found is not computed."""
    return _chain(compiler, node, "or", [compiler.call(node, "=", [subject, x]) for x in others])


def _between(compiler: _Compiler, node: Expr) -> Typed:
    subject = compiler.typed(node.this)
    low = compiler.call(node, ">=", [subject, node.args["low"]])
    high = compiler.call(node, "<=", [subject, node.args["high"]])
    return compiler.call(node, "and", [low, high])


def _is(compiler: _Compiler, node: Expr) -> Typed:
    subject, of = compiler.typed(node.this), node.expression
    if isinstance(of, exp.Null):
        return Typed(f"({subject.sql} IS NULL)", BOOLEAN, fails=subject.fails)
    if isinstance(of, exp.Boolean):
        held = cast(subject, BOOLEAN, implicitly=True)
        word = "true" if of.this else "false"
        return Typed(f"({held.sql} IS NOT DISTINCT FROM {word})", BOOLEAN, fails=held.fails)
    raise Uncompiled(node, "IS takes NULL, TRUE or FALSE")


def _dot(compiler: _Compiler, node: Expr) -> Typed:
    inner = compiler.typed(node.this)
    return _field(node, inner, node.expression.name)


def _field(node: Expr, inner: Typed, field_: str) -> Typed:
    """Of a struct; of an array of structs, of each of them."""
    if pa.types.is_list(inner.type) and is_struct(inner.type.value_type):
        item = _field(node, Typed("__x", inner.type.value_type), field_)
        made = f"list_transform({inner.sql}, lambda __x: {item.sql})"
        return Typed(made, pa.list_(item.type), fails=inner.fails)
    if is_map(inner.type):
        return resolved(TABLE["[]"], [inner, text(field_)])
    if not is_struct(inner.type):
        raise Uncompiled(node, f"{name(inner.type).upper()} has no fields")
    known = [f for f in inner.type if f.name.lower() == field_.lower()]
    if len(known) != 1:
        legal = ", ".join(f.name for f in inner.type)
        raise Uncompiled(node, f"there is no field {field_}", legal=legal)
    made = f"struct_extract({inner.sql}, '{known[0].name.replace(chr(39), chr(39) * 2)}')"
    return Typed(made, known[0].type, fails=inner.fails)


def _bracket(compiler: _Compiler, node: Expr) -> Typed:
    return compiler.call(node, "[]", [node.this, *node.expressions])


def _negated(compiler: _Compiler, node: Expr) -> Typed:
    positive = node.copy()
    positive.set("negate", None)
    return compiler.call(node, "not", [compiler.call(node, *called(positive))])


def _like(compiler: _Compiler, node: Expr) -> Typed:
    of = node.expression
    if node.args.get("negate") and not isinstance(of, exp.Any | exp.All):
        return _negated(compiler, node)
    if isinstance(of, exp.Any | exp.All):
        word = "or" if isinstance(of, exp.Any) else "and"
        function = called(node)[0]
        parts = of.this.expressions if isinstance(of.this, exp.Tuple) else [of.this.unnest()]
        made = [compiler.call(node, function, [node.this, part]) for part in parts]
        if node.args.get("negate"):
            made = [compiler.call(node, "not", [part]) for part in made]
        found = made[0]
        for part in made[1:]:
            found = compiler.call(node, word, [found, part])
        return found
    return compiler.call(node, *called(node))


def _escape(compiler: _Compiler, node: Expr) -> Typed:
    inner = node.this
    function = called(inner)[0]
    made = compiler.call(node, function, [inner.this, inner.expression, node.expression])
    return compiler.call(node, "not", [made]) if inner.args.get("negate") else made


def _quoted(name_: str) -> str:
    return '"' + name_.replace('"', '""') + '"'


_RULES: dict[type[Expr], Callable[[_Compiler, Any], Typed]] = {
    exp.Column: _column,
    exp.Identifier: _parameter,
    exp.Literal: _literal,
    exp.Var: _var,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.HexString: _hex,
    exp.Neg: _negative,
    exp.And: _connected,
    exp.Or: _connected,
    exp.Paren: _paren,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Interval: _interval,
    exp.Case: _case,
    exp.If: _if,
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Dot: _dot,
    exp.Bracket: _bracket,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
}
